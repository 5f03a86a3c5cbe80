import type { VideoCodec } from '../codec/track.js';

/** A picture to be made: of parameter sets and one access unit, in Annex B. */
export type DecodeJob = {
  readonly codec: VideoCodec;
  /** At most so wide; null: as wide as it is. */
  readonly maxWidth: number | null;
  readonly annexB: Uint8Array;
  /** To be drawn around something: from top left, as fractions of the picture. */
  readonly box?: readonly [x: number, y: number, width: number, height: number];
};

/** Why none was made; `detail` is for the log. */
export type DecodeFault = {
  readonly fault: 'missing' | 'unstartable' | 'too_slow' | 'undecodable';
  readonly detail: string;
};

export type DecodeOutcome = { readonly jpeg: Uint8Array } | DecodeFault;

/** To the process that runs ffmpeg, and back: jobs may be done in any order. */
export type ToDecoder = DecodeJob & { readonly id: number };
export type FromDecoder = DecodeOutcome & { readonly id: number };
