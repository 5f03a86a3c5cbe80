import { PlainMovie } from '../../fmp4/plain-movie.js';
import { Moved } from '../files/job-result.js';
import type { SoundLimits, TrackKind } from './clip-layout.js';
import { type ClipState, kindsOf } from './collect-clip.js';

export type FinishClipInput = {
  readonly state: ClipState;
  /** What the wall clock showed at the first picture. */
  readonly startMs: number;
};

/** An MP4 that is made while it is read: its head, and the fragments whose samples come behind it. */
export type ClipPlan = {
  readonly head: Uint8Array<ArrayBuffer>;
  /** Of each fragment: its file's number, where its prft or moof is, and where its samples begin in the clip. */
  readonly fragmentFile: Uint32Array<ArrayBuffer>;
  readonly fragmentOffset: Float64Array<ArrayBuffer>;
  readonly fragmentStart: Float64Array<ArrayBuffer>;
  /** Of each file, what of its sound is taken. */
  readonly sounds: readonly (SoundLimits | null)[];
  /** In which the samples of a fragment follow each other. */
  readonly kinds: readonly TrackKind[];
  readonly contentBytes: number;
  readonly durationMs: number;
};

/** Job: the plan of all that was collected. It reads no disk, but takes longer than the main thread has. */
export const finishClip = ({ state, startMs }: FinishClipInput): Moved<ClipPlan> => {
  const { head, contentBytes, durationMs } = new PlainMovie(state.movie).finish(startMs);
  const { count } = state.fragmentBytes;
  const fragmentFile = state.fragmentFile.values.slice(0, count);
  const fragmentOffset = state.fragmentOffset.values.slice(0, count);
  const fragmentStart = new Float64Array(count);
  let at = head.length;
  for (let fragment = 0; fragment < count; fragment += 1) {
    fragmentStart[fragment] = at;
    at += state.fragmentBytes.values[fragment]!;
  }
  const sounds = state.files.map(({ sound }) => sound);
  const plan = { head, fragmentFile, fragmentOffset, fragmentStart, sounds, kinds: kindsOf(state) };
  const memory = [head.buffer, fragmentFile.buffer, fragmentOffset.buffer, fragmentStart.buffer];
  return new Moved({ ...plan, contentBytes, durationMs }, memory);
};
