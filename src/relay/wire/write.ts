import type { MonotonicMs } from '../../base/clock.js';
import { BEFORE_FRAME_BYTES, FRAME_HEAD_BYTES, HEAD_BYTES, messageType, type TextType } from './format.js';

/** What is said of a frame beside its bytes. */
export type FrameFacts = {
  readonly isVideo: boolean;
  readonly flags: number;
  readonly sequence: number;
  readonly ptsTicks: number;
  readonly dtsTicks: number;
  readonly wallMs: number;
  readonly arrivalMs: MonotonicMs;
  readonly lengthBytes: number;
};

const writeHead = (target: Buffer, at: number, type: number, bodyBytes: number): number => {
  target.writeUInt32BE(bodyBytes + 1, at);
  target[at + 4] = type;
  return at + HEAD_BYTES;
};

/** Writes all that comes before a frame's bytes; returns where they go. `flags`: those that it has here. */
export const writeFrameHead = (
  target: Buffer,
  start: number,
  frame: FrameFacts,
  flags: number,
  nowMs: MonotonicMs,
): number => {
  const type = frame.isVideo ? messageType.video : messageType.sound;
  const at = writeHead(target, start, type, FRAME_HEAD_BYTES + frame.lengthBytes);
  target[at] = FRAME_HEAD_BYTES;
  target[at + 1] = flags;
  target.writeInt32BE(frame.sequence, at + 2);
  target.writeDoubleBE(frame.ptsTicks, at + 6);
  target.writeDoubleBE(frame.dtsTicks, at + 14);
  target.writeDoubleBE(frame.wallMs, at + 22);
  target.writeFloatBE(nowMs - frame.arrivalMs, at + 30);
  return start + BEFORE_FRAME_BYTES;
};

/** A message in JSON: rare ones. */
export const textMessage = (type: TextType, content: unknown): Buffer => {
  const text = Buffer.from(JSON.stringify(content));
  const message = Buffer.allocUnsafe(HEAD_BYTES + text.length);
  text.copy(message, writeHead(message, 0, messageType[type], text.length));
  return message;
};

/** What comes before the bytes of a piece. */
export const pieceHead = (pieceBytes: number): Buffer => {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  writeHead(head, 0, messageType.piece, pieceBytes);
  return head;
};

/** Nothing came for a second, and the link is well. */
export const aliveMessage = (): Buffer => {
  const message = Buffer.alloc(HEAD_BYTES);
  writeHead(message, 0, messageType.alive, 0);
  return message;
};

const SEEN_BYTES = HEAD_BYTES + 8;

/** How many bytes of the link were read, in a message that is filled in again. */
export class SeenMessage {
  readonly bytes = Buffer.alloc(SEEN_BYTES);

  constructor() {
    writeHead(this.bytes, 0, messageType.seen, 8);
  }

  fill(seenBytes: number): Buffer {
    this.bytes.writeDoubleBE(seenBytes, HEAD_BYTES);
    return this.bytes;
  }
}
