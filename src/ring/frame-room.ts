import { GUARANTEED_BYTES, type RingOptions, roomFor, TRIM_SHARE } from './capacity.js';
import { copyBytes } from './copy-bytes.js';
import { counterIndex } from './counters.js';
import { GopMeter, ShrinkRule } from './gop-meter.js';
import { GRAIN_BYTES, headerWord, type RingMemory, ringState } from './layout.js';
import { positionOf, replacementOf } from './replacement.js';

export type FrameRoomDeps = {
  /** How large the data area may be now; no ceiling: up to `maxDataBytes`. */
  readonly ceiling?: { readonly bytes: number };
  /** The ring is replaced by another one; readers go on there with `moveTo`. */
  onReplaced(ring: SharedArrayBuffer): void;
};

/**
 * The writer's room: where the next byte goes, and how large the ring is. It reserves, wraps, grows and shrinks, so
 * that a frame is contiguous and the newest GOP stays whole for as long as it may. What the bytes are is the
 * writer's affair.
 */
export class FrameRoom {
  /** Another one after a replacement. */
  memory: RingMemory;
  /** The data area of `memory`, kept here because asking for it costs an atomic load. */
  data: Buffer;
  /** Where the open frame, or else the next one, begins: virtual position and offset. */
  start: number;
  offset: number;
  /** Bytes of the open frame, counted by whoever writes them; 0: none is open. */
  lengthBytes = 0;
  readonly #options: RingOptions;
  readonly #deps: FrameRoomDeps;
  readonly #meter = new GopMeter();
  readonly #shrinkRule = new ShrinkRule();
  /** The open frame may grow to this without another look. */
  #roomBytes = 0;
  #reserved: number;
  /** Position of the newest keyframe, which growing protects; null: none, or it was given up. */
  #keyPosition: number | null;

  /** Goes on where the ring's header says that the writer before stopped. */
  constructor(memory: RingMemory, options: RingOptions, deps: FrameRoomDeps) {
    const { header } = memory;
    this.memory = memory;
    this.data = memory.data;
    this.#options = options;
    this.#deps = deps;
    this.#reserved = header[headerWord.reserved]!;
    // A writer that died may have written up to `reserved`, so nothing new lies before that position. Giving
    // the bytes after its last frame a later position than they had makes old frames expire early, not late.
    this.start = this.#reserved;
    this.offset = header[headerWord.writeOffset]!;
    this.#keyPosition = newestKeyPosition(memory);
  }

  /** Makes sure that the open frame may grow to `lengthBytes`. False: it would get too large. */
  ensure(lengthBytes: number): boolean {
    return lengthBytes <= this.#roomBytes || this.#makeRoom(lengthBytes);
  }

  /** Adds to the open frame, or begins one. False: it would get too large. */
  append(source: Buffer, start: number, end: number): boolean {
    const lengthBytes = this.lengthBytes + end - start;
    if (!this.ensure(lengthBytes)) return false;
    copyBytes(source, start, end, this.data, this.offset + this.lengthBytes);
    this.lengthBytes = lengthBytes;
    return true;
  }

