import { AppError } from '../base/errors.js';

/*
 * One ring is one SharedArrayBuffer: header, counters, stream descriptions, slots, data (README.md has the map).
 * Words that different threads write lie on cache lines of their own.
 */

/** Int32 indices into the header. */
export const headerWord = {
  // Line 0: written once.
  magic: 0,
  /** Random; a replacement keeps it, so a reader knows whether sequence numbers go on. */
  ringId: 1,
  slotCount: 2,
  dataBytes: 3,
  // Line 1: written by the writer at each commit.
  /** Sequence number of the next frame: all before it are published. */
  head: 16,
  latestKey: 17,
  hasKey: 18,
  state: 19,
  /** Newest stream description, 0 before the first. */
  streamVersion: 20,
  /** Virtual and physical position after the last commit, for a writer that takes over. */
  writePosition: 21,
  writeOffset: 22,
  // Line 2: a virtual position; bytes before it may have been written.
  reserved: 32,
  // Line 3: written by readers.
  subscribers: 48,
} as const;

/** Values of `headerWord.state`. */
export const ringState = { live: 0, replaced: 1, closed: 2 } as const;

/** Int32 indices into a slot. */
export const slotWord = {
  /** The frame's sequence number, or its complement while the slot changes: that one never belongs here. */
  sequence: 0,
  flags: 1,
  /** Virtual position of the first byte. */
  position: 2,
  /** Physical offset of the first byte in the data area. */
  offset: 3,
  lengthBytes: 4,
  streamVersion: 5,
  /** Number of video frames before this one: makes drop counts exact even when slots are gone. */
  videoIndex: 6,
} as const;

/** Float64 indices into a slot: its second half. */
export const slotTime = { pts: 4, dts: 5, wall: 6, arrival: 7 } as const;

export const SLOT_WORDS = 16;
export const SLOT_TIMES = 8;

/** Bits of a frame's flags. Without `audio` it is video. */
export const frameFlag = { key: 1, discontinuity: 2, audio: 4, damaged: 8 } as const;

const MAGIC = 0x46524e31;
const COUNTERS_START = 256;
const COUNTERS = 32;
const INFO_START = COUNTERS_START + COUNTERS * 8;

/** Stream descriptions that stay readable, and the room for each with its 8-byte head. */
export const INFO_ENTRIES = 4;
export const INFO_ENTRY_BYTES = 8192;

const SLOTS_START = INFO_START + INFO_ENTRIES * INFO_ENTRY_BYTES;

/** Data areas and replacements are multiples of this. */
export const GRAIN_BYTES = 65_536;

export type RingErrorCode = 'ring_invalid' | 'ring_options_invalid' | 'stream_info_too_large';

/** The views of one ring's memory; every thread makes its own. */
export class RingMemory {
  readonly buffer: SharedArrayBuffer;
  readonly header: Int32Array;
  readonly counters: Float64Array;
  readonly info: Buffer;
  readonly infoWords: Int32Array;
  readonly slots: Int32Array;
  readonly slotTimes: Float64Array;
  readonly data: Buffer;
  readonly slotCount: number;
  readonly dataBytes: number;

  constructor(buffer: SharedArrayBuffer) {
    this.header = new Int32Array(buffer, 0, COUNTERS_START / 4);
    this.slotCount = this.header[headerWord.slotCount]!;
    this.dataBytes = this.header[headerWord.dataBytes]!;
    const dataStart = SLOTS_START + this.slotCount * SLOT_WORDS * 4;
    if (this.header[headerWord.magic] !== MAGIC || dataStart + this.dataBytes !== buffer.byteLength) {
      throw new AppError<RingErrorCode>('ring_invalid', 'the shared memory holds no ring of this layout');
    }
    this.buffer = buffer;
    this.counters = new Float64Array(buffer, COUNTERS_START, COUNTERS);
    this.info = Buffer.from(buffer, INFO_START, INFO_ENTRIES * INFO_ENTRY_BYTES);
    this.infoWords = new Int32Array(buffer, INFO_START, (INFO_ENTRIES * INFO_ENTRY_BYTES) / 4);
    this.slots = new Int32Array(buffer, SLOTS_START, this.slotCount * SLOT_WORDS);
    this.slotTimes = new Float64Array(buffer, SLOTS_START, this.slotCount * SLOT_TIMES);
    this.data = Buffer.from(buffer, dataStart, this.dataBytes);
  }

  /** Where a sequence number's slot begins in `slots`. */
  slotAt(sequence: number): number {
    return (sequence & (this.slotCount - 1)) * SLOT_WORDS;
  }
}

/** Allocates an empty ring. `slotCount` is a power of two, `dataBytes` a multiple of GRAIN_BYTES. */
export const allocateRing = (slotCount: number, dataBytes: number, ringId: number): RingMemory => {
  const buffer = new SharedArrayBuffer(SLOTS_START + slotCount * SLOT_WORDS * 4 + dataBytes);
  const header = new Int32Array(buffer);
  header[headerWord.magic] = MAGIC;
  header[headerWord.ringId] = ringId;
  header[headerWord.slotCount] = slotCount;
  header[headerWord.dataBytes] = dataBytes;
  const memory = new RingMemory(buffer);
  for (let i = 0; i < slotCount; i += 1) memory.slots[i * SLOT_WORDS + slotWord.sequence] = ~i;
  return memory;
};

/** Whether the bytes from `position` on are still those of its frame, `reserved` being loaded afterwards. */
export const isWithin = (reserved: number, position: number, dataBytes: number): boolean =>
  (reserved - position) >>> 0 <= dataBytes;
