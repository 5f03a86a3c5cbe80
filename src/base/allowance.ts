import type { MonotonicMs } from './clock.js';

/** So much of something a second, and so much at once after a time without. */
export class Allowance {
  readonly #perSec: number;
  readonly #most: number;
  #left: number;
  #countedMs: MonotonicMs | null = null;

  constructor(perSec: number, most = perSec) {
    this.#perSec = perSec;
    this.#most = most;
    this.#left = most;
  }

  /** Takes so much, if there is so much left. */
  take(amount: number, nowMs: MonotonicMs): boolean {
    const passedMs = nowMs - (this.#countedMs ?? nowMs);
    this.#countedMs = nowMs;
    this.#left = Math.min(this.#most, this.#left + (passedMs / 1000) * this.#perSec);
    if (this.#left < amount) return false;
    this.#left -= amount;
    return true;
  }
}
