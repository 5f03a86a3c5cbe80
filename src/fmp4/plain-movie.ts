import { ascii, u32, u64 } from './box-bytes.js';
import { ftyp, moov, mvhd } from './movie-boxes.js';
import type { MovieTrack } from './movie-reader.js';
import { PlainTrack } from './plain-track.js';
import type { SampleColumns } from './sample-columns.js';

/** Samples [first, end) of one track that a file holds. */
export type SampleSlice = {
  /** Number of the file, in the order of time. */
  readonly source: number;
  /** Index of the track. */
  readonly track: number;
  readonly columns: SampleColumns;
  readonly first: number;
  readonly end: number;
  /** Added to the file's times, so that those of several files join. */
  readonly shiftTicks: number;
};

/** Bytes to be copied from a file. */
export type SourceRange = { readonly source: number; readonly offset: number; lengthBytes: number };

/** An ordinary MP4: `head`, then the ranges, one behind another. */
export type PlainMovie = {
  readonly head: Buffer;
  readonly ranges: readonly SourceRange[];
  /** Of the whole MP4. */
  readonly contentBytes: number;
  readonly durationMs: number;
};

const MOVIE_TIMESCALE_HZ = 90_000;
/** Beyond this, offsets and mdat's size may not fit 32 bits any more. */
const MAX_BRIEF_BYTES = 0xf000_0000;

/** The samples of one file in the order of their bytes, each to the track it is of. Returns the data's new length. */
const layOut = (
  slices: readonly SampleSlice[],
  tracks: readonly PlainTrack[],
  ranges: SourceRange[],
  dataBytes: number,
): number => {
  const next = slices.map((slice) => slice.first);
  let written = dataBytes;
  let lastTrack = -1;
  for (;;) {
    let chosen = -1;
    let offset = Number.POSITIVE_INFINITY;
    for (let index = 0; index < slices.length; index += 1) {
      const { columns, end } = slices[index]!;
      const at = next[index]!;
      if (at < end && columns.offsetBytes[at]! < offset) {
        chosen = index;
        offset = columns.offsetBytes[at]!;
      }
    }
    if (chosen < 0) return written;
    const { source, track, columns, shiftTicks } = slices[chosen]!;
    const at = next[chosen]!;
    next[chosen] = at + 1;
    tracks[track]!.add(columns, at, shiftTicks, written, track === lastTrack);
    lastTrack = track;
    written += appendRange(ranges, source, offset, columns.sizeBytes[at]!);
  }
};

const appendRange = (ranges: SourceRange[], source: number, offset: number, lengthBytes: number): number => {
  const last = ranges.at(-1);
  if (last !== undefined && last.source === source && last.offset + last.lengthBytes === offset) {
    last.lengthBytes += lengthBytes;
  } else if (lengthBytes > 0) {
    ranges.push({ source, offset, lengthBytes });
  }
  return lengthBytes;
};

/**
 * Plans an ordinary MP4, moov first, of samples of fragmented files whose sample entries are the same. The first
 * video frame (the first sample, where there is no video) is at time 0, by an edit list where that takes one.
 */
export const planPlainMovie = (
  movieTracks: readonly Omit<MovieTrack, 'defaults'>[],
  slices: readonly SampleSlice[],
): PlainMovie => {
  const tracks = movieTracks.map((track) => new PlainTrack(track, MOVIE_TIMESCALE_HZ));
  const ranges: SourceRange[] = [];
  let dataBytes = 0;
  for (const source of [...new Set(slices.map((slice) => slice.source))].sort((a, b) => a - b)) {
    const ofSource = slices.filter((slice) => slice.source === source);
    dataBytes = layOut(ofSource, tracks, ranges, dataBytes);
  }
  const used = tracks.filter((track) => track.sampleCount > 0);
  const starts = used.filter((track) => track.kind === 'video' || used.every(({ kind }) => kind === 'audio'));
  const startSeconds = Math.min(...starts.map((track) => track.startSeconds));
  const durationTicks = Math.max(0, ...used.map((track) => track.movieTicks(startSeconds)));
  const isLarge = dataBytes > MAX_BRIEF_BYTES;
  const nextTrackId = Math.max(0, ...used.map((track) => track.trackId)) + 1;
  const buildHead = (dataStart: number): Buffer =>
    Buffer.concat([
      ftyp('isom', ['isom', 'iso4', 'mp41']),
      moov(
        mvhd(MOVIE_TIMESCALE_HZ, durationTicks, nextTrackId),
        ...used.map((track) => track.trak(startSeconds, dataStart, isLarge)),
      ),
      ...(isLarge ? [u32(1), ascii('mdat'), u64(dataBytes + 16)] : [u32(dataBytes + 8), ascii('mdat')]),
    ]);
  // Offsets don't change how long it is: the first one tells where the data begins.
  const head = buildHead(buildHead(0).length);
  return {
    head,
    ranges,
    contentBytes: head.length + dataBytes,
    durationMs: (durationTicks * 1000) / MOVIE_TIMESCALE_HZ,
  };
};
