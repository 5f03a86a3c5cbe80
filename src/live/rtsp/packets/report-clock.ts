import type { WallMs } from '../../../base/clock.js';
import { VIDEO_CLOCK_HZ } from '../../../codec/track.js';
import type { AxisMoment } from './stream-axis.js';

/** Players that follow each report (ffmpeg) move their times by as much: less than the shortest frame of sound. */
const MOST_SLEW_MS = 10;
/** Beyond this the camera's clock was set, and whoever writes down wall times wants the right ones. */
const STEP_MS = 1_000;

/** The wall time that sender reports tell: it follows the camera's in small steps, so that no player's time goes back. */
export class ReportClock {
  /** Wall time less media time. */
  #offsetMs: number | null = null;

  /** Looks where the camera's wall clock is; at most once with each round of reports. */
  follow({ ticks, wallMs }: AxisMoment): void {
    const seenMs = wallMs - mediaMs(ticks);
    const offsetMs = this.#offsetMs ?? seenMs;
    const errorMs = seenMs - offsetMs;
    const slewMs = Math.max(-MOST_SLEW_MS, Math.min(MOST_SLEW_MS, errorMs));
    this.#offsetMs = offsetMs + (Math.abs(errorMs) > STEP_MS ? errorMs : slewMs);
  }

  /** The same moment of the axis, with the wall time to be told. */
  told(moment: AxisMoment): AxisMoment {
    if (this.#offsetMs === null) this.follow(moment);
    const { ticks } = moment;
    return { ticks, wallMs: (mediaMs(ticks) + (this.#offsetMs ?? 0)) as WallMs };
  }
}

const mediaMs = (ticks: number): number => (ticks / VIDEO_CLOCK_HZ) * 1000;
