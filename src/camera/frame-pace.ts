import type { MonotonicMs } from '../base/clock.js';
import { counterIndex, countersIn } from '../ring/counters.js';

/** A camera that sends nothing for so long works no more; one whose pictures come seldom, for longer. */
export const SILENT_AFTER_MS = 2_500;
const MOST_SILENT_MS = 10_000;
const TIMES_USUAL = 3;
/** Of one half and the one before it is known how seldom they come. */
const HALF_MS = 30_000;
/** So long it takes at most, where the disk keeps up, until a picture after which another one came is on it. */
const WRITTEN_AFTER_MS = 1_500;

/** How a camera's pictures come: looked at some times a second, in the ring's memory. */
export class FramePace {
  #ring: SharedArrayBuffer | null = null;
  #counters: Float64Array = new Float64Array(0);
  #arrivalMs = 0;
  /** How old the newest picture was at the last look. */
  #ageMs = 0;
  /** The longest two pauses of this half: one alone is no habit, but an outage. */
  #longestMs = 0;
  #secondMs = 0;
  #secondBeforeMs = 0;
  #halfUntilMs = 0;

  /** Until when it counts as working, if nothing more of it comes; null: nothing came yet. `writtenMs`: when the disk took something. */
  worksUntilMs(ring: SharedArrayBuffer, writtenMs: number, nowMs: MonotonicMs): number | null {
    if (ring !== this.#ring) this.#counters = countersIn(ring);
    this.#ring = ring;
    const arrivalMs = this.#counters[counterIndex.lastVideoArrivalMs]!;
    if (arrivalMs === 0) return null;
    if (arrivalMs !== this.#arrivalMs) this.#notePause(this.#ageMs, nowMs);
    this.#arrivalMs = arrivalMs;
    this.#ageMs = nowMs - arrivalMs;
    const usualMs = Math.max(this.#secondMs, this.#secondBeforeMs);
    const patienceMs = Math.min(Math.max(SILENT_AFTER_MS, TIMES_USUAL * usualMs), MOST_SILENT_MS);
    // What came last is written when the next one comes.
    return Math.min(arrivalMs, writtenMs + usualMs + WRITTEN_AFTER_MS) + patienceMs;
  }

  /** A session ended: how long it takes until there is another one is no pace of the camera. */
  interrupt(): void {
    this.#ageMs = 0;
  }

  #notePause(pauseMs: number, nowMs: MonotonicMs): void {
    if (nowMs >= this.#halfUntilMs) {
      this.#secondBeforeMs = nowMs - this.#halfUntilMs < HALF_MS ? this.#secondMs : 0;
      this.#longestMs = 0;
      this.#secondMs = 0;
      this.#halfUntilMs = nowMs + HALF_MS;
    }
    if (pauseMs > this.#longestMs) {
      this.#secondMs = this.#longestMs;
      this.#longestMs = pauseMs;
    } else this.#secondMs = Math.max(this.#secondMs, pauseMs);
  }
}
