import type Database from 'better-sqlite3';
import type { WallMs } from '../base/clock.js';
import { inTransaction } from './transaction.js';

/** More sessions of one user are forgotten, the one used longest ago first. */
const MAX_PER_USER = 100;

/** A browser that its user signed in with. */
export type Session = {
  readonly id: string;
  readonly username: string;
  readonly isRemembered: boolean;
  readonly usedMs: number;
  /** Null: before that was kept. */
  readonly begunMs: number | null;
  /** What it called itself when it was signed in; "" where it said nothing. */
  readonly userAgent: string;
};

type SessionRow = {
  readonly id: string;
  readonly secret_hash: Buffer;
  readonly username: string;
  readonly is_remembered: number;
  readonly used_ms: number;
  readonly begun_ms: number | null;
  readonly user_agent: string;
};

const sessionOf = (row: SessionRow): Session => ({
  id: row.id,
  username: row.username,
  isRemembered: row.is_remembered === 1,
  usedMs: row.used_ms,
  begunMs: row.begun_ms,
  userAgent: row.user_agent,
});

const prepare = (db: Database.Database) => ({
  // A user who got another role or password since the old one was checked has begun no session.
  add: db.prepare<[SessionRow & { token_epoch: string }]>(
    `INSERT INTO sessions (id, secret_hash, username, is_remembered, used_ms, begun_ms, user_agent)
     SELECT @id, @secret_hash, username, @is_remembered, @used_ms, @begun_ms, @user_agent FROM users
     WHERE username = @username AND token_epoch = @token_epoch`,
  ),
  prune: db.prepare<[{ username: string; max: number }]>(
    `DELETE FROM sessions WHERE username = @username AND id NOT IN
     (SELECT id FROM sessions WHERE username = @username ORDER BY used_ms DESC LIMIT @max)`,
  ),
  one: db.prepare<[Buffer], SessionRow>('SELECT * FROM sessions WHERE secret_hash = ?'),
  touch: db.prepare<[number, string]>('UPDATE sessions SET used_ms = ? WHERE id = ?'),
  of: db.prepare<[string], SessionRow>('SELECT * FROM sessions WHERE username = ? ORDER BY used_ms DESC, id'),
  remove: db.prepare<[string]>('DELETE FROM sessions WHERE id = ?'),
  removeOf: db.prepare<[string, string]>('DELETE FROM sessions WHERE username = ? AND id = ?'),
  count: db.prepare<[string], number>('SELECT count(*) FROM sessions WHERE username = ?').pluck(),
});

/** The sessions of browsers. They end with their user, with another role or password of it, and with an import. */
export class SessionTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** Whether it was begun: not if the user is of another epoch by now, or gone. */
  begin(session: Session & { readonly tokenEpoch: string }, secretHash: Buffer): boolean {
    const { id, username, isRemembered, usedMs, begunMs, userAgent, tokenEpoch } = session;
    return inTransaction(this.#db, () => {
      this.#sql.prune.run({ username, max: MAX_PER_USER - 1 });
      const row = {
        id,
        username,
        secret_hash: secretHash,
        is_remembered: isRemembered ? 1 : 0,
        used_ms: usedMs,
        begun_ms: begunMs,
        user_agent: userAgent,
      };
      return this.#sql.add.run({ ...row, token_epoch: tokenEpoch }).changes > 0;
    });
  }

  find(secretHash: Buffer): Session | null {
    const row = this.#sql.one.get(secretHash);
    return row === undefined ? null : sessionOf(row);
  }

  /** Those of a user, the one used last first. */
  of(username: string): Session[] {
    return this.#sql.of.all(username).map(sessionOf);
  }

  /** It is used now. */
  touch(id: string, wallMs: WallMs): void {
    inTransaction(this.#db, () => void this.#sql.touch.run(wallMs, id));
  }

  remove(id: string): void {
    inTransaction(this.#db, () => void this.#sql.remove.run(id));
  }

  /** Whether the user had it. */
  removeOf(username: string, id: string): boolean {
    return inTransaction(this.#db, () => this.#sql.removeOf.run(username, id).changes > 0);
  }

  countOf(username: string): number {
    return this.#sql.count.get(username) ?? 0;
  }
}
