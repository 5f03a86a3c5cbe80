import type { ListKey } from './event-keys.js';
import type { EventTables, ListBounds, Order, Place, SeenPlace } from './event-tables.js';
import { firstOf, isFirst } from './first-of.js';

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
export type PageOf = { readonly after: Place | null; readonly limit: number; readonly order?: Order };

/** What was found, and where to go on; null: that was all. Where much was passed over a page is short, or empty. */
export type Page = { readonly places: readonly Place[]; readonly next: Place | null };

/** `stoppedAt`: there may be more behind it. */
type Found = { readonly places: readonly Place[]; readonly stoppedAt: Place | null };

const EARLIEST_MS = Number.MIN_SAFE_INTEGER;
const LATEST_MS = Number.MAX_SAFE_INTEGER;
/** What a page is found in where much is asked for, or what somebody has or hasn't reviewed. */
const LOOKED_THROUGH = 4_000;
/** Read at a time of these. */
const STEP = 1_000;
/** Lists that are cheaper to merge than to look through all events. */
const FEW_LISTS = 50;
/** Above it, what somebody has reviewed is looked for among all. */
const MANY_REVIEWS = 20_000;

const all = (places: readonly Place[]): Found => ({ places, stoppedAt: null });

/** Before all that is asked for. */
const startOf = ({ fromMs, toMs }: EventFilter, order: Order): Place =>
  order === 'newest_first' ? { fromMs: toMs ?? LATEST_MS, id: 0 } : { fromMs: fromMs ?? EARLIEST_MS, id: 0 };

const isIn = (lists: readonly ListKey[]): ((list: ListKey) => boolean) => {
  const kindsOf = new Map<number, Set<number>>();
  for (const { camera, kind } of lists) kindsOf.set(camera, (kindsOf.get(camera) ?? new Set()).add(kind));
  return ({ camera, kind }) => kindsOf.get(camera)?.has(kind) ?? false;
};

/** Finds the events of a page, of a million at the price of some thousands. */
export class EventPages {
  readonly #tables: EventTables;

  constructor(tables: EventTables) {
    this.#tables = tables;
  }

  page(filter: EventFilter, { after, limit, order = 'newest_first' }: PageOf, username: string): Page {
    const start = startOf(filter, order);
    const bounds: ListBounds = {
      ...{ order, behind: after !== null && isFirst(start, after, order) ? after : start },
      ...{ fromMs: filter.fromMs ?? EARLIEST_MS, toMs: filter.toMs ?? LATEST_MS },
      // One more tells whether there are more.
      count: limit + 1,
    };
    const { places, stoppedAt } = this.#find(filter, bounds, username);
    if (places.length > limit) return { places: places.slice(0, limit), next: places[limit - 1]! };
    return { places, next: stoppedAt };
  }

  #find({ isReviewed, ...filter }: EventFilter, bounds: ListBounds, username: string): Found {
    const wanted = this.#tables.keys.lists(filter);
    if (isReviewed === true && this.#tables.countReviewed(username, MANY_REVIEWS) < MANY_REVIEWS)
      return all(this.#tables.reviewedPlaces(username, bounds, isIn(wanted)));
    if (isReviewed !== null) return this.#lookForReviewed(wanted, bounds, username, isReviewed);
    const found = wanted.length > FEW_LISTS ? this.#lookThrough(bounds, isIn(wanted)) : null;
    return all(found ?? this.#merge(wanted, bounds));
  }

  /** A page of the first events of all, as far as some of them are wanted; null: it isn't among these. */
  #lookThrough(bounds: ListBounds, isWanted: (list: ListKey) => boolean): Place[] | null {
    const found: Place[] = [];
    let { behind } = bounds;
    for (let left = LOOKED_THROUGH, step = bounds.count * 2; left > 0; left -= step, step = left) {
      const count = Math.min(step, left);
      const read = this.#tables.allPlaces({ ...bounds, behind, count });
      for (const { id, fromMs, camera, kind } of read) {
        behind = { id, fromMs };
        if (isWanted({ camera, kind }) && found.push(behind) === bounds.count) return found;
      }
      if (read.length < count) return found;
    }
    return null;
  }

  /** What somebody has reviewed, or hasn't, among the next thousands: whoever asks goes on from where that ends. */
  #lookForReviewed(wanted: readonly ListKey[], bounds: ListBounds, username: string, is: boolean): Found {
    const read = this.#seenReader(wanted, username);
    const places: Place[] = [];
    let { behind } = bounds;
    for (let left = LOOKED_THROUGH; left > 0; left -= STEP) {
      const looked = read({ ...bounds, behind, count: STEP });
      for (const { id, fromMs, isSeen, isWanted } of looked) {
        behind = { id, fromMs };
        if (isWanted && isSeen === is && places.push(behind) === bounds.count) return all(places);
      }
      if (looked.length < STEP) return all(places);
    }
    return { places, stoppedAt: behind };
  }

  /** Events in their order with what a user has reviewed of them: of a few lists, or of all. */
  #seenReader(
    wanted: readonly ListKey[],
    username: string,
  ): (bounds: ListBounds) => (SeenPlace & { readonly isWanted: boolean })[] {
    if (wanted.length > FEW_LISTS) {
      const isWanted = isIn(wanted);
      return (bounds) =>
        this.#tables
          .allSeenPlaces(bounds, username)
          .map((place) => ({ ...place, isWanted: isWanted(place) }));
    }
    return (bounds) =>
      firstOf(
        wanted.map(
          (list) => (behind: Place, count: number) =>
            this.#tables.seenPlaces(list, { ...bounds, behind, count }, username),
        ),
        bounds,
      ).map((place) => ({ ...place, isWanted: true }));
  }

  #merge(wanted: readonly ListKey[], bounds: ListBounds): Place[] {
    const readers = wanted.map(
      (list) => (behind: Place, count: number) => this.#tables.places(list, { ...bounds, behind, count }),
    );
    return firstOf(readers, bounds);
  }
}
