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
  // Line 1: written by the writer, most at each commit.
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
  /** Size of the data area, which may grow in place. */
  dataBytes: 23,
  /** A virtual position: what lay before it was overwritten when the data area was smaller. */
  validFrom: 24,
  /** The stream version with which the present format began. */
  formatVersion: 25,
  /** Its keyframes bring their parameter sets along. */
  setsVary: 26,
  /** It isn't known yet whether the format has sound; soon it is. */
  awaitsSound: 27,
  // Line 2: a virtual position; bytes before it may have been written.
  reserved: 32,
  // Line 3: written by readers.
  subscribers: 48,
  /** How far the reader came that leaves word of it: all before this sequence number is done. */
  mark: 49,
  hasMark: 50,
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
  formatVersion: 7,
} as const;

/** Float64 indices into a slot: its second half. */
export const slotTime = { pts: 4, dts: 5, wall: 6, arrival: 7 } as const;

export const SLOT_WORDS = 16;
export const SLOT_TIMES = 8;

const MAGIC = 0x46524e31;
const COUNTERS_START = 256;
const COUNTERS = 40;
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
  readonly slotCount: number;
  readonly #dataStart: number;
  #data: Buffer;
  #dataBytes: number;

  constructor(buffer: SharedArrayBuffer) {
    this.header = new Int32Array(buffer, 0, COUNTERS_START / 4);
    this.slotCount = this.header[headerWord.slotCount]!;
    this.#dataBytes = Atomics.load(this.header, headerWord.dataBytes);
    this.#dataStart = SLOTS_START + this.slotCount * SLOT_WORDS * 4;
    if (this.header[headerWord.magic] !== MAGIC || this.#dataStart + this.#dataBytes > buffer.byteLength) {
      throw new AppError<RingErrorCode>('ring_invalid', 'the shared memory holds no ring of this layout');
    }
    this.buffer = buffer;
    this.counters = new Float64Array(buffer, COUNTERS_START, COUNTERS);
    this.info = Buffer.from(buffer, INFO_START, INFO_ENTRIES * INFO_ENTRY_BYTES);
    this.infoWords = new Int32Array(buffer, INFO_START, (INFO_ENTRIES * INFO_ENTRY_BYTES) / 4);
    this.slots = new Int32Array(buffer, SLOTS_START, this.slotCount * SLOT_WORDS);
    this.slotTimes = new Float64Array(buffer, SLOTS_START, this.slotCount * SLOT_TIMES);
    this.#data = Buffer.from(buffer, this.#dataStart, this.#dataBytes);
  }

  /** Size of the data area as it is now. */
  get dataBytes(): number {
    return Atomics.load(this.header, headerWord.dataBytes);
  }

  /** The data area as it is now. */
  get data(): Buffer {
    const dataBytes = this.dataBytes;
    if (dataBytes !== this.#dataBytes) {
      this.#dataBytes = dataBytes;
      this.#data = Buffer.from(this.buffer, this.#dataStart, dataBytes);
    }
    return this.#data;
  }

  /**
   * Whether the bytes from `position` on are still those of its frame, `reserved` being loaded before this. The
   * size is loaded before `validFrom`, and stored after it: a larger size never comes with an older limit.
   */
  holds(position: number, reserved: number): boolean {
    const dataBytes = Atomics.load(this.header, headerWord.dataBytes);
    const validFrom = Atomics.load(this.header, headerWord.validFrom);
    return (reserved - position) >>> 0 <= dataBytes && ((position - validFrom) | 0) >= 0;
  }

  /**
   * Makes the data area larger, as far as its memory was reserved; what lies before `validFrom` is given up.
   * False: it stays as it is.
   */
  grow(dataBytes: number, validFrom: number): boolean {
    const totalBytes = this.#dataStart + dataBytes;
    if (totalBytes > this.buffer.maxByteLength) return false;
    this.buffer.grow(totalBytes);
    Atomics.store(this.header, headerWord.validFrom, validFrom);
    Atomics.store(this.header, headerWord.dataBytes, dataBytes);
    return true;
  }

  /** Where a sequence number's slot begins in `slots`. */
  slotAt(sequence: number): number {
    return (sequence & (this.slotCount - 1)) * SLOT_WORDS;
  }
}

export type RingSize = {
  /** A power of two. */
  readonly slotCount: number;
  /** A multiple of GRAIN_BYTES, as is the size up to which the data area may grow. */
  readonly dataBytes: number;
  readonly maxDataBytes: number;
};

/** Allocates an empty ring. What it may grow by is reserved as addresses, and takes no memory until then. */
export const allocateRing = (
  { slotCount, dataBytes, maxDataBytes }: RingSize,
  ringId: number,
): RingMemory => {
  const dataStart = SLOTS_START + slotCount * SLOT_WORDS * 4;
  const buffer = new SharedArrayBuffer(dataStart + dataBytes, { maxByteLength: dataStart + maxDataBytes });
  const header = new Int32Array(buffer);
  header[headerWord.magic] = MAGIC;
  header[headerWord.ringId] = ringId;
  header[headerWord.slotCount] = slotCount;
  header[headerWord.dataBytes] = dataBytes;
  const memory = new RingMemory(buffer);
  for (let i = 0; i < slotCount; i += 1) memory.slots[i * SLOT_WORDS + slotWord.sequence] = ~i;
  return memory;
};
