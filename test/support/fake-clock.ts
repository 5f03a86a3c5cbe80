import type { Clock, MonotonicMs, Timer, WallMs } from '../../src/base/clock.js';

type Pending = {
  readonly id: number;
  atMs: number;
  readonly periodMs: number | null;
  readonly callback: () => void;
};

/** A clock that stands still until the test moves it; timers fire in order, at their own times. */
export class FakeClock implements Clock {
  #nowMs = 1_000;
  #wallOffsetMs: number;
  #nextId = 1;
  readonly #pending = new Map<number, Pending>();

  constructor(wallMs = Date.UTC(2026, 10, 21, 8, 30)) {
    this.#wallOffsetMs = wallMs - this.#nowMs;
  }

  monotonicMs(): MonotonicMs {
    return this.#nowMs as MonotonicMs;
  }

  wallMs(): WallMs {
    return (this.#nowMs + this.#wallOffsetMs) as WallMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    return this.#add(delayMs, null, callback);
  }

  every(periodMs: number, callback: () => void): Timer {
    return this.#add(periodMs, periodMs, callback);
  }

  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** Lets time pass, firing what falls due on the way. */
  advance(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    for (;;) {
      const due = [...this.#pending.values()]
        .filter((timer) => timer.atMs <= endMs)
        .sort((a, b) => a.atMs - b.atMs || a.id - b.id)[0];
      if (due === undefined) break;
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      if (due.periodMs === null) this.#pending.delete(due.id);
      else due.atMs += due.periodMs;
      due.callback();
    }
    this.#nowMs = endMs;
  }

  /** The machine sleeps, or the thread is held up: what fell due meanwhile fires once, now. */
  sleep(durationMs: number): void {
    const nowMs = this.#nowMs + durationMs;
    for (const timer of this.#pending.values()) timer.atMs = Math.max(timer.atMs, nowMs);
    this.advance(durationMs);
  }

  /** The host's clock is set, as by NTP or a person. */
  setWall(wallMs: number): void {
    this.#wallOffsetMs = wallMs - this.#nowMs;
  }

  #add(delayMs: number, periodMs: number | null, callback: () => void): Timer {
    const id = this.#nextId++;
    this.#pending.set(id, { id, atMs: this.#nowMs + delayMs, periodMs, callback });
    return { cancel: () => void this.#pending.delete(id) };
  }
}
