import type { MonotonicMs } from '../../../base/clock.js';
import { VIDEO_CLOCK_HZ } from '../../../codec/track.js';
import type { RingReader } from '../../../ring/reader.js';

const TICKS_PER_MS = VIDEO_CLOCK_HZ / 1000;
/** Steps back up to this are frames out of order or a clock that was set a little. */
const MAX_STEP_BACK_TICKS = 2 * VIDEO_CLOCK_HZ;

/** So many frames out of order are B-frames; fewer can be a clock that was set back a little. */
const LATE_FRAMES_FOR_CERTAINTY = 8;
/** With more frames between them they don't add up: such a clock is set back again and again. */
const MAX_FRAMES_APART = 256;

/** What of a frame says where it belongs. */
type PlacedFrame = Pick<RingReader, 'ptsTicks' | 'arrivalMs' | 'wallMs' | 'discontinuity'>;

/** A moment on the axis and on the wall. */
export type AxisMoment = { readonly ticks: number; readonly wallMs: number };

/**
 * The time axis that a camera's viewers are shown: video ticks that always rise, though the camera's own may begin
 * anew when it has another ring.
 */
export class MediaAxis {
  #lastPts = Number.NEGATIVE_INFINITY;
  #lastTicks = Number.NEGATIVE_INFINITY;
  #lastArrivalMs = 0;
  #lastWallMs = 0;
  /** Added to the camera's times. */
  #shiftTicks = 0;
  #lateFrames = 0;
  #framesSinceLate = 0;

  /** The frames come in another order than they are shown in. */
  get isReordered(): boolean {
    return this.#lateFrames >= LATE_FRAMES_FOR_CERTAINTY;
  }

  /** The place of a video frame. */
  placeVideo({ ptsTicks, arrivalMs, wallMs, discontinuity }: PlacedFrame): number {
    const step = ptsTicks - this.#lastPts;
    this.#framesSinceLate += 1;
    if (step <= 0 && (discontinuity || step < -MAX_STEP_BACK_TICKS)) {
      const passedTicks = Math.max(1, (arrivalMs - this.#lastArrivalMs) * TICKS_PER_MS);
      this.#shiftTicks = this.#lastTicks + passedTicks - ptsTicks;
      this.#lateFrames = 0;
    } else if (step < 0) {
      this.#lateFrames = this.#framesSinceLate > MAX_FRAMES_APART ? 1 : this.#lateFrames + 1;
      this.#framesSinceLate = 0;
    }
    this.#lastPts = ptsTicks;
    this.#lastTicks = Math.max(ptsTicks + this.#shiftTicks, this.#lastTicks + 1);
    this.#lastArrivalMs = arrivalMs;
    this.#lastWallMs = wallMs;
    return this.#lastTicks;
  }

  /** The place of an audio frame, in ticks of its own clock. */
  placeAudio(ptsTicks: number, clockRateHz: number): number {
    return ptsTicks + (this.#shiftTicks / VIDEO_CLOCK_HZ) * clockRateHz;
  }

  /** Where the axis and the camera's wall clock are now. */
  at(nowMs: MonotonicMs): AxisMoment {
    const passedMs = nowMs - this.#lastArrivalMs;
    return { ticks: this.#lastTicks + passedMs * TICKS_PER_MS, wallMs: this.#lastWallMs + passedMs };
  }
}
