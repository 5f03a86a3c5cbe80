import type { RecordedFrame } from './recorded-frames.js';

export type Span = { readonly fromMs: number; readonly toMs: number };

/** The stretches without a break in which something was recorded: up to when the next frame would have come. */
export const spansOf = (frames: readonly RecordedFrame[], frameMs: number): Span[] => {
  const spans: { fromMs: number; toMs: number }[] = [];
  let lastNumber = Number.NaN;
  for (const { sentMs, number } of frames) {
    const last = spans.at(-1);
    // A frame that is missing is a break; one that was sent late is none.
    const isNext = number === lastNumber + 1;
    lastNumber = number;
    if (last !== undefined && (isNext || sentMs - last.toMs < frameMs * 0.8))
      last.toMs = Math.max(last.toMs, sentMs + frameMs);
    else spans.push({ fromMs: sentMs, toMs: sentMs + frameMs });
  }
  return spans;
};

export type Coverage = {
  /** The longest time of which no box has anything. */
  readonly longestGapMs: number;
  /** The time that more than one box has. */
  readonly doubledMs: number;
};

/** What several boxes have of one camera in a time: the recordings of each in stretches. */
export const coverageOf = (boxes: readonly (readonly Span[])[], { fromMs, toMs }: Span): Coverage => {
  const edges = boxes
    .flat()
    .flatMap((span) => {
      const [begin, end] = [Math.max(span.fromMs, fromMs), Math.min(span.toMs, toMs)];
      return begin < end
        ? [
            { atMs: begin, step: 1 },
            { atMs: end, step: -1 },
          ]
        : [];
    })
    .sort((a, b) => a.atMs - b.atMs || b.step - a.step);
  let [depth, lastMs, longestGapMs, doubledMs] = [0, fromMs, 0, 0];
  for (const { atMs, step } of edges) {
    if (depth === 0) longestGapMs = Math.max(longestGapMs, atMs - lastMs);
    if (depth > 1) doubledMs += atMs - lastMs;
    lastMs = atMs;
    depth += step;
  }
  if (depth === 0) longestGapMs = Math.max(longestGapMs, toMs - lastMs);
  return { longestGapMs, doubledMs };
};
