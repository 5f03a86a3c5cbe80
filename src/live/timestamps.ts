import { VIDEO_CLOCK_HZ } from '../codec/track.js';

const US_PER_TICK = 1_000_000 / VIDEO_CLOCK_HZ;

/**
 * The timestamps of one camera's video messages: decode times in microseconds, since presentation times go back
 * and forth where there are B-frames. They rise strictly, whatever the camera does.
 */
export class Timestamps {
  #offsetUs = 0;
  #lastUs = -1;
  #lastMs = 0;
  #isRestarted = false;

  /** The timestamp of the next frame in line. */
  next(dtsTicks: number, nowMs: number): number {
    if (this.#isRestarted) {
      this.#isRestarted = false;
      const elapsedUs = Math.max(1, Math.round((nowMs - this.#lastMs) * 1000));
      this.#offsetUs = this.#lastUs + elapsedUs - Math.floor(dtsTicks * US_PER_TICK);
    }
    this.#lastUs = this.after(this.#lastUs, dtsTicks);
    this.#lastMs = nowMs;
    return this.#lastUs;
  }

  /**
   * The timestamp of a frame for a viewer whose last one was `lastUs` (-1: none). It is never above that of
   * `next` for the same frame, so a viewer can go over from the one to the other.
   */
  after(lastUs: number, dtsTicks: number): number {
    return Math.max(lastUs + 1, this.#offsetUs + Math.floor(dtsTicks * US_PER_TICK));
  }

  /** Another ring follows, whose times begin anywhere. */
  restart(): void {
    this.#isRestarted = this.#lastUs >= 0;
  }
}
