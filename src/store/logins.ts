import type Database from 'better-sqlite3';
import type { WallMs } from '../base/clock.js';
import { inTransaction } from './transaction.js';

/** More places of one name are forgotten, the oldest first. */
const MAX_PLACES = 32;

type LoginRow = { username: string; place: Buffer; last_login_ms: number };

const prepare = (db: Database.Database) => ({
  last: db
    .prepare<[string, Buffer], number>('SELECT last_login_ms FROM logins WHERE username = ? AND place = ?')
    .pluck(),
  note: db.prepare<[LoginRow]>(
    `INSERT INTO logins (username, place, last_login_ms) VALUES (@username, @place, @last_login_ms)
     ON CONFLICT (username, place) DO UPDATE SET last_login_ms = excluded.last_login_ms`,
  ),
  prune: db.prepare<[{ username: string; max: number }]>(
    `DELETE FROM logins WHERE username = @username AND place NOT IN
     (SELECT place FROM logins WHERE username = @username ORDER BY last_login_ms DESC LIMIT @max)`,
  ),
  removeGone: db.prepare<[]>('DELETE FROM logins WHERE username NOT IN (SELECT username FROM users)'),
  count: db.prepare<[], number>('SELECT count(*) FROM logins').pluck(),
});

/** From where each name logged in of late. */
export class LoginTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** When the name logged in last from this place; null if that isn't known. */
  lastMs(username: string, place: Buffer): number | null {
    return this.#sql.last.get(username, place) ?? null;
  }

  note(username: string, place: Buffer, wallMs: WallMs): void {
    inTransaction(this.#db, () => {
      this.#sql.note.run({ username, place, last_login_ms: wallMs });
      this.#sql.prune.run({ username, max: MAX_PLACES });
      this.#sql.removeGone.run();
    });
  }

  count(): number {
    return this.#sql.count.get() ?? 0;
  }
}
