import { type Clock, type MonotonicMs, systemClock, type Timer, type WallMs } from '../../src/base/clock.js';

/** A clock whose time passes so many times as fast, beside real work; its wall clock is ahead by some time besides. */
export class HurriedClock implements Clock {
  readonly #pace: number;
  readonly #aheadMs: number;

  constructor(pace: number, aheadMs = 0) {
    this.#pace = pace;
    this.#aheadMs = aheadMs;
  }

  monotonicMs(): MonotonicMs {
    return (systemClock.monotonicMs() * this.#pace) as MonotonicMs;
  }

  wallMs(): WallMs {
    return (systemClock.wallMs() + this.#aheadMs) as WallMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    return systemClock.after(delayMs / this.#pace, callback);
  }

  every(periodMs: number, callback: () => void): Timer {
    return systemClock.every(periodMs / this.#pace, callback);
  }
}
