import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { Turns, type TurnsOptions } from '../../base/turns.js';
import { archiveError, isGone } from '../archive-error.js';
import type { JobRunner } from '../jobs/jobs.js';
import { coverageOf, type Gap, type GapReason } from '../list/intervals.js';
import type { Recording } from '../list/recording.js';
import { chooseParts } from '../parts/choose-parts.js';
import { type RecordingLocator, twice, type Unshown, unshownOf } from '../play/locator.js';
import { FrameReading } from './frame-reading.js';
import { Gops } from './gops.js';
import { type FrameGap, type FramesWanted, type Step, stepsOf } from './selection.js';

/** A wall of nine that is scrubbed has two readings a tile, and some that are about to end. */
const MAX_READINGS_A_VIEWER = 24;
/** Each holds two batches at most: some 100 MB in all. */
const MAX_READINGS = 96;
/** Batches are read for viewers in turns; two threads are kept at work. */
const TURNS: TurnsOptions = {
  atOnce: 4,
  maxWaiting: MAX_READINGS,
  maxInLane: MAX_READINGS_A_VIEWER,
  patienceMs: 15_000,
};

/** A moment's keyframe, and unless that is all what follows up to the moment. */
export type MomentWanted = { readonly atMs: number; readonly keysOnly: boolean };

export type FramesDeps = {
  readonly clock: Clock;
  readonly locator: RecordingLocator;
  readonly runner: JobRunner;
  /** Why a camera is not being recorded now; null: it is. */
  readonly whyNot: (cameraId: string) => GapReason | null;
};

/** Hands out the frames of recordings, as many readings at once as there is room for. */
export class Frames {
  readonly #deps: FramesDeps;
  readonly #turns: Turns;
  /** Of each viewer, as often as there are any. */
  readonly #readings = new Map<string, number>();
  #open = 0;

  constructor(deps: FramesDeps) {
    this.#deps = deps;
    this.#turns = new Turns(TURNS, { clock: deps.clock, busy });
  }

  /** Readings that were begun and aren't closed. */
  get open(): number {
    return this.#open;
  }

  /** Close it when it is sent. Throws `archive_busy` for too many at once, be it of `viewer` or in all. */
  async read(cameraId: string, wanted: FramesWanted | MomentWanted, viewer: string): Promise<FrameReading> {
    const { locator, runner } = this.#deps;
    const leave = this.#enter(viewer);
    try {
      const steps = await twice(() =>
        'atMs' in wanted ? this.#stepsAt(cameraId, wanted.atMs) : this.#stepsWithin(cameraId, wanted),
      );
      const untilMs = 'atMs' in wanted ? wanted.atMs : null;
      return new FrameReading(
        { steps, keysOnly: wanted.keysOnly, untilMs },
        {
          run: (input, signal) => this.#turns.run(viewer, () => runner.run('readFrames', input), signal),
          relocate: (source) => locator.relocate(cameraId, source),
          onClose: leave,
        },
      );
    } catch (fault) {
      leave();
      throw fault;
    }
  }

  async #stepsWithin(cameraId: string, wanted: FramesWanted): Promise<readonly Step[]> {
    const { locator } = this.#deps;
    const { all, located, missing } = await locator.locateWithin(cameraId, wanted.fromMs, wanted.toMs);
    const runs = chooseParts(located.map((one) => new Gops(one)));
    const spans = runs.map(({ of, first, end }) => ({
      fromMs: of.wallMs(first),
      toMs: of.wallEndMs(end - 1),
    }));
    locator.assertShown(missing, wanted, spans, true);
    const gaps = [
      ...this.#gaps(cameraId, all, wanted.fromMs, wanted.toMs),
      ...unshownOf(missing, wanted, spans).map(gapOf),
    ].sort((a, b) => a.startMs - b.startMs);
    const steps = stepsOf(runs, gaps, wanted);
    if (steps.length === 0)
      throw missing[0]?.fault ?? archiveError('not_found', 'nothing was recorded in this time');
    return steps;
  }

  /** Behind the frames, why nothing was recorded from their end to the moment. */
  async #stepsAt(cameraId: string, atMs: number): Promise<readonly Step[]> {
    const { all, located } = await this.#deps.locator.locateBefore(cameraId, atMs);
    const gops = new Gops(located);
    const number = gops.before(atMs);
    if (number < 0) throw archiveError('recording_not_ready', 'the recording has just begun');
    const gaps = this.#gaps(cameraId, all, gops.wallMs(number), atMs + 1);
    return [{ gops, numbers: [number] }, ...gaps.map((gap) => ({ gap }))];
  }

  #gaps(cameraId: string, all: readonly Recording[], fromMs: number, toMs: number): readonly Gap[] {
    const { clock, whyNot } = this.#deps;
    return coverageOf(all, { fromMs, toMs, nowMs: clock.wallMs() }, whyNot(cameraId)).gaps;
  }

  #enter(viewer: string): () => void {
    const ofViewer = this.#readings.get(viewer) ?? 0;
    if (this.#open >= MAX_READINGS || ofViewer >= MAX_READINGS_A_VIEWER) throw busy();
    this.#open += 1;
    this.#readings.set(viewer, ofViewer + 1);
    return () => {
      const left = this.#readings.get(viewer)! - 1;
      this.#open -= 1;
      if (left === 0) this.#readings.delete(viewer);
      else this.#readings.set(viewer, left);
    };
  }
}

/** The reason is the code that a clip of it would be refused with. */
const gapOf = ({ span, fault }: Unshown): FrameGap => ({
  ...{ startMs: span.fromMs, endMs: span.toMs },
  reason: isGone(fault) ? 'deleted' : fault instanceof AppError ? fault.code : 'unknown',
});

const busy = () => archiveError('archive_busy', 'too many frames are read at once; try again');
