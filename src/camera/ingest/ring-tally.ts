import type { RingCounter } from '../../ring/counters.js';
import type { RingWriter } from '../../ring/writer.js';

/** Carries counts that begin at 0 with a session over to the counters of its ring, which go on over sessions. */
export class RingTally {
  readonly #ring: RingWriter;
  readonly #told = new Map<RingCounter, number>();

  constructor(ring: RingWriter) {
    this.#ring = ring;
  }

  /** Adds what `total` has grown by since the last call. */
  tell(counter: RingCounter, total: number): void {
    this.#ring.add(counter, total - (this.#told.get(counter) ?? 0));
    this.#told.set(counter, total);
  }
}
