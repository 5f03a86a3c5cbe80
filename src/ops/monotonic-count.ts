/**
 * Turns counts that may start over into ones that never go back: a ring that is replaced, or made anew after its
 * camera was switched off and on, counts from zero again, and Prometheus would take that for a restart.
 */
export class MonotonicCount {
  #base = 0;
  #last = 0;

  /** The count as of now. Null, while there is nothing to read it from, repeats the last one. */
  take(raw: number | null): number {
    if (raw === null) return this.#base + this.#last;
    if (raw < this.#last) this.#base += this.#last;
    this.#last = raw;
    return this.#base + raw;
  }
}
