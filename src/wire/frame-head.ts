import { writeMicroseconds } from './microseconds.js';

const TYPE = 0x12;
/** Of a frame message, before the access unit or the frame of sound. */
export const FRAME_HEAD_BYTES = 32;

/** What a frame is: bits of `FrameHead.flags`. */
export const FRAME_FLAG = {
  /** Decoding can begin here. */
  key: 1,
  /** The source broke off before: nothing is missing that the index would tell of, but time went on. */
  brokeOff: 2,
} as const;

const MAX_OFFSET_US = 0x7fff_ffff;

/** What a message says of its frame. Whoever writes many keeps one and fills it in for each. */
export class FrameHead {
  /** Bits of `FRAME_FLAG`. */
  flags = 0;
  stream = 0;
  /** Of the stream's frames, modulo 2^32: a jump is a loss. */
  index = 0;
  // Not 0: V8 would take the times for small integers, and make the record over with the first that isn't one.
  /** How much later than decoded it is shown. */
  compositionUs = Number.NaN;
  decodeUs = Number.NaN;
  wallUs = Number.NaN;
}

/** Writes all of a frame message but the frame; returns where that belongs. */
export const writeFrameHead = (target: Buffer, at: number, head: FrameHead): number => {
  target[at] = TYPE;
  target[at + 1] = head.flags;
  target.writeUInt16BE(0, at + 2);
  target.writeUInt32BE(head.stream, at + 4);
  target.writeUInt32BE(head.index >>> 0, at + 8);
  const offsetUs = Math.round(head.compositionUs) || 0;
  target.writeInt32BE(Math.min(Math.max(offsetUs, -MAX_OFFSET_US), MAX_OFFSET_US), at + 12);
  const wallAt = writeMicroseconds(target, head.decodeUs, at + 16);
  return writeMicroseconds(target, head.wallUs, wallAt);
};
