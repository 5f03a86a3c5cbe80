import { PlainMovie } from '../../src/fmp4/plain-movie.js';
import { scanFile } from './fragmented-file.js';

/** A fragmented file, from which of its samples on, and what is added to its times: each a number a track. */
export type ExportPiece = {
  readonly file: Buffer;
  readonly from?: readonly number[];
  readonly shiftTicks?: readonly number[];
};

/** Fragmented files of the same format as an ordinary MP4, a chunk a fragment and track. */
export const exportOf = (pieces: readonly ExportPiece[], startMs: number | null = null) => {
  const movie = new PlainMovie();
  const data: Buffer[] = [];
  for (const [index, { file, from = [], shiftTicks = [] }] of pieces.entries()) {
    const { scanner } = scanFile(file);
    if (index === 0) for (const track of scanner.movie!.tracks) movie.addTrack(track);
    for (const { firstSamples, endSamples } of scanner.fragments) {
      for (const [track, columns] of scanner.columns.entries()) {
        const [first, end] = [Math.max(firstSamples[track]!, from[track] ?? 0), endSamples[track]!];
        movie.addChunk(track, columns, first, end, shiftTicks[track] ?? 0);
        for (let at = first; at < end; at += 1) {
          const offset = columns.offsetBytes[at]!;
          data.push(file.subarray(offset, offset + columns.sizeBytes[at]!));
        }
      }
    }
  }
  const { head, contentBytes, durationMs } = movie.finish(startMs);
  return { bytes: Buffer.concat([head, ...data]), contentBytes, durationMs };
};

/** All of a fragmented file; its first picture is at 0. */
export const exportWhole = (file: Buffer): Buffer => exportOf([{ file, shiftTicks: shiftsOf(file) }]).bytes;

/** What brings a file's first picture to 0, and its sound along. */
export const shiftsOf = (file: Buffer): number[] => {
  const { movie, columns } = scanFile(file).scanner;
  const [video] = columns;
  const ptsTicks = video!.dtsTicks[0]! + video!.compositionTicks[0]!;
  const seconds = ptsTicks / movie!.tracks[0]!.timescaleHz;
  return movie!.tracks.map(({ timescaleHz }) => -Math.round(seconds * timescaleHz));
};
