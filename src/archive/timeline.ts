import type { Clock } from '../base/clock.js';
import { type Coverage, coverageOf, type GapReason } from './intervals.js';
import type { Recording } from './recording.js';

export type TimelineDeps = {
  readonly clock: Clock;
  readonly recordings: { list(cameraId: string): Promise<readonly Recording[]> };
  /** Why a camera is not being recorded now; null: it is. */
  readonly whyNot: (cameraId: string) => GapReason | null;
};

/** When a camera was recorded. */
export class Timeline {
  readonly #deps: TimelineDeps;

  constructor(deps: TimelineDeps) {
    this.#deps = deps;
  }

  /** What is recorded of [fromMs, toMs), and what isn't, as far as that is past. */
  async intervals(cameraId: string, fromMs: number, toMs: number): Promise<Coverage> {
    const { clock, recordings, whyNot } = this.#deps;
    const list = await recordings.list(cameraId);
    return coverageOf(list, { fromMs, toMs, nowMs: clock.wallMs() }, whyNot(cameraId));
  }
}
