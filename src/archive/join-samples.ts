import type { SampleSlice } from '../fmp4/plain-movie.js';
import { SampleColumns } from '../fmp4/sample-columns.js';
import type { ClipTrack, SampleFields } from './read-samples.js';

/** What a clip takes of one file: samples per track, in pieces as they were read. */
export type ClipFile = {
  readonly tracks: readonly ClipTrack[];
  readonly pieces: readonly (readonly SampleFields[])[];
};

const columnsOf = (fields: SampleFields): SampleColumns => Object.assign(new SampleColumns(), fields);

/** The tracks of all the files: those of the first one, and a kind that only later ones have. */
export const clipTracks = (files: readonly Pick<ClipFile, 'tracks'>[]): ClipTrack[] => {
  const tracks: ClipTrack[] = [];
  for (const track of files.flatMap((file) => file.tracks)) {
    if (tracks.every(({ kind }) => kind !== track.kind)) tracks.push(track);
  }
  return tracks;
};

/** Slices for `planPlainMovie`: each file's pictures follow right behind those of the file before. */
export const joinSamples = (files: readonly ClipFile[]): SampleSlice[] => {
  const tracks = clipTracks(files);
  const slices: SampleSlice[] = [];
  let nextDtsTicks: number | null = null;
  for (const [source, file] of files.entries()) {
    const pieces = file.pieces.map((samples) => samples.map(columnsOf));
    const span = videoSpan(file, pieces);
    if (span === null) continue;
    const shiftTicks: number = nextDtsTicks === null ? 0 : nextDtsTicks - span.startTicks;
    const window = { ...span, isFirst: nextDtsTicks === null, isLast: source === files.length - 1 };
    nextDtsTicks = span.endTicks + shiftTicks;
    for (const [track, { kind }] of tracks.entries()) {
      const index = file.tracks.findIndex((other) => other.kind === kind);
      if (index < 0) continue;
      const scale = file.tracks[index]!.timescaleHz / span.timescaleHz;
      for (const piece of pieces) {
        const columns = piece[index]!;
        const cut = kind === 'video' ? { first: 0, end: columns.count } : cutSound(columns, window, scale);
        slices.push({ source, track, columns, ...cut, shiftTicks: Math.round(shiftTicks * scale) });
      }
    }
  }
  return slices;
};

/** From a file's first picture to the end of its last one, by decode time. */
type Span = { readonly startTicks: number; readonly endTicks: number; readonly timescaleHz: number };

const videoSpan = ({ tracks }: ClipFile, pieces: readonly SampleColumns[][]): Span | null => {
  const index = tracks.findIndex(({ kind }) => kind === 'video');
  const pictures = pieces.flatMap((piece) => piece[index] ?? []).filter(({ count }) => count > 0);
  const [first, last] = [pictures[0], pictures.at(-1)];
  if (first === undefined || last === undefined) return null;
  const endTicks = last.dtsTicks[last.count - 1]! + last.durationTicks[last.count - 1]!;
  return { startTicks: first.dtsTicks[0]!, endTicks, timescaleHz: tracks[index]!.timescaleHz };
};

/**
 * The sound that goes with the pictures of a file: what overlapped the next file's would be played before it, and
 * all that follows late. At the clip's start the frame that the first picture falls into stays, and is trimmed.
 */
const cutSound = (
  { count, dtsTicks, durationTicks }: SampleColumns,
  { startTicks, endTicks, isFirst, isLast }: Span & { readonly isFirst: boolean; readonly isLast: boolean },
  scale: number,
): { first: number; end: number } => {
  let first = 0;
  let end = count;
  const isEarly = (at: number): boolean =>
    isFirst ? dtsTicks[at]! + durationTicks[at]! <= startTicks * scale : dtsTicks[at]! < startTicks * scale;
  while (first < end && isEarly(first)) first += 1;
  while (!isLast && first < end && dtsTicks[end - 1]! >= endTicks * scale) end -= 1;
  return { first, end };
};
