import type { StreamInfo } from '../../codec/track.js';

/** Fields of one sample in `Part.samples`. */
export const sampleField = { start: 0, end: 1, dts: 2, pts: 3, kind: 4 } as const;
export const SAMPLE_FIELDS = 5;
/** Values of `sampleField.kind`. */
export const sampleKind = { picture: 0, key: 1, audio: 2 } as const;

/** An fMP4 head; the same bytes have the same version. */
export type InitSegment = { readonly version: number; readonly bytes: Buffer };

/** What a decoder needs for a segment, in the forms of both outputs. */
export type Head = { readonly info: StreamInfo; readonly init: InitSegment };

/** The frames of a part of a second: one moof and mdat, and where each frame lies in it. */
export type Part = {
  readonly bytes: Buffer;
  /** `SAMPLE_FIELDS` numbers for each frame, in the order in which the camera sent them. */
  readonly samples: Float64Array;
  /** From the first picture's decoding to that of the next part's. */
  readonly durationTicks: number;
  readonly hasKey: boolean;
};

export type SegmentStart = {
  readonly head: Head;
  /** Whether it begins with a keyframe, as it does wherever the camera sends them often enough. */
  readonly isKey: boolean;
  /** The first picture's. */
  readonly ptsTicks: number;
  readonly dtsTicks: number;
  readonly wallMs: number;
  readonly isDiscontinuity: boolean;
};

/** A row of parts from one keyframe to another. It grows until `durationTicks` is set. */
export class Segment {
  readonly number: number;
  /** Discontinuities since the service started, the one before this segment included. */
  readonly discontinuities: number;
  readonly start: SegmentStart;
  readonly parts: Part[] = [];
  /** Null while it grows. */
  durationTicks: number | null = null;
  lengthBytes = 0;
  /** The same as MPEG-TS, while somebody holds it. */
  ts: WeakRef<Buffer> | null = null;

  constructor(number: number, discontinuities: number, start: SegmentStart) {
    this.number = number;
    this.discontinuities = discontinuities;
    this.start = start;
  }
}
