import { toAnnexB } from '../../codec/annex-b.js';
import { FRAME_HEAD_BYTES, type FrameHead, writeFrameHead } from '../../wire/frame-head.js';
import { unreadable } from '../files/recording-source.js';

/** Before each message. */
export const LENGTH_BYTES = 4;
/** Recorders take no frame over 5 MB. */
const MAX_FRAME_BYTES = 16 << 20;

/** A message behind its length, as it is in an answer. */
export const withLength = (message: Uint8Array): Buffer => {
  const framed = Buffer.allocUnsafeSlow(LENGTH_BYTES + message.length);
  framed.writeUInt32BE(message.length);
  framed.set(message, LENGTH_BYTES);
  return framed;
};

/** Collects the messages of a job, each behind its length, in one piece of memory. */
export class FrameWriter {
  #memory: Buffer<ArrayBuffer>;
  #filledBytes = 0;

  constructor(usualBytes: number) {
    this.#memory = Buffer.from(new ArrayBuffer(usualBytes));
  }

  get filledBytes(): number {
    return this.#filledBytes;
  }

  addMessage(message: Uint8Array): void {
    this.#require(LENGTH_BYTES + message.length);
    this.#memory.writeUInt32BE(message.length, this.#filledBytes);
    this.#memory.set(message, this.#filledBytes + LENGTH_BYTES);
    this.#filledBytes += LENGTH_BYTES + message.length;
  }

  /**
   * Adds a frame of so many bytes, which `read` puts where they belong. NAL units behind lengths become Annex B; false:
   * they are none, and the frame is left out.
   */
  addFrame(head: FrameHead, sizeBytes: number, isVideo: boolean, read: (target: Buffer) => void): boolean {
    if (sizeBytes > MAX_FRAME_BYTES) throw unreadable(`a frame of ${sizeBytes} bytes is no camera's`);
    this.#require(LENGTH_BYTES + FRAME_HEAD_BYTES + sizeBytes);
    const target = this.#memory;
    const headAt = target.writeUInt32BE(FRAME_HEAD_BYTES + sizeBytes, this.#filledBytes);
    const frameAt = writeFrameHead(target, headAt, head);
    const end = frameAt + sizeBytes;
    read(target.subarray(frameAt, end));
    if (isVideo && !toAnnexB(target, frameAt, end)) return false;
    this.#filledBytes = end;
    return true;
  }

  finish(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#memory.buffer, 0, this.#filledBytes);
  }

  #require(moreBytes: number): void {
    const wantedBytes = this.#filledBytes + moreBytes;
    if (wantedBytes <= this.#memory.length) return;
    const larger = Buffer.from(new ArrayBuffer(Math.max(wantedBytes, this.#memory.length * 2)));
    this.#memory.copy(larger, 0, 0, this.#filledBytes);
    this.#memory = larger;
  }
}
