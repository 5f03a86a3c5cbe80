import { FrameStamp } from './frame-stamp.js';

const FIRST_BYTES = 4096;
const MAX_BYTES = 65_536;
const MAX_FRAMES = 128;

/** Where a staged frame lies, and what its writer said of it. */
export type StagedFrame = { start: number; end: number; readonly stamp: FrameStamp };

/** Where audio waits while a video frame is open in the ring: at most 64 KB, which is seconds of it. */
export class AudioStage {
  bytes = Buffer.alloc(0);
  readonly #frames: StagedFrame[] = [];
  #count = 0;
  #usedBytes = 0;

  get count(): number {
    return this.#count;
  }

  /** False: it is full, and the frame is lost. */
  push(source: Buffer, start: number, end: number, stamp: Readonly<FrameStamp>): boolean {
    const usedBytes = this.#usedBytes + end - start;
    if (usedBytes > MAX_BYTES || this.#count === MAX_FRAMES) return false;
    if (usedBytes > this.bytes.length) this.#grow(usedBytes);
    source.copy(this.bytes, this.#usedBytes, start, end);
    const frame = this.#frame();
    frame.start = this.#usedBytes;
    frame.end = usedBytes;
    frame.stamp.ptsTicks = stamp.ptsTicks;
    frame.stamp.wallMs = stamp.wallMs;
    frame.stamp.arrivalMs = stamp.arrivalMs;
    frame.stamp.flags = stamp.flags;
    this.#count += 1;
    this.#usedBytes = usedBytes;
    return true;
  }

  at(index: number): StagedFrame {
    return this.#frames[index]!;
  }

  clear(): void {
    this.#count = 0;
    this.#usedBytes = 0;
  }

  /** Records are made once and used again. */
  #frame(): StagedFrame {
    const known = this.#frames[this.#count];
    if (known !== undefined) return known;
    const made = { start: 0, end: 0, stamp: new FrameStamp() };
    this.#frames.push(made);
    return made;
  }

  #grow(usedBytes: number): void {
    const bytes = Buffer.alloc(Math.min(MAX_BYTES, Math.max(FIRST_BYTES, usedBytes * 2)));
    this.bytes.copy(bytes);
    this.bytes = bytes;
  }
}
