import { toAnnexB } from '../../codec/annex-b.js';
import type { RingReader } from '../../ring/reader.js';
import { FRAME_HEAD_BYTES, type FrameHead, writeFrameHead } from '../../wire/frame-head.js';
import { BINARY, headBytes, writeHead } from '../socket-frame.js';
import type { MessageMemory } from './message-memory.js';

/** Makes messages out of frames: the last one made lies in `bytes`, from `start` to `end`. */
export class FrameMessages {
  start = 0;
  end = 0;
  /** Where it lies: the memory may have given other room since. */
  bytes: Buffer;
  /** Of the message alone, without the frame of RFC 6455 around it. */
  payloadBytes = 0;
  readonly memory: MessageMemory;

  constructor(memory: MessageMemory) {
    this.memory = memory;
    this.bytes = memory.bytes;
  }

  /** The reader's current frame. False: it was overwritten meanwhile, or is no frame. */
  make(reader: RingReader, head: FrameHead): boolean {
    const { memory } = this;
    this.payloadBytes = FRAME_HEAD_BYTES + reader.lengthBytes;
    const totalBytes = headBytes(this.payloadBytes) + this.payloadBytes;
    this.start = memory.take(totalBytes);
    this.end = this.start + totalBytes;
    const { bytes } = memory;
    this.bytes = bytes;
    const at = writeHead(bytes, this.start, BINARY, this.payloadBytes);
    writeFrameHead(bytes, at, head);
    const start = at + FRAME_HEAD_BYTES;
    if (!reader.copyTo(bytes, start)) return false;
    return reader.isAudio || toAnnexB(bytes, start, this.end);
  }

  /** The message just made is of L16, whose higher bytes come first: decoders of pages want the lower ones first. */
  swapSamples(): void {
    const { bytes, end, payloadBytes } = this;
    const start = end - payloadBytes + FRAME_HEAD_BYTES;
    bytes.subarray(start, end - ((end - start) % 2)).swap16();
  }
}

/** A whole message that is kept, and how much of it is payload. */
export type KeptMessage = { readonly bytes: Buffer; readonly payloadBytes: number };

/** A message in its frame. */
export const keptMessage = (payload: Buffer): KeptMessage => {
  const bytes = Buffer.allocUnsafeSlow(headBytes(payload.length) + payload.length);
  payload.copy(bytes, writeHead(bytes, 0, BINARY, payload.length));
  return { bytes, payloadBytes: payload.length };
};
