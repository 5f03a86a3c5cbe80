import { ADTS_FRAME_SAMPLES, ADTS_HEADER_BYTES, MAX_ADTS_BODY_BYTES, setAdtsLength } from './adts-header.js';
import { toStreamTicks } from './timestamp.js';

/** Room for many common frames and for two of the largest. */
const CAPACITY_BYTES = 2 * (MAX_ADTS_BODY_BYTES + ADTS_HEADER_BYTES);
/** Longer than this audio never waits for company: the clock is only a little behind the frames. */
export const MAX_STAGE_TICKS = 9_000;
/** A frame this far from where its predecessors end begins a PES of its own, which says its time. */
const MAX_DRIFT_TICKS = 90;

/**
 * ADTS frames that will share a PES. They are copied here because a frame of 100 to 300 bytes in packets of its
 * own would be half stuffing, and views of a ring can't wait for those that follow.
 */
export class AudioStage {
  readonly bytes = Buffer.alloc(CAPACITY_BYTES);
  lengthBytes = 0;
  /** Time of the first frame, in stream ticks. */
  firstTicks = 0;
  readonly #header: Buffer;
  readonly #clockRateHz: number;
  readonly #frameTicks: number;
  #frames = 0;
  #lastBytes = 0;

  constructor(header: Buffer, clockRateHz: number, sampleRateHz: number) {
    this.#header = header;
    this.#clockRateHz = clockRateHz;
    this.#frameTicks = (ADTS_FRAME_SAMPLES * 90_000) / sampleRateHz;
  }

  get isEmpty(): boolean {
    return this.#frames === 0;
  }

  /** Whether what is staged has to go before this frame can come. */
  mustFlushBefore(bodyBytes: number, ptsTicks: number): boolean {
    if (this.isEmpty) return false;
    const ticks = toStreamTicks(ptsTicks, this.#clockRateHz);
    const expectedTicks = this.firstTicks + this.#frames * this.#frameTicks;
    return (
      Math.abs(ticks - expectedTicks) > MAX_DRIFT_TICKS ||
      ticks - this.firstTicks >= MAX_STAGE_TICKS ||
      this.lengthBytes + bodyBytes + ADTS_HEADER_BYTES > CAPACITY_BYTES
    );
  }

  /** Takes a frame of at most `MAX_ADTS_BODY_BYTES`. */
  add(source: Buffer, start: number, end: number, ptsTicks: number): void {
    const at = this.lengthBytes;
    if (this.isEmpty) this.firstTicks = toStreamTicks(ptsTicks, this.#clockRateHz);
    this.#header.copy(this.bytes, at);
    setAdtsLength(this.bytes, at, end - start);
    source.copy(this.bytes, at + ADTS_HEADER_BYTES, start, end);
    this.#lastBytes = end - start + ADTS_HEADER_BYTES;
    this.lengthBytes += this.#lastBytes;
    this.#frames += 1;
  }

  /** Takes the last frame back, once. */
  removeLast(): void {
    this.lengthBytes -= this.#lastBytes;
    this.#lastBytes = 0;
    this.#frames -= 1;
  }

  clear(): void {
    this.lengthBytes = 0;
    this.#frames = 0;
  }
}
