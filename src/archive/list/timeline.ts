import type { Clock } from '../../base/clock.js';
import type { BrokenFile } from './broken-files.js';
import { type Coverage, coverageOf, type GapReason } from './intervals.js';
import type { Recording } from './recording.js';

export type TimelineDeps = {
  readonly clock: Clock;
  readonly recordings: {
    list(cameraId: string): Promise<readonly Recording[]>;
    broken(cameraId: string): Promise<readonly BrokenFile[]>;
  };
  /** Why a camera is not being recorded now; null: it is. */
  readonly whyNot: (cameraId: string) => GapReason | null;
};

/** What was recorded, why not, and what was but can't be played. */
export type TimelineSpan = Coverage & { readonly broken: readonly BrokenFile[] };

/** When a camera was recorded. */
export class Timeline {
  readonly #deps: TimelineDeps;

  constructor(deps: TimelineDeps) {
    this.#deps = deps;
  }

  /** What is recorded of [fromMs, toMs), and what isn't, as far as that is past. */
  async intervals(cameraId: string, fromMs: number, toMs: number): Promise<TimelineSpan> {
    const { clock, recordings, whyNot } = this.#deps;
    const list = await recordings.list(cameraId);
    const broken = await recordings.broken(cameraId);
    const coverage = coverageOf(list, { fromMs, toMs, nowMs: clock.wallMs() }, whyNot(cameraId));
    return { ...coverage, broken: broken.filter(({ startMs, endMs }) => startMs < toMs && endMs >= fromMs) };
  }
}
