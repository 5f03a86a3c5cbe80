import { planPlainMovie, type SampleSlice } from '../../src/fmp4/plain-movie.js';
import { scanFile } from './fragmented-file.js';

/** All of a fragmented file as an ordinary MP4. */
export const exportWhole = (file: Buffer): Buffer => {
  const { scanner } = scanFile(file);
  const slices: SampleSlice[] = scanner.columns.map((columns, track) => ({
    source: 0,
    track,
    columns,
    first: 0,
    end: columns.count,
    shiftTicks: 0,
  }));
  const { head, ranges } = planPlainMovie(scanner.movie!.tracks, slices);
  return Buffer.concat([
    head,
    ...ranges.map(({ offset, lengthBytes }) => file.subarray(offset, offset + lengthBytes)),
  ]);
};
