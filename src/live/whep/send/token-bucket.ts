import type { MonotonicMs } from '../../../base/clock.js';

/** So many of something at once, so many a millisecond in the long run. */
export class TokenBucket {
  #capacity: number;
  #perMs: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(capacity: number, perMs: number, nowMs: MonotonicMs) {
    this.#capacity = capacity;
    this.#perMs = perMs;
    this.#tokens = capacity;
    this.#filledAtMs = nowMs;
  }

  /** How many may go now. */
  available(nowMs: MonotonicMs): number {
    const filled = this.#tokens + (nowMs - this.#filledAtMs) * this.#perMs;
    this.#tokens = Math.min(this.#capacity, filled);
    this.#filledAtMs = nowMs;
    return Math.floor(this.#tokens);
  }

  take(count: number): void {
    this.#tokens -= count;
  }

  /** From now on; what it has by now stays, as far as there is room for it, and what it owes takes as long as before. */
  setRate(capacity: number, perMs: number, nowMs: MonotonicMs): void {
    this.available(nowMs);
    if (this.#tokens < 0 && this.#perMs > 0) this.#tokens *= perMs / this.#perMs;
    this.#capacity = capacity;
    this.#perMs = perMs;
  }
}
