import type { FileScanner, FragmentInfo } from '../../fmp4/file-scanner.js';
import type { MovieTrack } from '../../fmp4/movie-reader.js';
import type { SampleColumns } from '../../fmp4/sample-columns.js';
import type { RecordingSource } from '../files/recording-source.js';
import { type RecordedParts, TICKS_PER_MS } from '../parts/recorded-parts.js';

/** Parts [first, end) of one recording. */
export type PartRange = {
  readonly source: RecordingSource;
  readonly parts: RecordedParts;
  readonly first: number;
  readonly end: number;
};

/** All that a clip must know of such parts: it keeps no table of them. Times of 90 kHz are the file's own. */
export type ClipRange = {
  readonly source: RecordingSource;
  readonly startBytes: number;
  readonly endBytes: number;
  /** When the first picture is shown, and when the showing of all ends. */
  readonly firstTicks: number;
  readonly endTicks: number;
  /** What the wall clock showed at the first picture. */
  readonly wallMs: number;
};

export const rangeOfParts = ({ source, parts, first, end }: PartRange): ClipRange => ({
  source,
  startBytes: parts.startBytes[first]!,
  endBytes: parts.endBytes[end - 1]!,
  firstTicks: parts.ptsTicks[first]!,
  endTicks: parts.endTicks[end - 1]!,
  wallMs: parts.wallMs[first]!,
});

/** Where a file's parts stand in a clip, in ticks of 90 kHz: when its first picture is shown, and for how long all are. */
export type ClipPlace = {
  readonly startTicks: number;
  readonly durationTicks: number;
  /** Nothing is shown right before: sound that its first picture falls into can stay. */
  readonly isApart: boolean;
  readonly isLast: boolean;
};

/** The sound of a file that goes with its pictures, by decode time in ticks of its track. */
export type SoundLimits = {
  readonly fromTicks: number;
  readonly toTicks: number;
  readonly keepsOverlap: boolean;
};

export type TrackKind = MovieTrack['kind'];

/** Samples [first, end) of a track. */
export type KeptSamples = { readonly columns: SampleColumns; readonly first: number; readonly end: number };

/** A gap that is briefer than this is the difference between two clocks. */
const LEAST_GAP_TICKS = 100 * TICKS_PER_MS;

/**
 * Each file stands where its wall time is, so that time in the clip is wall time, but never before the end of the
 * file before: a clock may have been set back.
 */
export const placesOf = (ranges: readonly ClipRange[]): ClipPlace[] => {
  let endTicks = 0;
  const firstMs = ranges[0]!.wallMs;
  return ranges.map((range, index) => {
    const wallTicks = Math.round((range.wallMs - firstMs) * TICKS_PER_MS);
    const isApart = index === 0 || wallTicks - endTicks >= LEAST_GAP_TICKS;
    const startTicks = isApart ? wallTicks : endTicks;
    const durationTicks = Math.max(range.endTicks - range.firstTicks, 0);
    endTicks = startTicks + durationTicks;
    return { startTicks, durationTicks, isApart, isLast: index === ranges.length - 1 };
  });
};

/** The longest time between two files, and that of all of them: a track may have samples in few. */
export const pausesOf = (places: readonly ClipPlace[]): { longestSeconds: number; totalSeconds: number } => {
  let [endTicks, longestTicks] = [0, 0];
  for (const { startTicks, durationTicks } of places) {
    longestTicks = Math.max(longestTicks, startTicks - endTicks);
    endTicks = startTicks + durationTicks;
  }
  return { longestSeconds: longestTicks / TICKS_PER_MS / 1000, totalSeconds: endTicks / TICKS_PER_MS / 1000 };
};

/** The sound within the limits: what overlapped the next file's would be played before it, and all that follows late. */
const cutSound = (columns: SampleColumns, first: number, end: number, limits: SoundLimits): KeptSamples => {
  const { dtsTicks, durationTicks } = columns;
  const { fromTicks, toTicks, keepsOverlap } = limits;
  let [from, to] = [first, end];
  const isEarly = (at: number): boolean =>
    keepsOverlap ? dtsTicks[at]! + durationTicks[at]! <= fromTicks : dtsTicks[at]! < fromTicks;
  while (from < to && isEarly(from)) from += 1;
  while (from < to && dtsTicks[to - 1]! >= toTicks) to -= 1;
  return { columns, first: from, end: to };
};

/**
 * What a clip takes of a fragment: for each kind of track the samples that lie one behind another in its data, and
 * the kinds in this order.
 */
export const keptSamples = (
  { movie, columns }: FileScanner,
  { firstSamples, endSamples }: FragmentInfo,
  kinds: readonly TrackKind[],
  sound: SoundLimits | null,
): (KeptSamples | null)[] =>
  kinds.map((kind) => {
    const track = movie?.tracks.findIndex((other) => other.kind === kind) ?? -1;
    if (track < 0) return null;
    const [first, end] = [firstSamples[track]!, endSamples[track]!];
    if (kind === 'video') return { columns: columns[track]!, first, end };
    return sound === null ? null : cutSound(columns[track]!, first, end, sound);
  });
