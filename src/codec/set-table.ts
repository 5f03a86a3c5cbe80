type Entry<Facts> = { readonly facts: Facts; readonly bytes: Uint8Array };

/** Parameter sets of one kind, one for each id, in order of arrival; the oldest goes when there are too many. */
export class SetTable<Facts extends { readonly id: number }> {
  readonly #limit: number;
  #entries: Entry<Facts>[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Whether the very bytes `buffer[start, end)` are here already. Allocates nothing. */
  has(buffer: Uint8Array, start: number, end: number): boolean {
    const entries = this.#entries;
    for (let index = 0; index < entries.length; index += 1) {
      if (isSame(entries[index]!.bytes, buffer, start, end)) return true;
    }
    return false;
  }

  /** Keeps a copy of `buffer[start, end)` in the place of what had this id. */
  put(facts: Facts, buffer: Uint8Array, start: number, end: number): void {
    const others = this.#entries.filter((entry) => entry.facts.id !== facts.id);
    if (others.length >= this.#limit) others.shift();
    // Memory of its own, not of Buffer's pool: a posted copy would take the whole pool along.
    const bytes = new Uint8Array(end - start);
    bytes.set(buffer.subarray(start, end));
    this.#entries = [...others, { facts, bytes }];
  }

  /** The facts that came last and that `accept` takes. */
  newest(accept: (facts: Facts) => boolean = () => true): Facts | null {
    return this.#entries.findLast((entry) => accept(entry.facts))?.facts ?? null;
  }

  some(accept: (facts: Facts) => boolean): boolean {
    return this.#entries.some((entry) => accept(entry.facts));
  }

  /** The NAL units, never written to again. */
  inOrderOfId(): readonly Uint8Array[] {
    return this.#entries.toSorted((a, b) => a.facts.id - b.facts.id).map((entry) => entry.bytes);
  }
}

const isSame = (known: Uint8Array, buffer: Uint8Array, start: number, end: number): boolean => {
  if (known.length !== end - start) return false;
  for (let index = 0; index < known.length; index += 1) {
    if (known[index] !== buffer[start + index]) return false;
  }
  return true;
};