  /** Before a frame is published: more slots, if this sequence number would take that of the newest keyframe. */
  ensureSlot(sequence: number): void {
    if (this.#keyPosition === null) return;
    const { header, slotCount } = this.memory;
    if ((sequence - header[headerWord.latestKey]!) >>> 0 < slotCount) return;
    if (slotCount < this.#options.maxSlotCount) this.#replace(slotCount * 2, this.memory.dataBytes);
  }

  /** The open frame is complete: the next one begins where it ended. */
  endFrame(isKey: boolean): void {
    if (isKey) this.#keyPosition = this.start;
    this.start = (this.start + this.lengthBytes) | 0;
    this.offset = (this.offset + this.lengthBytes) % this.data.length;
    this.lengthBytes = 0;
    this.#roomBytes = 0;
    const { header } = this.memory;
    header[headerWord.writePosition] = this.start;
    header[headerWord.writeOffset] = this.offset;
  }

  /** A published frame of either track, to be measured; video keys go to `measureKey`. */
  measure(lengthBytes: number): void {
    this.#meter.count(lengthBytes);
  }

  /** A published keyframe: the GOP that it ends says how large the ring should be. */
  measureKey(lengthBytes: number, dtsTicks: number, arrivalMs: number, isDiscontinuity: boolean): void {
    if (this.#meter.key(lengthBytes, dtsTicks, arrivalMs, isDiscontinuity)) this.#gopEnded(arrivalMs);
  }

  /** Now and then: gives back what is clearly above the ceiling, the oldest frames with it. */
  trim(): void {
    const mostBytes = this.#mostBytes();
    const { slotCount, dataBytes } = this.memory;
    const isOpenFrameLarge = this.lengthBytes + 2 * GRAIN_BYTES > mostBytes;
    if (dataBytes * (1 - TRIM_SHARE) <= mostBytes || isOpenFrameLarge) return;
    const hadKey = this.#keyPosition !== null;
    this.#replace(slotCount, mostBytes);
    if (hadKey && this.#keyPosition === null) this.#giveUpGop();
  }

  /** Makes the bytes up to `lengthBytes` of the open frame writable: reserves, wraps or grows. */
  #makeRoom(lengthBytes: number): boolean {
    if (lengthBytes > this.#options.maxFrameBytes) return false;
    for (;;) {
      const dataBytes = this.data.length;
      const doesWrap = this.offset + lengthBytes > dataBytes;
      const start = doesWrap ? (this.start + dataBytes - this.offset) | 0 : this.start;
      const end = (start + lengthBytes) | 0;
      const cutsGop = lengthBytes + GRAIN_BYTES > dataBytes || this.#wouldCutGop(end);
      if ((cutsGop || (doesWrap && this.#isStillLearning())) && this.#extend(lengthBytes)) continue;
      if (cutsGop && this.#growFor(end, lengthBytes)) continue;
      if (lengthBytes + GRAIN_BYTES > dataBytes) return false;
      if (cutsGop) this.#giveUpGop();
      this.#reserve(end);
      if (doesWrap) this.#wrap(start);
      this.#roomBytes = Math.min(
        (this.#reserved - start) >>> 0,
        dataBytes - this.offset,
        this.#options.maxFrameBytes,
      );
      return true;
    }
  }

  /** Whether writing up to `end` would overwrite the newest keyframe. */
  #wouldCutGop(end: number): boolean {
    if (this.#keyPosition === null) return false;
    return (end + GRAIN_BYTES - this.#keyPosition) >>> 0 > this.data.length;
  }

  /** The first GOP is still coming in, or those seen since want more room than there is. */
  #isStillLearning(): boolean {
    if (!this.#meter.hasMeasured) return this.#keyPosition !== null;
    return this.#meter.wantedDataBytes() > this.memory.dataBytes;
  }

  /**
   * Grows in place, which costs nothing but what is left of the lap before this one. False: it is as large as
   * it may be, or the newest keyframe is of that lap.
   */
  #extend(lengthBytes: number): boolean {
    const { dataBytes } = this.memory;
    const lapStart = (this.start - this.offset) | 0;
    if (this.#keyPosition !== null && ((this.#keyPosition - lapStart) | 0) < 0) return false;
    const wantedBytes = Math.max(this.#meter.wantedDataBytes(), roomFor(dataBytes + lengthBytes));
    const grownBytes = this.#bounded(wantedBytes);
    if (grownBytes <= dataBytes || !this.memory.grow(grownBytes, lapStart)) return false;
    this.data = this.memory.data;
    return true;
  }

  /** False: it is as large as it may be. */
  #growFor(end: number, lengthBytes: number): boolean {
    const { slotCount, dataBytes } = this.memory;
    const usedBytes = this.#keyPosition === null ? lengthBytes : (end - this.#keyPosition) >>> 0;
    const wantedBytes = Math.max(roomFor(usedBytes), this.#meter.wantedDataBytes(), dataBytes + GRAIN_BYTES);
    if (dataBytes >= this.#mostBytes()) {
      this.#want(wantedBytes);
      return false;
    }
    this.#replace(slotCount, this.#bounded(wantedBytes));
    return true;
  }

  /** The GOP outgrows what the ring may take: its keyframe will be overwritten, and growing would not save it. */
  #giveUpGop(): void {
    this.#keyPosition = null;
    this.memory.counters[counterIndex.cutGops]! += 1;
  }

  /**
   * Published before a byte is written, by a read-modify-write: no write may be seen ahead of it. The grain beside the
   * frame fits into the data area, too: `#makeRoom` has refused a frame that leaves no room for it.
   */
  #reserve(end: number): void {
    if (((end - this.#reserved) | 0) <= 0) return;
    const reserved = (end + GRAIN_BYTES) | 0;
    this.#reserved = reserved;
    Atomics.exchange(this.memory.header, headerWord.reserved, reserved);
  }

  /** Moves the open frame to the start of the data area: a frame is contiguous. */
  #wrap(start: number): void {
    const { data, header, dataBytes } = this.memory;
    data.copy(data, 0, this.offset, this.offset + this.lengthBytes);
    this.start = start;
    this.offset = 0;
    // Once a lap it follows, so that it never is 2^31 bytes behind, where it would look as if it were ahead.
    const oldest = (this.#reserved - dataBytes) | 0;
    if (((oldest - header[headerWord.validFrom]!) | 0) > 0)
      Atomics.store(header, headerWord.validFrom, oldest);
  }

  #gopEnded(arrivalMs: number): void {
    const meter = this.#meter;
    const { counters, slotCount, dataBytes } = this.memory;
    counters[counterIndex.gopBytes] = meter.gopBytes;
    counters[counterIndex.gopFrames] = meter.gopFrames;
    counters[counterIndex.gopDurationMs] = meter.gopDurationMs;
    this.#want(meter.wantedDataBytes());
    const wanted = {
      dataBytes: meter.wantedDataBytes(),
      slotCount: this.#boundedSlots(meter.wantedSlotCount()),
    };
    const enough = this.#shrinkRule.judge(dataBytes, wanted, arrivalMs);
    if (enough !== null) this.#replace(enough.slotCount, this.#bounded(enough.dataBytes));
    else if (wanted.slotCount > slotCount) this.#replace(wanted.slotCount, dataBytes);
  }

  /** Tells whoever holds the budget. */
  #want(dataBytes: number): void {
    this.memory.counters[counterIndex.wantedBytes] = Math.min(dataBytes, this.#options.maxDataBytes);
  }

  #mostBytes(): number {
    const { maxDataBytes } = this.#options;
    const ceilingBytes = this.#deps.ceiling?.bytes ?? maxDataBytes;
    return Math.min(maxDataBytes, Math.max(GUARANTEED_BYTES, ceilingBytes));
  }

  #bounded(dataBytes: number): number {
    return Math.min(Math.max(dataBytes, this.#options.dataBytes), this.#mostBytes());
  }

  #boundedSlots(slotCount: number): number {
    return Math.min(Math.max(slotCount, this.#options.slotCount), this.#options.maxSlotCount);
  }

  /** Goes on in another ring, with the newest frames that are still whole, the open one included. */
  #replace(slotCount: number, dataBytes: number): void {
    const old = this.memory;
    const size = { slotCount, dataBytes, maxDataBytes: this.#options.maxDataBytes };
    const next = replacementOf(old, size, this.lengthBytes);
    const offset = next.header[headerWord.writeOffset]!;
    const start = next.header[headerWord.writePosition]!;
    const reserved = (start + this.lengthBytes) | 0;
    next.header[headerWord.reserved] = reserved;
    copyBytes(old.data, this.offset, this.offset + this.lengthBytes, next.data, offset);
    this.memory = next;
    this.data = next.data;
    this.#reserved = reserved;
    this.start = start;
    this.offset = offset;
    this.#roomBytes = this.lengthBytes;
    this.#keyPosition = newestKeyPosition(next);
    next.counters[counterIndex.replacements]! += 1;
    Atomics.store(old.header, headerWord.state, ringState.replaced);
    this.#deps.onReplaced(next.buffer);
  }
}

/** Null: there is none, or the ring doesn't hold it any more. */
const newestKeyPosition = (memory: RingMemory): number | null => {
  const { header } = memory;
  return header[headerWord.hasKey] === 1 ? positionOf(memory, header[headerWord.latestKey]!) : null;
};
