import type { MonotonicMs, WallMs } from '../../../base/clock.js';
import { VIDEO_CLOCK_HZ } from '../../../codec/track.js';
import type { RingReader } from '../../../ring/reader.js';

const TICKS_PER_MS = VIDEO_CLOCK_HZ / 1000;
/** Steps back up to this are a clock that was set a little. */
const MAX_STEP_BACK_TICKS = 2 * VIDEO_CLOCK_HZ;

/** What of a frame says where it belongs. */
type PlacedFrame = Pick<RingReader, 'ptsTicks' | 'dtsTicks' | 'arrivalMs' | 'wallMs' | 'discontinuity'>;

/** A moment on the axis and on the wall. */
export type AxisMoment = { readonly ticks: number; readonly wallMs: WallMs };

/**
 * The time axis of a camera's packets: it goes on where the camera's own begins anew, in another ring or after a break.
 * Decode times always rise; what lies between them and the display times stays as the camera has it.
 */
export class StreamAxis {
  /** Of the newest video frame. */
  dtsTicks = Number.NEGATIVE_INFINITY;
  ptsTicks = 0;
  #arrivalMs = 0;
  #wallMs = 0;
  /** Added to the camera's times. */
  #shiftTicks = 0;
  #isNewRing = false;

  /** Frames come from another ring now, whose times begin anywhere. */
  restart(): void {
    this.#isNewRing = true;
  }

  /** Places a video frame: `dtsTicks` and `ptsTicks` are its own from then on. */
  placeVideo({ ptsTicks, dtsTicks, arrivalMs, wallMs, discontinuity }: PlacedFrame): void {
    const stepTicks = dtsTicks + this.#shiftTicks - this.dtsTicks;
    const isBreak = stepTicks <= 0 && (discontinuity || stepTicks < -MAX_STEP_BACK_TICKS);
    if (Number.isFinite(this.dtsTicks) && (this.#isNewRing || isBreak)) {
      const passedTicks = Math.max(1, (arrivalMs - this.#arrivalMs) * TICKS_PER_MS);
      this.#shiftTicks = this.dtsTicks + passedTicks - dtsTicks;
    }
    this.#isNewRing = false;
    const placedTicks = Math.max(dtsTicks + this.#shiftTicks, this.dtsTicks + 1);
    this.dtsTicks = placedTicks;
    this.ptsTicks = placedTicks + ptsTicks - dtsTicks;
    this.#arrivalMs = arrivalMs;
    this.#wallMs = wallMs;
  }

  /** The place of an audio frame, in ticks of its own clock. */
  placeAudio(ptsTicks: number, clockRateHz: number): number {
    return ptsTicks + (this.#shiftTicks / VIDEO_CLOCK_HZ) * clockRateHz;
  }

  /** The place of what belongs to a wall time of the camera's frames, in ticks of the axis. */
  ticksAt(wallMs: number): number {
    return this.ptsTicks + (wallMs - this.#wallMs) * TICKS_PER_MS;
  }

  /** Where the axis and the camera's wall clock are now. */
  at(nowMs: MonotonicMs): AxisMoment {
    const passedMs = nowMs - this.#arrivalMs;
    return { ticks: this.ptsTicks + passedMs * TICKS_PER_MS, wallMs: (this.#wallMs + passedMs) as WallMs };
  }
}
