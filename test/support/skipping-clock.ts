import { type Clock, type MonotonicMs, systemClock, type Timer } from '../../src/base/clock.js';

type Pending = { dueMs: number; timer: Timer; readonly callback: () => void };

/**
 * The real clock, of which a test may skip a stretch: what would have fallen due once in it falls due at the end of it.
 * What is done again and again goes on as ever, and other threads notice nothing.
 */
export class SkippingClock implements Clock {
  #skippedMs = 0;
  readonly #pending = new Set<Pending>();

  monotonicMs(): MonotonicMs {
    return (systemClock.monotonicMs() + this.#skippedMs) as MonotonicMs;
  }

  readonly wallMs = systemClock.wallMs;
  readonly every = systemClock.every;

  after(delayMs: number, callback: () => void): Timer {
    const fire = (): void => {
      this.#pending.delete(pending);
      callback();
    };
    const dueMs = this.monotonicMs() + delayMs;
    const pending: Pending = { dueMs, timer: systemClock.after(delayMs, fire), callback: fire };
    this.#pending.add(pending);
    return {
      cancel: () => {
        this.#pending.delete(pending);
        pending.timer.cancel();
      },
    };
  }

  skip(durationMs: number): void {
    this.#skippedMs += durationMs;
    const nowMs = this.monotonicMs();
    for (const pending of [...this.#pending]) {
      if (!this.#pending.has(pending)) continue;
      pending.timer.cancel();
      if (pending.dueMs <= nowMs) pending.callback();
      else pending.timer = systemClock.after(pending.dueMs - nowMs, pending.callback);
    }
  }
}
