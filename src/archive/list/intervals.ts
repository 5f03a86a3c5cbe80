import type { StartReason } from '../../fmp4/start-reason.js';
import type { Recording } from './recording.js';

/** From one moment to another. */
export type Span = { readonly startMs: number; readonly endMs: number };

/**
 * Why nothing is there: what the file behind the gap says of its beginning; its own predecessor was deleted; it
 * says nothing; or, where no file follows, that nothing is being recorded.
 */
export type GapReason = Exclude<StartReason, 'rollover'> | 'deleted' | 'unknown' | 'not_recording';

export type Gap = Span & { readonly reason: GapReason };

/** What of a time was recorded, and what wasn't and why. */
export type Coverage = { readonly intervals: readonly Span[]; readonly gaps: readonly Gap[] };

type Run = { readonly startMs: number; endMs: number; readonly reason: GapReason };

/** The same bound as within a file: what follows sooner goes on. */
export const JOIN_MS = 2_000;
/** What a recorder that is at work has not yet on disk. */
const MAX_LAG_MS = 10_000;

const reasonOf = ({ startReason }: Recording): GapReason => {
  if (startReason === null) return 'unknown';
  // It went on without a gap where the file before ended, so that one is gone.
  return startReason === 'rollover' ? 'deleted' : startReason;
};

/** Files that follow each other or overlap, as one. */
const runsOf = (recordings: readonly Recording[]): Run[] => {
  const runs: Run[] = [];
  for (const recording of recordings) {
    const { startMs, endMs } = recording;
    const last = runs.at(-1);
    if (last !== undefined && startMs - last.endMs <= JOIN_MS) last.endMs = Math.max(last.endMs, endMs);
    else runs.push({ startMs, endMs, reason: reasonOf(recording) });
  }
  return runs;
};

/**
 * The coverage of [fromMs, toMs), as far as it is past, by recordings in the order of their starts. `whyNot`: why
 * nothing is recorded now; null: something is.
 */
export const coverageOf = (
  recordings: readonly Recording[],
  when: { readonly fromMs: number; readonly toMs: number; readonly nowMs: number },
  whyNot: GapReason | null,
): Coverage => {
  const { fromMs, toMs, nowMs } = when;
  const intervals: Span[] = [];
  const gaps: Gap[] = [];
  const pastMs = Math.min(toMs, nowMs);
  let atMs = fromMs;
  for (const { startMs, endMs, reason } of runsOf(recordings)) {
    if (endMs <= fromMs) continue;
    // A camera's clock may be ahead of ours: what it recorded is shown all the same.
    const gapEndMs = startMs < toMs ? startMs : pastMs;
    if (gapEndMs > atMs) gaps.push({ startMs: atMs, endMs: gapEndMs, reason });
    atMs = Math.max(atMs, endMs);
    if (startMs >= toMs) return { intervals, gaps };
    intervals.push({ startMs: Math.max(startMs, fromMs), endMs: Math.min(endMs, toMs) });
  }
  if (pastMs > atMs && !(whyNot === null && nowMs - atMs <= MAX_LAG_MS)) {
    gaps.push({ startMs: atMs, endMs: pastMs, reason: whyNot ?? 'unknown' });
  }
  return { intervals, gaps };
};
