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

/** Down to this no ring is made smaller for the sake of others: a second of 8 Mbit/s. */
export const GUARANTEED_BYTES = 1 << 20;

/** A ring that is larger than it may be by less than this is left as it is: each change copies what it holds. */
export const TRIM_SHARE = 1 / 8;

export const upToGrain = (bytes: number): number => Math.ceil(bytes / GRAIN_BYTES) * GRAIN_BYTES;
export const upToPowerOfTwo = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(2, count)));

/** The data area that holds `usedBytes` of a GOP that is still growing. */
export const roomFor = (usedBytes: number): number => upToGrain(usedBytes * 1.25 + 2 * GRAIN_BYTES);
