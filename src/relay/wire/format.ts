import { defaultRingOptions } from '../../ring/capacity.js';

/** Of this format. What a version adds to it are types of messages, fields and longer heads, which those before pass over. */
export const VERSION = 1;
/** Those that this box can speak. */
export const MIN_VERSION = 1;

/** What each message is; those that nobody knows are passed over. */
export const messageType = {
  hello: 1,
  welcome: 2,
  description: 3,
  video: 4,
  sound: 5,
  alive: 6,
  seen: 7,
  end: 8,
  ask: 9,
  answer: 10,
  piece: 11,
  detection: 12,
} as const;

export type TextType = 'hello' | 'welcome' | 'description' | 'end' | 'ask' | 'answer' | 'detection';

/** Length of what follows (u32), type (u8). */
export const HEAD_BYTES = 5;
/** Length of itself (u8), flags (u8), sequence (i32), pts, dts, wall time (f64), age (f32). */
export const FRAME_HEAD_BYTES = 34;
/** Until a frame's own bytes begin. */
export const BEFORE_FRAME_BYTES = HEAD_BYTES + FRAME_HEAD_BYTES;

/** Of a frame's head, that of a later version included. */
export const MAX_FRAME_HEAD_BYTES = 255;
/** A description has 8 KB in a ring, and what is seen in a picture is as large at most. */
export const MAX_TEXT_BYTES = 32_768;
/** Of a question, and of what is said in an answer beside its bytes. */
export const MAX_ASKED_BYTES = 131_072;
/** The bytes of an answer come in pieces, so that live pictures have their turn between two of them. */
export const MAX_PIECE_BYTES = 65_536;
export const MAX_SOUND_BYTES = 65_536;
export const MAX_FRAME_BYTES = defaultRingOptions.maxFrameBytes;

/** Of why something ended, or is refused. */
export const MAX_REASON_CHARS = 500;

/** By how many boxes frames may come, the one that connects the camera included. */
export const MAX_PATH = 4;
