import type { Clock } from '../base/clock.js';

/**
 * Numbers by which others tell what a start of this box said last. They rise with each, and where a machine was put back to an
 * earlier moment with all its memory they are above what it said since, as soon as its wall clock is right again: it says
 * fewer than one in a millisecond.
 */
export class RisingNumbers {
  readonly #clock: Clock;
  #last: number;

  /** `last`: what may have been said before, where a thread goes on for one that died. */
  constructor(clock: Clock, last = -1) {
    this.#clock = clock;
    this.#last = last;
  }

  /** The highest that was said. */
  get last(): number {
    return this.#last;
  }

  next(): number {
    this.#last = Math.max(this.#last + 1, Math.floor(this.#clock.wallMs()));
    return this.#last;
  }
}
