import type { FileScanner, FragmentInfo, FragmentWall } from '../../fmp4/file-scanner.js';

/** Ticks of the video track, as times of composition in the file. */
export type TickSpan = { readonly firstTicks: number; readonly endTicks: number };

/** Index of the video in a movie's tracks; -1: it has none. */
export const videoIndexOf = (scanner: FileScanner): number =>
  scanner.movie?.tracks.findIndex((track) => track.kind === 'video') ?? -1;

/** From the first picture of a fragment to the end of its last one; null: it has no picture. */
export const videoSpanOf = (scanner: FileScanner, fragment: FragmentInfo): TickSpan | null => {
  const video = videoIndexOf(scanner);
  const columns = scanner.columns[video];
  const [first, end] = [fragment.firstSamples[video] ?? 0, fragment.endSamples[video] ?? 0];
  if (columns === undefined || first >= end) return null;
  let firstTicks = Number.POSITIVE_INFINITY;
  let endTicks = Number.NEGATIVE_INFINITY;
  for (let index = first; index < end; index += 1) {
    const shownTicks = columns.dtsTicks[index]! + columns.compositionTicks[index]!;
    firstTicks = Math.min(firstTicks, shownTicks);
    endTicks = Math.max(endTicks, shownTicks + columns.durationTicks[index]!);
  }
  return { firstTicks, endTicks };
};

/** What the wall clock may run fast or slow beside media time within a file. */
const MAX_SLEWED_MS = 1_000;

/**
 * When a file ends, by its start and its length. The wall clock at its end says it more exactly, as long as it wasn't
 * set meanwhile; null: it isn't known.
 */
export const endMsOf = (byLengthMs: number, byClockMs: number | null): number =>
  byClockMs !== null && Math.abs(byClockMs - byLengthMs) <= MAX_SLEWED_MS ? byClockMs : byLengthMs;

/** Wall time of a moment of the video, by what one fragment's prft says; null: it speaks of another track. */
export const wallMsAt = (scanner: FileScanner, wall: FragmentWall, ticks: number): number | null => {
  const track = scanner.movie?.tracks[videoIndexOf(scanner)];
  if (track === undefined || wall.wallTrackId !== track.trackId) return null;
  return wall.wallMs + ((ticks - wall.wallTicks) * 1000) / track.timescaleHz;
};
