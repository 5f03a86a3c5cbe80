import { Moved } from './job-result.js';
import { type RecordingSource, withRecording } from './recording-source.js';

export type ReadRangesInput = {
  readonly source: RecordingSource;
  readonly offsets: Float64Array;
  readonly lengths: Float64Array;
};

/** What one answer may hold: callers ask for no more. */
export const MAX_CHUNK_BYTES = 1 << 20;

/** Job: ranges of one recording, one behind another. */
export const readRanges = ({ source, offsets, lengths }: ReadRangesInput): Moved<Uint8Array<ArrayBuffer>> =>
  withRecording(source, (recording) => {
    const totalBytes = lengths.reduce((sum, length) => sum + length, 0);
    if (totalBytes > MAX_CHUNK_BYTES) throw new RangeError('a chunk over its limit');
    const memory = new Uint8Array(new ArrayBuffer(totalBytes));
    const target = Buffer.from(memory.buffer);
    let at = 0;
    for (let index = 0; index < offsets.length; index += 1) {
      const end = at + lengths[index]!;
      recording.read(target.subarray(at, end), offsets[index]!);
      at = end;
    }
    return new Moved(memory, [memory.buffer]);
  });
