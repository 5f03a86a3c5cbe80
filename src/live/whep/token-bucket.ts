import type { MonotonicMs } from '../../base/clock.js';

/** So many of something at once, so many a millisecond in the long run. */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perMs: number;
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
}
