import type { Clock, MonotonicMs, Timer, WallMs } from '../../src/base/clock.js';

type Pending = { dueMs: number; readonly periodMs: number | null; readonly callback: () => void };

/** Time that moves only when a test says so; timers run in the order in which they fall due. */
export class FakeClock implements Clock {
  #nowMs = 0;
  readonly #originMs: number;
  readonly #pending = new Set<Pending>();

  constructor(originMs = Date.UTC(2026, 10, 21, 8, 30)) {
    this.#originMs = originMs;
  }

  /** Timers that wait: a stopped thing leaves none. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  monotonicMs(): MonotonicMs {
    return this.#nowMs as MonotonicMs;
  }

  wallMs(): WallMs {
    return (this.#originMs + this.#nowMs) as WallMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    return this.#add({ dueMs: this.#nowMs + delayMs, periodMs: null, callback });
  }

  every(periodMs: number, callback: () => void): Timer {
    return this.#add({ dueMs: this.#nowMs + periodMs, periodMs, callback });
  }

  /** Lets `ms` pass, running what falls due on the way, also what those callbacks set up. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#nextDue(untilMs); next !== null; next = this.#nextDue(untilMs)) {
      this.#nowMs = next.dueMs;
      if (next.periodMs === null) this.#pending.delete(next);
      else next.dueMs += next.periodMs;
      next.callback();
    }
    this.#nowMs = untilMs;
  }

  #add(pending: Pending): Timer {
    this.#pending.add(pending);
    return { cancel: () => this.#pending.delete(pending) };
  }

  #nextDue(untilMs: number): Pending | null {
    let first: Pending | null = null;
    for (const pending of this.#pending)
      if (pending.dueMs <= untilMs && (first === null || pending.dueMs < first.dueMs)) first = pending;
    return first;
  }
}
