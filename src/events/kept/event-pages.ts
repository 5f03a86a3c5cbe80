import type { ListKey } from './event-keys.js';
import type { EventTables, ListBounds, Place } from './event-tables.js';

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

/** With more lists than this, all events are looked through for them: they are nearly all then. */
const MAX_LISTS = 2_000;
const FIRST_READ = 8;
const GROWTH = 4;
const LATEST: Place = { fromMs: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };

const isBefore = (a: Place, b: Place): boolean =>
  a.fromMs > b.fromMs || (a.fromMs === b.fromMs && a.id > b.id);

/** One list, read a few places at a time, more of them each time. */
class ListReader {
  readonly #read: (before: Place, count: number) => Place[];
  readonly #most: number;
  #held: Place[] = [];
  #at = 0;
  #before: Place;
  #count: number;
  #isOver = false;

  constructor(before: Place, most: number, read: (before: Place, count: number) => Place[]) {
    this.#before = before;
    this.#most = most;
    this.#count = Math.min(FIRST_READ, most);
    this.#read = read;
  }

  get head(): Place | null {
    if (this.#at < this.#held.length) return this.#held[this.#at]!;
    if (this.#isOver) return null;
    this.#held = this.#read(this.#before, this.#count);
    this.#isOver = this.#held.length < this.#count;
    this.#before = this.#held.at(-1) ?? this.#before;
    this.#count = Math.min(this.#count * GROWTH, this.#most);
    this.#at = 0;
    return this.#held[0] ?? null;
  }

  take(): void {
    this.#at += 1;
  }
}

/** The newest of all lists, in order. */
const merged = (readers: ListReader[], limit: number): Place[] => {
  const places: Place[] = [];
  while (places.length < limit) {
    let newest: ListReader | null = null;
    for (const reader of readers) {
      const { head } = reader;
      if (head !== null && (newest === null || isBefore(head, newest.head!))) newest = reader;
    }
    if (newest === null) break;
    places.push(newest.head!);
    newest.take();
  }
  return places;
};

/** The places of a page, newest first. No filter costs more than the lists that it names, a few places of each. */
export const placesOf = (
  tables: EventTables,
  filter: EventFilter,
  { after, limit }: PageOf,
  username: string,
): Place[] => {
  const { cameraIds, types, labels, isReviewed } = filter;
  const isEverything = cameraIds === null && types === null && labels === null;
  const end: Place = { fromMs: filter.toMs ?? LATEST.fromMs, id: 0 };
  const before =
    after !== null && isBefore(end, after) ? after : filter.toMs === null ? (after ?? LATEST) : end;
  const notReviewedBy = isReviewed === false ? username : null;
  const bounds = (from: Place, count: number): ListBounds => ({
    ...{ before: from, count, notReviewedBy },
    fromMs: filter.fromMs ?? Number.MIN_SAFE_INTEGER,
  });
  const wanted = tables.keys.lists(filter);
  const isWanted = isWantedOf(wanted);
  if (isReviewed === true) return tables.reviewedPlaces(username, bounds(before, limit), isWanted);
  if (isEverything && !tables.keys.hasOrphans) return tables.places(null, bounds(before, limit));
  if (wanted.length > MAX_LISTS) return mostOf(tables, wanted, before, limit, bounds);
  const readers = wanted.map(
    (list) => new ListReader(before, limit, (from, count) => tables.places(list, bounds(from, count))),
  );
  return merged(readers, limit);
};

const isWantedOf = (lists: readonly ListKey[]): ((list: ListKey) => boolean) => {
  const keys = new Set(lists.map(({ camera, kind }) => `${camera} ${kind}`));
  return ({ camera, kind }) => keys.has(`${camera} ${kind}`);
};

/** The longest lists first would be a guess: all of them, a part at a time, of which the newest stay. */
const mostOf = (
  tables: EventTables,
  wanted: readonly ListKey[],
  before: Place,
  limit: number,
  bounds: (from: Place, count: number) => ListBounds,
): Place[] => {
  let places: Place[] = [];
  for (let first = 0; first < wanted.length; first += MAX_LISTS) {
    const readers = wanted
      .slice(first, first + MAX_LISTS)
      .map(
        (list) => new ListReader(before, limit, (from, count) => tables.places(list, bounds(from, count))),
      );
    places = [...places, ...merged(readers, limit)].sort((a, b) => (isBefore(a, b) ? -1 : 1)).slice(0, limit);
  }
  return places;
};
