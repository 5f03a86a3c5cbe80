import type { VideoCodec } from '../codec/track.js';
import type { SeenObject } from '../objects/seen-object.js';

/** A keyframe in which objects are to be found: parameter sets and one access unit, in Annex B. */
export type DetectJob = {
  readonly codec: VideoCodec;
  /** Of the picture, in pixels. */
  readonly width: number;
  readonly height: number;
  /** Whether decoders hold pictures back until others came: the camera sends B-frames. */
  readonly reorders: boolean;
  readonly annexB: Uint8Array;
};

export type DetectFault = {
  /** The first three are everybody's, whatever the picture. */
  readonly fault: 'model' | 'ffmpeg_missing' | 'engine_lost' | 'undecodable';
  /** For people: no path, nothing secret. */
  readonly detail: string;
};

export type DetectResult = {
  readonly objects: readonly SeenObject[];
  readonly decodeMs: number;
  readonly inferMs: number;
};

export type DetectOutcome = DetectResult | DetectFault;

export type EngineAnswer = DetectOutcome & {
  /** Decoders that were started in the place of others that died. */
  readonly decoderRestarts: number;
};

/** To the process that finds objects, and back: jobs may be done in any order. */
export type ToEngine = DetectJob & { readonly id: number };
export type FromEngine = EngineAnswer & { readonly id: number };
