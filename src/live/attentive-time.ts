import type { Clock, MonotonicMs } from '../base/clock.js';

/** No look at the clock counts for more than this. */
const MAX_STEP_MS = 400;

/**
 * Time during which this thread could have heard its viewers: when it was held up itself, their answers wait
 * unread, and nobody is to be called slow for that. Look at it several times a second.
 */
export class AttentiveTime {
  readonly #clock: Clock;
  #seenMs: MonotonicMs;
  #nowMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#seenMs = clock.monotonicMs();
  }

  nowMs(): number {
    const seenMs = this.#clock.monotonicMs();
    this.#nowMs += Math.min(seenMs - this.#seenMs, MAX_STEP_MS);
    this.#seenMs = seenMs;
    return this.#nowMs;
  }
}
