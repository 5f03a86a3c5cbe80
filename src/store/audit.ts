import type Database from 'better-sqlite3';
import type { OwnChanges } from './own-changes.js';
import { inTransaction } from './transaction.js';

/** One record of the audit log; `record` is a JSON object without secrets. */
export type AuditEntry = {
  readonly timeMs: number;
  readonly action: string;
  /** '': nobody knows. */
  readonly username: string;
  readonly record: string;
};

export type StoredAuditEntry = AuditEntry & { readonly id: number };

/** Where a page of the audit log ended. */
export type AuditPlace = { readonly timeMs: number; readonly id: number };

/** Null: whatever it is. */
export type AuditFilter = {
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly username: string | null;
  readonly action: string | null;
  /** Older ones than this. */
  readonly before: AuditPlace | null;
  readonly limit: number;
};

type AuditRow = {
  readonly id: number;
  readonly time_ms: number;
  readonly action: string;
  readonly username: string;
  readonly record: string;
};

/** One time's deletions take no longer than a write. */
const MAX_FORGOTTEN = 1_000;

const prepare = (db: Database.Database) => ({
  add: db.prepare<[Omit<AuditRow, 'id'>]>(
    'INSERT INTO audit (time_ms, action, username, record) VALUES (@time_ms, @action, @username, @record)',
  ),
  forgetOld: db.prepare<[number, number]>(
    'DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE time_ms < ? ORDER BY time_ms LIMIT ?)',
  ),
  forgetMany: db.prepare<[string, number, number]>(
    `DELETE FROM audit WHERE id IN
     (SELECT id FROM audit WHERE action = ? ORDER BY id DESC LIMIT ? OFFSET ?)`,
  ),
});

/** What was done, and by whom. */
export class AuditTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #own: OwnChanges;

  constructor(db: Database.Database, own: OwnChanges) {
    this.#db = db;
    this.#own = own;
    this.#sql = prepare(db);
  }

  /** Adds records in one transaction: one sync of the disk. Throws at once where another program has it locked. */
  add(entries: readonly AuditEntry[]): void {
    this.#write(() => {
      for (const { timeMs, ...entry } of entries) this.#sql.add.run({ time_ms: timeMs, ...entry });
    });
  }

  /** Forgets what is older, the oldest first, as much as may go at a time. */
  forgetBefore(timeMs: number): void {
    this.#write(() => void this.#sql.forgetOld.run(timeMs, MAX_FORGOTTEN));
  }

  /** Leaves those so many of an action that were added last, whatever the clock showed; of what is too much as much as may go at a time. */
  keepNewest(action: string, count: number): void {
    this.#write(() => void this.#sql.forgetMany.run(action, MAX_FORGOTTEN, count));
  }

  /** The newest that the filter lets through, the newest first. */
  list({ fromMs, toMs, username, action, before, limit }: AuditFilter): StoredAuditEntry[] {
    const conditions = [
      [fromMs !== null, 'time_ms >= @fromMs'],
      [toMs !== null, 'time_ms < @toMs'],
      [username !== null, 'username = @username'],
      [action !== null, 'action = @action'],
      [before !== null, '(time_ms, id) < (@beforeMs, @beforeId)'],
    ] as const;
    const wanted = conditions.filter(([isAsked]) => isAsked).map(([, condition]) => condition);
    const where = wanted.length === 0 ? '' : `WHERE ${wanted.join(' AND ')}`;
    const rows = this.#db
      .prepare<[object], AuditRow>(`SELECT * FROM audit ${where} ORDER BY time_ms DESC, id DESC LIMIT @limit`)
      .all({ fromMs, toMs, username, action, limit, beforeMs: before?.timeMs, beforeId: before?.id });
    return rows.map(({ time_ms: timeMs, ...row }) => ({ timeMs, ...row }));
  }

  #write(work: () => void): void {
    this.#own.makeSoon(() => inTransaction(this.#db, work));
  }
}
