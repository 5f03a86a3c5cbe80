import { planPlainMovie } from '../fmp4/plain-movie.js';
import { Moved } from './job-result.js';
import { type ClipFile, clipTracks, joinSamples } from './join-samples.js';

export type PlanClipInput = { readonly files: readonly ClipFile[] };

/** The head of an ordinary MP4, and the ranges to copy behind it: bytes of the file `rangeFile[i]`. */
export type PlanClipOutput = {
  readonly head: Uint8Array<ArrayBuffer>;
  readonly rangeFile: Uint32Array<ArrayBuffer>;
  readonly rangeOffset: Float64Array<ArrayBuffer>;
  readonly rangeBytes: Float64Array<ArrayBuffer>;
  readonly contentBytes: number;
  readonly durationMs: number;
};

/** Job: an ordinary MP4 of the samples of some files. It reads no disk, but takes longer than the main thread has. */
export const planClip = ({ files }: PlanClipInput): Moved<PlanClipOutput> => {
  const tracks = clipTracks(files).map((track, index) => ({
    ...track,
    trackId: index + 1,
    sampleEntry: Buffer.from(track.sampleEntry),
  }));
  const plan = planPlainMovie(tracks, joinSamples(files));
  const head = new Uint8Array(plan.head);
  const rangeFile = Uint32Array.from(plan.ranges, ({ source }) => source);
  const rangeOffset = Float64Array.from(plan.ranges, ({ offset }) => offset);
  const rangeBytes = Float64Array.from(plan.ranges, ({ lengthBytes }) => lengthBytes);
  const { contentBytes, durationMs } = plan;
  return new Moved({ head, rangeFile, rangeOffset, rangeBytes, contentBytes, durationMs }, [
    head.buffer,
    rangeFile.buffer,
    rangeOffset.buffer,
    rangeBytes.buffer,
  ]);
};
