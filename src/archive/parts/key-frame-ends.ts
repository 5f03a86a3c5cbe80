import { performance } from 'node:perf_hooks';
import { videoIndexOf } from '../files/file-times.js';
import { Moved } from '../files/job-result.js';
import { type RecordingSource, withRecording } from '../files/recording-source.js';

export type KeyFrameEndsInput = {
  readonly source: RecordingSource;
  /** Where parts begin. */
  readonly startBytes: Float64Array;
};

export type KeyFrameEndsOutput = {
  /** Where the keyframe of each part ends, as far as the job came; NaN: bytes from the part's start don't show it. */
  readonly endBytes: Float64Array<ArrayBuffer>;
  /** Where the file's description ends. */
  readonly movieEndBytes: number;
};

/** Each part takes a read: a second of them at a time on a disk with a head. */
const BUDGET_MS = 1_500;

/** Job: where the keyframes of a recording end that its parts begin with. */
export const keyFrameEnds = ({ source, startBytes }: KeyFrameEndsInput): Moved<KeyFrameEndsOutput> =>
  withRecording(source, (recording) => {
    const walk = recording.walk(0, recording.fileBytes);
    const { scanner } = walk;
    const video = videoIndexOf(scanner);
    const endBytes = new Float64Array(startBytes.length);
    const startedMs = performance.now();
    let count = 0;
    while (count < startBytes.length && (count === 0 || performance.now() - startedMs < BUDGET_MS)) {
      scanner.skipTo(startBytes[count]!);
      const first = walk.readFirst()?.firstSamples[video] ?? -1;
      const samples = scanner.columns[video];
      const isKey = samples !== undefined && samples.isKey[first] === 1;
      endBytes[count] = isKey ? samples.offsetBytes[first]! + samples.sizeBytes[first]! : Number.NaN;
      count += 1;
    }
    const found = endBytes.slice(0, count);
    return new Moved({ endBytes: found, movieEndBytes: scanner.movieEndBytes }, [found.buffer]);
  });
