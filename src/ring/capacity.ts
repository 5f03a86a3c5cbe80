import { AppError } from '../base/errors.js';
import { GRAIN_BYTES, type RingErrorCode } from './layout.js';

export type RingOptions = {
  /** Data area and slots to begin with. */
  readonly dataBytes: number;
  readonly slotCount: number;
  /** How far they may grow; beyond it old frames of the same GOP are overwritten. */
  readonly maxDataBytes: number;
  readonly maxSlotCount: number;
  /** Larger frames are refused while they are assembled. */
  readonly maxFrameBytes: number;
  /** Where sequence numbers and virtual positions begin; both wrap at 2^32. */
  readonly firstSequence: number;
  readonly firstPosition: number;
};

export const defaultRingOptions: RingOptions = {
  dataBytes: 256 << 10,
  slotCount: 512,
  maxDataBytes: 64 << 20,
  maxSlotCount: 1 << 14,
  maxFrameBytes: 5 << 20,
  firstSequence: 0,
  firstPosition: 0,
};

const isPowerOfTwo = (value: number): boolean => value > 1 && (value & (value - 1)) === 0;

/** Fills in what isn't given, and refuses what can't work. */
export const ringOptions = (given: Partial<RingOptions>): RingOptions => {
  const options = { ...defaultRingOptions, ...given };
  const isUsable =
    isPowerOfTwo(options.slotCount) &&
    isPowerOfTwo(options.maxSlotCount) &&
    options.maxSlotCount >= options.slotCount &&
    options.dataBytes >= 2 * GRAIN_BYTES &&
    options.dataBytes % GRAIN_BYTES === 0 &&
    options.maxDataBytes % GRAIN_BYTES === 0 &&
    options.maxDataBytes >= options.dataBytes &&
    options.maxDataBytes <= 1 << 30 &&
    options.maxFrameBytes > 0 &&
    options.maxFrameBytes + 2 * GRAIN_BYTES <= options.maxDataBytes;
  if (!isUsable) {
    throw new AppError<RingErrorCode>('ring_options_invalid', 'no ring can be made with these sizes', {
      details: options,
    });
  }
  return options;
};

const upToGrain = (bytes: number): number => Math.ceil(bytes / GRAIN_BYTES) * GRAIN_BYTES;
const upToPowerOfTwo = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(2, count)));

const KEPT_BESIDES_GOP_MS = 1000;
const MARGIN = 1.1;
/** No camera sends frames faster than this; a burst does, and says nothing of the bitrate. */
const LEAST_FRAME_MS = 5;

/** Measures GOPs and says what ring they need: bitrate x (GOP + 1 s), and a tenth. */
export class GopMeter {
  #isCounting = false;
  #bytes = 0;
  #frames = 0;
  #startArrivalMs = 0;
  #startDtsTicks = 0;
  /** Of the last whole GOP. */
  gopBytes = 0;
  gopFrames = 0;
  gopDurationMs = 0;

  /** A whole GOP has been seen: before that nobody knows how much room one takes. */
  get hasMeasured(): boolean {
    return this.gopDurationMs > 0;
  }

  /** A frame of either track; video keys go to `key`. */
  count(lengthBytes: number): void {
    this.#bytes += lengthBytes;
    this.#frames += 1;
  }

  /** A keyframe: ends a GOP, and begins one. False: the one that ended was not measured. */
  key(lengthBytes: number, dtsTicks: number, arrivalMs: number, isDiscontinuity: boolean): boolean {
    const isMeasured = this.#isCounting && !isDiscontinuity;
    if (isMeasured) {
      this.gopBytes = this.#bytes;
      this.gopFrames = this.#frames;
      // A camera may send its first GOPs from memory, all at once: then media time is the longer one.
      const mediaMs = (dtsTicks - this.#startDtsTicks) / 90;
      this.gopDurationMs = Math.max(this.#frames * LEAST_FRAME_MS, arrivalMs - this.#startArrivalMs, mediaMs);
    }
    this.#isCounting = true;
    this.#bytes = lengthBytes;
    this.#frames = 1;
    this.#startDtsTicks = dtsTicks;
    this.#startArrivalMs = arrivalMs;
    return isMeasured;
  }

  wantedDataBytes(): number {
    return upToGrain(this.gopBytes * this.#stretch() + 2 * GRAIN_BYTES);
  }

  wantedSlotCount(): number {
    return upToPowerOfTwo(this.gopFrames * this.#stretch() + 2);
  }

  #stretch(): number {
    return this.gopDurationMs === 0 ? 0 : (1 + KEPT_BESIDES_GOP_MS / this.gopDurationMs) * MARGIN;
  }
}

/** The data area that holds `usedBytes` of a GOP that is still growing. */
export const roomFor = (usedBytes: number): number => upToGrain(usedBytes * 1.25 + 2 * GRAIN_BYTES);
