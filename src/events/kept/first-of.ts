import type { Order, Place } from './event-tables.js';

/** Whether one event comes before another: newest first. */
const isNewer = (a: Place, b: Place): boolean =>
  a.fromMs > b.fromMs || (a.fromMs === b.fromMs && a.id > b.id);

const GROWTH = 4;

/** Whether one event is listed before another. */
export const isFirst = (a: Place, b: Place, order: Order): boolean =>
  order === 'newest_first' ? isNewer(a, b) : isNewer(b, a);

/** Places of one list behind a place, in the order that is asked for. */
export type ReadPlaces<Found extends Place> = (behind: Place, count: number) => Found[];

/** One list, read a few places at a time, more of them each time. */
class ListReader<Found extends Place> {
  readonly #read: ReadPlaces<Found>;
  readonly #most: number;
  #held: readonly Found[] = [];
  #at = 0;
  #behind: Place;
  #count: number;
  #isOver = false;

  constructor(
    behind: Place,
    counts: { readonly first: number; readonly most: number },
    read: ReadPlaces<Found>,
  ) {
    this.#behind = behind;
    this.#most = counts.most;
    this.#count = Math.min(counts.first, counts.most);
    this.#read = read;
  }

  /** The first that was not taken; null: there is none. */
  get head(): Found | null {
    const place = this.#held[this.#at];
    if (place !== undefined || this.#isOver) return place ?? null;
    this.#held = this.#read(this.#behind, this.#count);
    this.#isOver = this.#held.length < this.#count;
    this.#behind = this.#held.at(-1) ?? this.#behind;
    this.#count = Math.min(this.#count * GROWTH, this.#most);
    this.#at = 0;
    return this.#held[0] ?? null;
  }

  take(): void {
    this.#at += 1;
  }
}

type Headed<Found extends Place> = { head: Found; readonly reader: ListReader<Found> };

/** Puts the one at `from` where it belongs: a binary heap. */
const sink = <Found extends Place>(heap: Headed<Found>[], from: number, order: Order): void => {
  const moving = heap[from]!;
  let at = from;
  for (;;) {
    let child = at * 2 + 1;
    const other = heap[child + 1];
    if (other !== undefined && isFirst(other.head, heap[child]!.head, order)) child += 1;
    const next = heap[child];
    if (next === undefined || !isFirst(next.head, moving.head, order)) break;
    heap[at] = next;
    at = child;
  }
  heap[at] = moving;
};

const FEW_LISTS = 200;

/** The first of many lists, each of which is in order. */
export const firstOf = <Found extends Place>(
  lists: readonly ReadPlaces<Found>[],
  { behind, count: limit, order }: { readonly behind: Place; readonly count: number; readonly order: Order },
): Found[] => {
  const counts = { first: lists.length > FEW_LISTS ? 2 : 8, most: limit };
  const heap: Headed<Found>[] = [];
  for (const read of lists) {
    const reader = new ListReader(behind, counts, read);
    const { head } = reader;
    if (head !== null) heap.push({ head, reader });
  }
  for (let at = heap.length >> 1; at-- > 0; ) sink(heap, at, order);
  const places: Found[] = [];
  for (let first = heap[0]; first !== undefined && places.length < limit; first = heap[0]) {
    places.push(first.head);
    first.reader.take();
    const { head } = first.reader;
    const last = head === null ? heap.pop() : undefined;
    if (head !== null) first.head = head;
    else if (last !== undefined && heap.length > 0) heap[0] = last;
    if (heap.length > 0) sink(heap, 0, order);
  }
  return places;
};
