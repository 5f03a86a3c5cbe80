import type { Span } from '../list/intervals.js';
import type { Run } from '../parts/choose-parts.js';
import type { Gops } from './gops.js';

/** What is wanted of a time. */
export type FramesWanted = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Keyframes alone. */
  readonly keysOnly: boolean;
  /** Of keyframes those at or before each step of so many ms from `fromMs` on, none twice; null: all. */
  readonly everyMs: number | null;
  /** Newest first: GOPs one after another, each of them as it is decoded. */
  readonly isBackwards: boolean;
};

/** That nothing is there, since nothing was recorded (`GapReason`), or it can't be read. */
export type FrameGap = Span & { readonly reason: string };

/** A step of an answer: some GOPs of one file, by their numbers, or that there is nothing. */
export type Step = { readonly gops: Gops; readonly numbers: readonly number[] } | { readonly gap: FrameGap };

type Chosen = Extract<Step, { gops: Gops }> & { readonly startMs: number };

/** Of all keyframes in order, those that are the newest one at a step. */
const spaced = (files: readonly Chosen[], { fromMs, toMs }: FramesWanted, everyMs: number): Chosen[] => {
  const next = (file: number, at: number): number => {
    const { gops, numbers } = files[file]!;
    if (at + 1 < numbers.length) return gops.wallMs(numbers[at + 1]!);
    const following = files[file + 1];
    return following === undefined ? toMs : following.gops.wallMs(following.numbers[0]!);
  };
  return files.map(({ gops, numbers, startMs }, file) => ({
    ...{ gops, startMs },
    numbers: numbers.filter((gop, at) => {
      const sinceMs = Math.max(gops.wallMs(gop) - fromMs, 0);
      const stepMs = fromMs + Math.ceil(sinceMs / everyMs) * everyMs;
      return stepMs < Math.min(next(file, at), toMs);
    }),
  }));
};

/** The steps of an answer: gaps stand where they were, between the files. Empty: nothing was recorded. */
export const stepsOf = (
  runs: readonly Run<Gops>[],
  gaps: readonly FrameGap[],
  wanted: FramesWanted,
): readonly Step[] => {
  const { fromMs, toMs, everyMs, isBackwards } = wanted;
  const all = runs
    .map(({ of: gops, first, end }) => ({
      gops,
      numbers: gops.between(fromMs, toMs).filter((number) => number >= first && number < end),
      startMs: first === 0 ? gops.recording.startMs : gops.wallMs(first),
    }))
    .filter(({ numbers }) => numbers.length > 0);
  if (all.length === 0) return [];
  const steps: Step[] = [];
  let told = 0;
  for (const file of everyMs === null ? all : spaced(all, wanted, everyMs)) {
    while (told < gaps.length && gaps[told]!.endMs <= file.startMs) {
      steps.push({ gap: gaps[told]! });
      told += 1;
    }
    const { gops, numbers } = file;
    steps.push({ gops, numbers: isBackwards ? numbers.toReversed() : numbers });
  }
  steps.push(...gaps.slice(told).map((gap) => ({ gap })));
  return isBackwards ? steps.toReversed() : steps;
};
