import type { Place } from './event-tables.js';

/** Whether one event comes before another: newest first. */
export const isNewer = (a: Place, b: Place): boolean =>
  a.fromMs > b.fromMs || (a.fromMs === b.fromMs && a.id > b.id);

const GROWTH = 4;

/** Places of one list behind a place, newest first. */
export type ReadPlaces = (before: Place, count: number) => Place[];

/** One list, read a few places at a time, more of them each time. */
class ListReader {
  readonly #read: ReadPlaces;
  readonly #most: number;
  #held: readonly Place[] = [];
  #at = 0;
  #before: Place;
  #count: number;
  #isOver = false;

  constructor(before: Place, counts: { readonly first: number; readonly most: number }, read: ReadPlaces) {
    this.#before = before;
    this.#most = counts.most;
    this.#count = Math.min(counts.first, counts.most);
    this.#read = read;
  }

  /** The newest that was not taken; null: there is none. */
  get head(): Place | null {
    const place = this.#held[this.#at];
    if (place !== undefined || this.#isOver) return place ?? null;
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

type Headed = { head: Place; readonly reader: ListReader };

/** Puts the one at `at` where it belongs: a binary heap, the newest first. */
const sink = (heap: Headed[], from: number): void => {
  const moving = heap[from]!;
  let at = from;
  for (;;) {
    let child = at * 2 + 1;
    const other = heap[child + 1];
    if (other !== undefined && isNewer(other.head, heap[child]!.head)) child += 1;
    const next = heap[child];
    if (next === undefined || !isNewer(next.head, moving.head)) break;
    heap[at] = next;
    at = child;
  }
  heap[at] = moving;
};

const FEW_LISTS = 200;

/** The newest of many lists, each of which is in order. */
export const newestOf = (lists: readonly ReadPlaces[], before: Place, limit: number): Place[] => {
  const counts = { first: lists.length > FEW_LISTS ? 2 : 8, most: limit };
  const heap: Headed[] = [];
  for (const read of lists) {
    const reader = new ListReader(before, counts, read);
    const { head } = reader;
    if (head !== null) heap.push({ head, reader });
  }
  for (let at = heap.length >> 1; at-- > 0; ) sink(heap, at);
  const places: Place[] = [];
  for (let first = heap[0]; first !== undefined && places.length < limit; first = heap[0]) {
    places.push(first.head);
    first.reader.take();
    const { head } = first.reader;
    const last = head === null ? heap.pop() : undefined;
    if (head !== null) first.head = head;
    else if (last !== undefined && heap.length > 0) heap[0] = last;
    if (heap.length > 0) sink(heap, 0);
  }
  return places;
};
