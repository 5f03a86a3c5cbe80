import type Database from 'better-sqlite3';
import type { ListKey } from './event-keys.js';
import type { EventTables } from './event-tables.js';

/** What is kept. */
export type PruneRules = {
  /** Cameras that there are, and before when what ended at them goes; null: never. */
  readonly beforeMs: ReadonlyMap<string, number | null>;
  /** The same of what is about no camera. */
  readonly ofNoCameraMs: number | null;
  readonly maxEvents: number;
  readonly usernames: ReadonlySet<string>;
};

/** So many at a time: a step takes some milliseconds. */
const STEP = 500;
/** Lists that are looked at: hundreds of cameras with dozens of labels each have tens of thousands. */
const LISTS_STEP = 300;
/** Of what was reviewed by users who are gone. */
const REVIEWS_STEP = 2_000;

const idsWhere = (db: Database.Database, which: string) =>
  db.prepare<[object], number>(`SELECT id FROM events ${which}`).pluck();

const prepare = (db: Database.Database) => ({
  ofCamera: idsWhere(db, 'WHERE camera = @camera LIMIT @count'),
  old: idsWhere(
    db,
    `INDEXED BY events_by_list WHERE camera = @camera AND kind = @kind AND begin_ms < @beforeMs
       AND end_ms < @beforeMs AND protected = 0 LIMIT @count`,
  ),
  oldest: db.prepare<[object], { id: number; end_ms: number }>(
    `SELECT id, end_ms FROM events INDEXED BY events_by_begin
     WHERE protected = 0 AND end_ms IS NOT NULL ORDER BY begin_ms LIMIT @count`,
  ),
});

/** Lets go of what is not to be kept any more. */
export class Pruning {
  readonly #tables: EventTables;
  readonly #sql: ReturnType<typeof prepare>;
  /** Those whose turn comes still before all were looked at. */
  #lists: ListKey[] = [];

  constructor(db: Database.Database, tables: EventTables) {
    this.#tables = tables;
    this.#sql = prepare(db);
  }

  /**
   * Takes one step: what is too old goes, with its camera's recordings, what belongs to deleted cameras, and the oldest of
   * too many. Whether there is more to do.
   */
  step({ beforeMs, ofNoCameraMs, maxEvents, usernames }: PruneRules): boolean {
    const { keys } = this.#tables;
    const areMoreReviews = this.#tables.forgetReviewersBut(usernames, REVIEWS_STEP);
    for (const id of keys.cameraIds) if (id !== '' && !beforeMs.has(id)) keys.orphan(id);
    const ids: number[] = [];
    const room = (): number => STEP - ids.length;
    for (const camera of keys.orphans) {
      const left = room() > 0 ? this.#sql.ofCamera.all({ camera, count: room() }) : null;
      if (left?.length === 0) keys.removeOrphan(camera);
      ids.push(...(left ?? []));
    }
    const limits = new Map<number, number>();
    for (const id of keys.cameraIds) {
      const limitMs = id === '' ? ofNoCameraMs : (beforeMs.get(id) ?? null);
      if (limitMs !== null) limits.set(keys.cameraKey(id)!, limitMs);
    }
    ids.push(...this.#old(limits, room()));
    this.#remove(ids);
    if (ids.length > 0 || areMoreReviews || this.#lists.length > 0) return true;
    const excess = this.#tables.count - maxEvents;
    if (excess <= 0) return false;
    return this.#removeOldest(excess);
  }

  /** Their recordings are there still: nobody is to take them for recordings of no event. */
  #removeOldest(excess: number): boolean {
    const oldest = this.#sql.oldest.all({ count: Math.min(excess, STEP) });
    if (oldest.length === 0) return false;
    this.#tables.raiseSince(Math.max(...oldest.map(({ end_ms }) => end_ms)) + 1);
    this.#remove(oldest.map(({ id }) => id));
    return excess > oldest.length;
  }

  /** What is too old in the lists whose turn it is, so many events at most; by camera, before when what ended goes. */
  #old(limits: ReadonlyMap<number, number>, most: number): number[] {
    if (this.#lists.length === 0)
      this.#lists = this.#tables.keys.lists({ cameraIds: null, types: null, labels: null });
    const ids: number[] = [];
    for (let looked = 0; looked < LISTS_STEP && ids.length < most; looked++) {
      const list = this.#lists.pop();
      if (list === undefined) break;
      const beforeMs = limits.get(list.camera);
      if (beforeMs === undefined) continue;
      const count = most - ids.length;
      const old = this.#sql.old.all({ ...list, beforeMs, count });
      ids.push(...old);
      // There may be more in it.
      if (old.length === count) this.#lists.push(list);
    }
    return ids;
  }

  #remove(ids: readonly number[]): void {
    if (ids.length > 0) this.#tables.removeAll(ids);
  }
}
