import { Moved } from '../files/job-result.js';
import { type RecordingSource, withRecording } from '../files/recording-source.js';

export type ReadBytesInput = {
  readonly source: RecordingSource;
  readonly startByte: number;
  readonly endByte: number;
};

/** What one answer may hold: callers ask for no more. */
export const MAX_PIECE_BYTES = 1 << 20;

/** Job: bytes of a recording as they are. */
export const readBytes = ({ source, startByte, endByte }: ReadBytesInput): Moved<Uint8Array<ArrayBuffer>> =>
  withRecording(source, (recording) => {
    if (endByte - startByte > MAX_PIECE_BYTES) throw new RangeError('a piece over its limit');
    const memory = Buffer.from(new ArrayBuffer(endByte - startByte));
    recording.read(memory, startByte);
    return new Moved(new Uint8Array(memory.buffer), [memory.buffer]);
  });
