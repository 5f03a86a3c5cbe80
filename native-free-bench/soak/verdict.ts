import { type Trend, trendOf } from './trend.js';

/** What is watched of the service, as of one moment; null: nobody tells. */
export type SoakSample = {
  readonly atSec: number;
  readonly rssMb: number | null;
  readonly pssMb: number | null;
  readonly heapMb: number;
  readonly ringMb: number;
  readonly openFiles: number | null;
  readonly threads: number | null;
  readonly viewers: number;
  readonly streaming: number;
  readonly drops: number;
  readonly unrecordedFrames: number;
  readonly reconnects: number;
  readonly cpuMs: number | null;
};

export const watched = ['rssMb', 'pssMb', 'heapMb', 'openFiles', 'threads'] as const;
export type Watched = (typeof watched)[number];

export type FigureVerdict = {
  readonly figure: Watched;
  /** By the hour. */
  readonly trend: Trend | null;
  readonly verdict: 'steady' | 'grows' | 'not known yet';
};

/** What came up with the first viewers is no growth. */
const WARM_UP_SHARE = 1 / 3;
/** By the hour, of the mean: less is nothing that a restart each month wouldn't outlive. */
const TOLERATED_SHARE = 0.02;
const LEAST_TOLERATED: Readonly<Record<Watched, number>> = {
  ...{ rssMb: 5, pssMb: 5, heapMb: 2 },
  ...{ openFiles: 1, threads: 0.5 },
};

/** Whether a figure grows: yes or no only where the slope's whole confidence interval says so. */
export const judge = (figure: Watched, samples: readonly SoakSample[]): FigureVerdict => {
  const endSec = samples.at(-1)?.atSec ?? 0;
  const points = samples
    .filter(({ atSec }) => atSec >= endSec * WARM_UP_SHARE)
    .flatMap((sample) => {
      const y = sample[figure];
      return y === null ? [] : [{ x: sample.atSec / 3_600, y }];
    });
  const trend = trendOf(points);
  if (trend === null) return { figure, trend, verdict: 'not known yet' };
  const tolerated = Math.max(LEAST_TOLERATED[figure], trend.mean * TOLERATED_SHARE);
  if (trend.low > tolerated) return { figure, trend, verdict: 'grows' };
  return { figure, trend, verdict: trend.high <= tolerated ? 'steady' : 'not known yet' };
};
