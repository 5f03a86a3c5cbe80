import { VIDEO_CLOCK_HZ } from '../../../codec/track.js';

const WINDOW_TICKS = VIDEO_CLOCK_HZ;
const TICKS_PER_MS = VIDEO_CLOCK_HZ / 1000;
/** Weight of the newest window: a group of pictures is a few windows, of which one has the keyframe. */
const WEIGHT = 0.25;

/** How much a camera sends, by its own time axis. */
export class StreamRate {
  #startTicks: number | null = null;
  #bytes = 0;
  #bytesPerMs = 0;

  /** Until a second has gone by, all there is counts as if it had. */
  get bytesPerMs(): number {
    return this.#bytesPerMs === 0 ? (this.#bytes * TICKS_PER_MS) / WINDOW_TICKS : this.#bytesPerMs;
  }

  beginFrame(ticks: number): void {
    this.#startTicks ??= ticks;
    const passedTicks = ticks - this.#startTicks;
    if (passedTicks < WINDOW_TICKS) return;
    const bytesPerMs = (this.#bytes * TICKS_PER_MS) / passedTicks;
    const before = this.#bytesPerMs === 0 ? bytesPerMs : this.#bytesPerMs;
    this.#bytesPerMs = before + (bytesPerMs - before) * WEIGHT;
    this.#startTicks = ticks;
    this.#bytes = 0;
  }

  add(lengthBytes: number): void {
    this.#bytes += lengthBytes;
  }
}
