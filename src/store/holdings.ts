import type Database from 'better-sqlite3';
import type { OwnChanges } from './own-changes.js';
import { inTransaction } from './transaction.js';

/** A camera that this box of a cluster has. */
export type Holding = { readonly cameraId: string; readonly epoch: number };

/** So many of each camera are remembered. */
const KEPT_PER_CAMERA = 256;

const prepare = (db: Database.Database) => ({
  open: db.prepare<[], Holding>(
    'SELECT camera_id AS cameraId, max(epoch) AS epoch FROM holdings WHERE until_ms IS NULL GROUP BY camera_id',
  ),
  end: db.prepare<[number, string]>(
    'UPDATE holdings SET until_ms = max(?, since_ms) WHERE camera_id = ? AND until_ms IS NULL',
  ),
  begin: db.prepare<[string, number, number]>(
    `INSERT INTO holdings (camera_id, since_ms, epoch) VALUES (?, ?, ?)
     ON CONFLICT (camera_id, since_ms) DO UPDATE SET epoch = excluded.epoch, until_ms = NULL`,
  ),
  claim: db.prepare<[number, string]>(
    'UPDATE holdings SET epoch = ? WHERE camera_id = ? AND until_ms IS NULL',
  ),
  prune: db.prepare<[{ camera: string }]>(
    `DELETE FROM holdings WHERE camera_id = @camera AND since_ms <
     (SELECT since_ms FROM holdings WHERE camera_id = @camera ORDER BY since_ms DESC LIMIT 1 OFFSET ${KEPT_PER_CAMERA - 1})`,
  ),
  of: db.prepare<[string], Times>(
    `SELECT since_ms AS sinceMs, until_ms AS untilMs, epoch FROM holdings
     WHERE camera_id = ? ORDER BY since_ms`,
  ),
});

type Times = { readonly sinceMs: number; readonly untilMs: number | null; readonly epoch: number };

const noEpoch = (): number => 0;

/** That of the last one which began by then and, where that has ended, or none had begun, of the nearest. */
const epochIn = (all: readonly Times[], atMs: number): number => {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (all[middle]!.sinceMs <= atMs) low = middle + 1;
    else high = middle;
  }
  const [before, next] = [all[low - 1], all[low]];
  if (before === undefined || next === undefined) return (before ?? next)!.epoch;
  const overMs = atMs - (before.untilMs ?? next.sinceMs);
  return overMs > 0 && next.sinceMs - atMs < overMs ? next.epoch : before.epoch;
};

/** Which cameras this box of a cluster had, and when; each box's own. */
export class HoldingTable {
  readonly #db: Database.Database;
  readonly #own: OwnChanges;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database, own: OwnChanges) {
    this.#db = db;
    this.#own = own;
    this.#sql = prepare(db);
  }

  /** Those that it has, or had when it ended. */
  open(): Holding[] {
    return this.#sql.open.all();
  }

  begin(holdings: readonly Holding[], sinceMs: number): void {
    this.#change(() => {
      for (const { cameraId, epoch } of holdings) {
        this.#sql.end.run(sinceMs, cameraId);
        this.#sql.begin.run(cameraId, sinceMs, epoch);
        this.#sql.prune.run({ camera: cameraId });
      }
    });
  }

  /** These are what they are held by. */
  claim(holdings: readonly Holding[]): void {
    this.#change(() => {
      for (const { cameraId, epoch } of holdings) this.#sql.claim.run(epoch, cameraId);
    });
  }

  end(cameraIds: readonly string[], untilMs: number): void {
    this.#change(() => {
      for (const cameraId of cameraIds) this.#sql.end.run(untilMs, cameraId);
    });
  }

  #change(work: () => void): void {
    this.#own.make(() => inTransaction(this.#db, work));
  }

  /**
   * Those of what was recorded from some time on; 0: by a box that was alone. A recording may begin a little before its camera
   * was held, by the camera's clock, or with what was there already.
   */
  epochsOf(cameraId: string): (startMs: number) => number {
    const all = this.#sql.of.all(cameraId);
    return all.length === 0 ? noEpoch : (startMs) => epochIn(all, startMs);
  }
}
