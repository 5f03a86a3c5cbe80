import type Database from 'better-sqlite3';
import type { WallMs } from '../base/clock.js';
import { inTransaction } from './transaction.js';

/** The calendar month in UTC that traffic is counted in, such as `2026-11`. */
export const utcMonth = (wallMs: WallMs): string => new Date(wallMs).toISOString().slice(0, 7);

type TrafficRow = { camera_id: string; used_bytes: number };

const prepare = (db: Database.Database) => ({
  // A count may come in after its camera was deleted: nothing is inserted then.
  add: db.prepare<[{ camera_id: string; month: string; used_bytes: number }]>(
    `INSERT INTO traffic (camera_id, month, used_bytes)
     SELECT id, @month, @used_bytes FROM cameras WHERE id = @camera_id
     ON CONFLICT (camera_id, month) DO UPDATE SET used_bytes = used_bytes + excluded.used_bytes`,
  ),
  used: db.prepare<[string], TrafficRow>('SELECT camera_id, used_bytes FROM traffic WHERE month = ?'),
});

/** What each camera sent in each month. */
export class TrafficTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** Adds what came in since the last call, all cameras in one transaction: one sync of the disk. */
  add(month: string, bytesByCamera: ReadonlyMap<string, number>): void {
    if (bytesByCamera.size === 0) return;
    inTransaction(this.#db, () => {
      for (const [camera_id, used_bytes] of bytesByCamera)
        this.#sql.add.run({ camera_id, month, used_bytes });
    });
  }

  /** Bytes of the month by camera id; a camera without traffic is not in it. */
  usedBytes(month: string): Map<string, number> {
    return new Map(this.#sql.used.all(month).map((row) => [row.camera_id, row.used_bytes]));
  }
}
