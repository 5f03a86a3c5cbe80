import type { ListKey } from './event-keys.js';
import type { EventTables, ListBounds, Place } from './event-tables.js';
import { isNewer, newestOf } from './newest-of.js';

/** Which events are wanted; null: all of them. */
export type EventFilter = {
  readonly cameraIds: ReadonlySet<string> | null;
  readonly types: ReadonlySet<string> | null;
  readonly labels: ReadonlySet<string> | null;
  /** By whoever asks. */
  readonly isReviewed: boolean | null;
  /** When they began: at this time or later, and before that. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
};

/** One page of what is wanted: what comes behind a place. */
export type PageOf = { readonly after: Place | null; readonly limit: number };

const LATEST: Place = { fromMs: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };
const EARLIEST_MS = Number.MIN_SAFE_INTEGER;
/** What most filters find a page in that ask for much. */
const LOOKED_THROUGH = 4_000;
/** Lists that are cheaper to merge than that. */
const FEW_LISTS = 50;
/** Above it, what somebody has reviewed is found in the lists sooner than in what they have reviewed. */
const MANY_REVIEWS = 20_000;

const placeBefore = (after: Place | null, toMs: number | null): Place => {
  const end = toMs === null ? LATEST : { fromMs: toMs, id: 0 };
  return after !== null && isNewer(end, after) ? after : end;
};

/** Finds the events of a page, newest first, of a million at the price of some thousands. */
export class EventPages {
  readonly #tables: EventTables;
  /** By user: all events that began before this are reviewed. */
  readonly #seenBeforeMs = new Map<string, number>();

  constructor(tables: EventTables) {
    this.#tables = tables;
  }

  /** An event was added that began then. */
  noteNew(fromMs: number): void {
    for (const [username, seenMs] of this.#seenBeforeMs)
      if (fromMs < seenMs) this.#seenBeforeMs.set(username, fromMs);
  }

  /** Some event may not be reviewed any more. */
  forgetSeen(username: string): void {
    this.#seenBeforeMs.delete(username);
  }

  places(filter: EventFilter, { after, limit }: PageOf, username: string): Place[] {
    const before = placeBefore(after, filter.toMs);
    const asked = filter.fromMs ?? EARLIEST_MS;
    const fromMs = filter.isReviewed === false ? Math.max(asked, this.#seenMs(username)) : asked;
    const wanted = this.#tables.keys.lists(filter);
    const reviewed = filter.isReviewed === null ? null : { by: username, is: filter.isReviewed };
    const bounds: ListBounds = { before, fromMs, count: limit, reviewed };
    if (reviewed?.is === true && this.#tables.countReviewed(username) < MANY_REVIEWS)
      return this.#tables.reviewedPlaces(username, bounds, isIn(wanted));
    const found = wanted.length > FEW_LISTS ? this.#lookThrough(bounds, isIn(wanted)) : null;
    return found ?? this.#merge(wanted, bounds);
  }

  /** A page of the newest events of all, as far as some of them are wanted; null: it isn't among these. */
  #lookThrough(bounds: ListBounds, isWanted: (list: ListKey) => boolean): Place[] | null {
    const { reviewed, count } = bounds;
    const found: Place[] = [];
    let before = bounds.before;
    for (let left = LOOKED_THROUGH, step = count * 2; left > 0; left -= step, step = left) {
      const newest = this.#tables.newest({ ...bounds, before, count: Math.min(step, left) });
      for (const { id, fromMs, camera, kind } of newest) {
        before = { id, fromMs };
        if (!isWanted({ camera, kind })) continue;
        if (reviewed !== null && this.#tables.isReviewed(reviewed.by, before) !== reviewed.is) continue;
        if (found.push(before) === count) return found;
      }
      if (newest.length < Math.min(step, left)) return found;
    }
    return null;
  }

  #merge(wanted: readonly ListKey[], bounds: ListBounds): Place[] {
    const readers = wanted.map(
      (list) => (before: Place, count: number) => this.#tables.places(list, { ...bounds, before, count }),
    );
    return newestOf(readers, bounds.before, bounds.count);
  }

  /** Moves on as they are reviewed, so that nobody looks twice at what is. */
  #seenMs(username: string): number {
    const knownMs = this.#seenBeforeMs.get(username) ?? EARLIEST_MS;
    const seenMs = this.#tables.oldestUnseenMs(username, knownMs);
    // Nothing is left: whatever comes next sets it back to where that began.
    this.#seenBeforeMs.set(username, seenMs ?? LATEST.fromMs);
    return seenMs ?? LATEST.fromMs;
  }
}

const isIn = (lists: readonly ListKey[]): ((list: ListKey) => boolean) => {
  const kindsOf = new Map<number, Set<number>>();
  for (const { camera, kind } of lists) kindsOf.set(camera, (kindsOf.get(camera) ?? new Set()).add(kind));
  return ({ camera, kind }) => kindsOf.get(camera)?.has(kind) ?? false;
};
