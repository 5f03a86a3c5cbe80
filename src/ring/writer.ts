import { randomBytes } from 'node:crypto';
import type { StreamInfo } from '../codec/track.js';
import { AudioStage } from './audio-stage.js';
import { GUARANTEED_BYTES, type RingOptions, ringOptions, roomFor, TRIM_SHARE } from './capacity.js';
import { copyBytes } from './copy-bytes.js';
import { counterIndex, type RingCounter } from './counters.js';
import { Description } from './description.js';
import { frameFlag } from './frame-flag.js';
import { GopMeter, ShrinkRule } from './gop-meter.js';
import {
  allocateRing,
  GRAIN_BYTES,
  headerWord,
  RingMemory,
  ringState,
  SLOT_TIMES,
  SLOT_WORDS,
  slotTime,
  slotWord,
} from './layout.js';
import { lastSlot, positionOf, replacementOf } from './replacement.js';

export type RingWriterDeps = {
  /** The worker's bell: told of each commit that somebody in another thread waits for. */
  readonly bell: { markPublished(): void };
  /** How large the data area may be now; no ceiling: up to `maxDataBytes`. */
  readonly ceiling?: { readonly bytes: number };
  /** The ring is replaced by another one; readers go on there with `moveTo`. */
  onReplaced(ring: SharedArrayBuffer): void;
};

const PREFIX_BYTES = 4;
const MAX_AUDIO_FRAME_BYTES = 65_536;
const NO_NAL = -1;

/**
 * The one writer of a ring. A video frame is assembled in place, NAL unit by NAL unit, and seen by nobody until
 * it is committed. Has the byte part of `VideoSink`.
 */
export class RingWriter {
  readonly description: Description;
  readonly #options: RingOptions;
  readonly #deps: RingWriterDeps;
  readonly #stage = new AudioStage();
  readonly #meter = new GopMeter();
  readonly #shrinkRule = new ShrinkRule();
  #memory: RingMemory;
  #header: Int32Array;
  #slots: Int32Array;
  #slotTimes: Float64Array;
  #counters: Float64Array;
  #data: Buffer;
  #head: number;
  #reserved: number;
  /** Where the open frame, or else the next one, begins: virtual position and offset. */
  #start: number;
  #offset: number;
  /** Bytes of the open frame; 0: none is open. */
  #lengthBytes = 0;
  /** The open frame may grow to this without another look. */
  #roomBytes = 0;
  #nalStart = NO_NAL;
  #videoIndex: number;
  /** Position of the newest keyframe, which growing protects; null: none, or it was given up. */
  #keyPosition: number | null;
  /** Flags that the next video frame gets besides its own. */
  #owedFlags: number;

  /** `takenOver` is a ring whose writer, in this thread or another, has stopped: readers see a discontinuity. */
  constructor(
    options: Partial<RingOptions>,
    deps: RingWriterDeps,
    takenOver: SharedArrayBuffer | null = null,
  ) {
    this.#options = ringOptions(options);
    this.#deps = deps;
    const memory = takenOver === null ? this.#emptyRing() : new RingMemory(takenOver);
    const { header } = memory;
    this.#memory = memory;
    this.#header = header;
    this.#slots = memory.slots;
    this.#slotTimes = memory.slotTimes;
    this.#counters = memory.counters;
    this.#data = memory.data;
    this.#head = header[headerWord.head]!;
    this.#reserved = header[headerWord.reserved]!;
    // A writer that died may have written up to `reserved`, so nothing new lies before that position. Giving
    // the bytes after its last frame a later position than they had makes old frames expire early, not late.
    this.#start = this.#reserved;
    this.#offset = header[headerWord.writeOffset]!;
    this.description = new Description(memory);
    const last = lastSlot(memory);
    const isLastVideo = last >= 0 && (memory.slots[last + slotWord.flags]! & frameFlag.audio) === 0;
    this.#videoIndex = last < 0 ? 0 : (memory.slots[last + slotWord.videoIndex]! + (isLastVideo ? 1 : 0)) | 0;
    if (last >= 0 && (memory.slots[last + slotWord.flags]! & frameFlag.key) !== 0) {
      this.#announceKey((this.#head - 1) | 0);
    }
    this.#keyPosition =
      header[headerWord.hasKey] === 1 ? positionOf(memory, header[headerWord.latestKey]!) : null;
    this.#owedFlags = takenOver === null ? 0 : frameFlag.discontinuity;
    Atomics.store(header, headerWord.state, ringState.live);
  }

  get ring(): SharedArrayBuffer {
    return this.#memory.buffer;
  }

  /** Size of the data area. */
  get capacityBytes(): number {
    return this.#memory.dataBytes;
  }

  /** Readers that wait for the bell. */
  get subscribers(): number {
    return Atomics.load(this.#header, headerWord.subscribers);
  }

  beginNal(): void {
    // Without room for the prefix none is open, and `append` says so.
    if (!this.#hasRoom(this.#lengthBytes + PREFIX_BYTES)) return;
    this.#nalStart = this.#lengthBytes;
    this.#lengthBytes += PREFIX_BYTES;
  }

  append(source: Buffer, start: number, end: number): boolean {
    const lengthBytes = this.#lengthBytes + end - start;
    if (this.#nalStart === NO_NAL || !this.#hasRoom(lengthBytes)) return false;
    copyBytes(source, start, end, this.#data, this.#offset + this.#lengthBytes);
    this.#lengthBytes = lengthBytes;
    return true;
  }

  endNal(): void {
    if (this.#nalStart === NO_NAL) return;
    const nalBytes = this.#lengthBytes - this.#nalStart - PREFIX_BYTES;
    if (nalBytes === 0) {
      this.#lengthBytes = this.#nalStart;
      this.#nalStart = NO_NAL;
      return;
    }
    this.#data.writeUInt32BE(nalBytes, this.#offset + this.#nalStart);
    this.#nalStart = NO_NAL;
  }

  /** Puts whole NAL units before those of the open frame, which moves: for rare cases. False: it gets too large. */
  prepend(nals: Buffer): boolean {
    const openBytes = this.#lengthBytes;
    if (openBytes === 0 || !this.#hasRoom(openBytes + nals.length)) return false;
    const start = this.#offset;
    this.#data.copyWithin(start + nals.length, start, start + openBytes);
    nals.copy(this.#data, start);
    this.#lengthBytes += nals.length;
    return true;
  }

  abort(): void {
    this.#lengthBytes = 0;
    this.#nalStart = NO_NAL;
    this.#publishStaged();
  }

  /** Publishes the open frame; one without a NAL unit is no frame. `flags`: key, discontinuity, damaged. */
  commitVideo(ptsTicks: number, dtsTicks: number, wallMs: number, arrivalMs: number, flags: number): void {
    this.endNal();
    const lengthBytes = this.#lengthBytes;
    if (lengthBytes > 0) {
      const allFlags = (flags & ~frameFlag.audio) | this.#owedFlags;
      this.#owedFlags = 0;
      this.#publish(ptsTicks, dtsTicks, wallMs, arrivalMs, allFlags);
      this.#counters[counterIndex.lastVideoPtsTicks] = ptsTicks;
      this.#countVideo(lengthBytes, dtsTicks, arrivalMs, allFlags);
    }
    this.#publishStaged();
  }

  /** Publishes a whole audio frame; while a video frame is open it waits for that one's end. */
  writeAudio(
    source: Buffer,
    start: number,
    end: number,
    ptsTicks: number,
    wallMs: number,
    arrivalMs: number,
    flags: number,
  ): void {
    const lengthBytes = end - start;
    if (lengthBytes <= 0) return;
    const isTaken =
      lengthBytes <= MAX_AUDIO_FRAME_BYTES &&
      (this.#lengthBytes > 0
        ? this.#stage.push(source, start, end, ptsTicks, wallMs, arrivalMs, flags)
        : this.#publishAudio(source, start, end, ptsTicks, wallMs, arrivalMs, flags));
    if (!isTaken) this.add('audioFramesDropped', 1);
  }

  /** Describes the frames from the next commit on; see `Description.set`. */
  setStreamInfo(info: StreamInfo, awaitsSound = false): void {
    this.description.set(this.#memory, info, awaitsSound);
  }

  add(counter: RingCounter, count: number): void {
    this.#counters[counterIndex[counter]]! += count;
  }

  set(counter: RingCounter, value: number): void {
    this.#counters[counterIndex[counter]] = value;
  }

  /** Now and then: gives back what is clearly above the ceiling, the oldest frames with it. */
  trim(): void {
    const mostBytes = this.#mostBytes();
    const { slotCount, dataBytes } = this.#memory;
    const isOpenFrameLarge = this.#lengthBytes + 2 * GRAIN_BYTES > mostBytes;
    if (dataBytes * (1 - TRIM_SHARE) <= mostBytes || isOpenFrameLarge) return;
    const hadKey = this.#keyPosition !== null;
    this.#replace(slotCount, mostBytes);
    if (hadKey && this.#keyPosition === null) this.#giveUpGop();
  }

  /** No frame follows: readers end once they have read what is there. */
  close(): void {
    this.abort();
    Atomics.store(this.#header, headerWord.state, ringState.closed);
    if (this.subscribers > 0) this.#deps.bell.markPublished();
  }

  #emptyRing(): RingMemory {
    const { firstSequence, firstPosition } = this.#options;
    const memory = allocateRing(this.#options, randomBytes(4).readInt32LE());
    const position = firstPosition | 0;
    memory.header[headerWord.validFrom] = position;
    memory.header[headerWord.head] = firstSequence | 0;
    memory.header[headerWord.reserved] = position;
    memory.header[headerWord.writePosition] = position;
    return memory;
  }

  #hasRoom(lengthBytes: number): boolean {
    return lengthBytes <= this.#roomBytes || this.#makeRoom(lengthBytes);
  }

  /** Makes the bytes up to `lengthBytes` of the open frame writable: reserves, wraps or grows. */
  #makeRoom(lengthBytes: number): boolean {
    if (lengthBytes > this.#options.maxFrameBytes) return false;
    for (;;) {
      const dataBytes = this.#data.length;
      const doesWrap = this.#offset + lengthBytes > dataBytes;
      const start = doesWrap ? (this.#start + dataBytes - this.#offset) | 0 : this.#start;
      const end = (start + lengthBytes) | 0;
      const cutsGop = lengthBytes + GRAIN_BYTES > dataBytes || this.#wouldCutGop(end);
      if ((cutsGop || (doesWrap && this.#isStillLearning())) && this.#extend(lengthBytes)) continue;
      if (cutsGop && this.#growFor(end, lengthBytes)) continue;
      if (lengthBytes + GRAIN_BYTES > dataBytes) return false;
      if (cutsGop) this.#giveUpGop();
      this.#reserve(start, end);
      if (doesWrap) this.#wrap(start);
      this.#roomBytes = Math.min(
        (this.#reserved - start) >>> 0,
        dataBytes - this.#offset,
        this.#options.maxFrameBytes,
      );
      return true;
    }
  }

  /** Whether writing up to `end` would overwrite the newest keyframe. */
  #wouldCutGop(end: number): boolean {
    if (this.#keyPosition === null) return false;
    return (end + GRAIN_BYTES - this.#keyPosition) >>> 0 > this.#data.length;
  }

  /** False: it is as large as it may be. */
  #growFor(end: number, lengthBytes: number): boolean {
    const { slotCount, dataBytes } = this.#memory;
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
    this.add('cutGops', 1);
  }

  /** Published before a byte is written, by a read-modify-write: no write may be seen ahead of it. */
  #reserve(start: number, end: number): void {
    if (((end - this.#reserved) | 0) <= 0) return;
    const wanted = (end + GRAIN_BYTES) | 0;
    const mostBytes = this.#data.length;
    const reserved = (wanted - start) >>> 0 > mostBytes ? (start + mostBytes) | 0 : wanted;
    this.#reserved = reserved;
    Atomics.exchange(this.#header, headerWord.reserved, reserved);
  }

  /** The first GOP is still coming in, or those seen since want more room than there is. */
  #isStillLearning(): boolean {
    if (!this.#meter.hasMeasured) return this.#keyPosition !== null;
    return this.#meter.wantedDataBytes() > this.#memory.dataBytes;
  }

  /**
   * Grows in place, which costs nothing but what is left of the lap before this one. False: it is as large as
   * it may be, or the newest keyframe is of that lap.
   */
  #extend(lengthBytes: number): boolean {
    const { dataBytes } = this.#memory;
    const lapStart = (this.#start - this.#offset) | 0;
    if (this.#keyPosition !== null && ((this.#keyPosition - lapStart) | 0) < 0) return false;
    const wantedBytes = Math.max(this.#meter.wantedDataBytes(), roomFor(dataBytes + lengthBytes));
    const grownBytes = this.#bounded(wantedBytes);
    if (grownBytes <= dataBytes || !this.#memory.grow(grownBytes, lapStart)) return false;
    this.#data = this.#memory.data;
    return true;
  }

  /** Moves the open frame to the start of the data area: a frame is contiguous. */
  #wrap(start: number): void {
    const { data, header, dataBytes } = this.#memory;
    data.copy(data, 0, this.#offset, this.#offset + this.#lengthBytes);
    this.#start = start;
    this.#offset = 0;
    // Once a lap it follows, so that it never is 2^31 bytes behind, where it would look as if it were ahead.
    const oldest = (this.#reserved - dataBytes) | 0;
    if (((oldest - header[headerWord.validFrom]!) | 0) > 0)
      Atomics.store(header, headerWord.validFrom, oldest);
  }

  #publish(ptsTicks: number, dtsTicks: number, wallMs: number, arrivalMs: number, flags: number): void {
    const sequence = this.#head;
    const latestKey = this.#header[headerWord.latestKey]!;
    if (this.#keyPosition !== null && (sequence - latestKey) >>> 0 >= this.#memory.slotCount)
      this.#growSlots();
    const index = sequence & (this.#memory.slotCount - 1);
    const at = index * SLOT_WORDS;
    const slots = this.#slots;
    Atomics.exchange(slots, at, ~sequence);
    slots[at + slotWord.flags] = flags;
    slots[at + slotWord.position] = this.#start;
    slots[at + slotWord.offset] = this.#offset;
    slots[at + slotWord.lengthBytes] = this.#lengthBytes;
    slots[at + slotWord.streamVersion] = this.description.version;
    slots[at + slotWord.videoIndex] = this.#videoIndex;
    slots[at + slotWord.formatVersion] = this.description.formatVersion;
    const times = index * SLOT_TIMES;
    this.#slotTimes[times + slotTime.pts] = ptsTicks;
    this.#slotTimes[times + slotTime.dts] = dtsTicks;
    this.#slotTimes[times + slotTime.wall] = wallMs;
    this.#slotTimes[times + slotTime.arrival] = arrivalMs;
    Atomics.store(slots, at, sequence);
    if ((flags & frameFlag.audio) === 0) this.#videoIndex = (this.#videoIndex + 1) | 0;
    if ((flags & frameFlag.key) !== 0) this.#keyPosition = this.#start;
    this.#advance();
    this.#head = (sequence + 1) | 0;
    Atomics.store(this.#header, headerWord.head, this.#head);
    if ((flags & frameFlag.key) !== 0) this.#announceKey(sequence);
    if (Atomics.load(this.#header, headerWord.subscribers) > 0) this.#deps.bell.markPublished();
  }

  /** After `head`, so that a reader that sees the key also sees it published. */
  #announceKey(sequence: number): void {
    Atomics.store(this.#header, headerWord.latestKey, sequence);
    Atomics.store(this.#header, headerWord.hasKey, 1);
  }

  /** The next frame begins where this one ended. */
  #advance(): void {
    this.#start = (this.#start + this.#lengthBytes) | 0;
    this.#offset = (this.#offset + this.#lengthBytes) % this.#data.length;
    this.#lengthBytes = 0;
    this.#roomBytes = 0;
    this.#header[headerWord.writePosition] = this.#start;
    this.#header[headerWord.writeOffset] = this.#offset;
  }

  #countVideo(lengthBytes: number, dtsTicks: number, arrivalMs: number, flags: number): void {
    // Named one by one: `add` looks its counter up by a string, which costs a frame more than all the rest here.
    const counters = this.#counters;
    counters[counterIndex.videoFrames]! += 1;
    counters[counterIndex.videoBytes]! += lengthBytes;
    counters[counterIndex.lastVideoArrivalMs] = arrivalMs;
    const isDiscontinuity = (flags & frameFlag.discontinuity) !== 0;
    if (isDiscontinuity) this.add('discontinuities', 1);
    if ((flags & frameFlag.key) === 0) {
      this.#meter.count(lengthBytes);
      return;
    }
    this.add('keyFrames', 1);
    this.set('lastKeyArrivalMs', arrivalMs);
    if (this.#meter.key(lengthBytes, dtsTicks, arrivalMs, isDiscontinuity)) this.#gopEnded(arrivalMs);
  }

  #gopEnded(arrivalMs: number): void {
    const meter = this.#meter;
    const { gopBytes, gopFrames, gopDurationMs } = meter;
    this.set('gopBytes', gopBytes);
    this.set('gopFrames', gopFrames);
    this.set('gopDurationMs', gopDurationMs);
    this.#want(meter.wantedDataBytes());
    const wanted = {
      dataBytes: meter.wantedDataBytes(),
      slotCount: this.#boundedSlots(meter.wantedSlotCount()),
    };
    const { slotCount, dataBytes } = this.#memory;
    const enough = this.#shrinkRule.judge(dataBytes, wanted, arrivalMs);
    if (enough !== null) this.#replace(enough.slotCount, this.#bounded(enough.dataBytes));
    else if (wanted.slotCount > slotCount) this.#replace(wanted.slotCount, dataBytes);
  }

  /** Tells whoever holds the budget. */
  #want(dataBytes: number): void {
    this.set('wantedBytes', Math.min(dataBytes, this.#options.maxDataBytes));
  }

  #boundedSlots(slotCount: number): number {
    return Math.min(Math.max(slotCount, this.#options.slotCount), this.#options.maxSlotCount);
  }

  #growSlots(): void {
    const { slotCount, dataBytes } = this.#memory;
    if (slotCount < this.#options.maxSlotCount) this.#replace(slotCount * 2, dataBytes);
  }

  #mostBytes(): number {
    const { maxDataBytes } = this.#options;
    const ceilingBytes = this.#deps.ceiling?.bytes ?? maxDataBytes;
    return Math.min(maxDataBytes, Math.max(GUARANTEED_BYTES, ceilingBytes));
  }

  #bounded(dataBytes: number): number {
    return Math.min(Math.max(dataBytes, this.#options.dataBytes), this.#mostBytes());
  }

  /** Goes on in another ring, with the newest frames that are still whole, the open one included. */
  #replace(slotCount: number, dataBytes: number): void {
    const old = this.#memory;
    const size = { slotCount, dataBytes, maxDataBytes: this.#options.maxDataBytes };
    const next = replacementOf(old, size, this.#lengthBytes);
    const offset = next.header[headerWord.writeOffset]!;
    const start = next.header[headerWord.writePosition]!;
    const reserved = (start + this.#lengthBytes) | 0;
    next.header[headerWord.reserved] = reserved;
    copyBytes(old.data, this.#offset, this.#offset + this.#lengthBytes, next.data, offset);
    this.#memory = next;
    this.#header = next.header;
    this.#slots = next.slots;
    this.#slotTimes = next.slotTimes;
    this.#counters = next.counters;
    this.#data = next.data;
    this.#reserved = reserved;
    this.#start = start;
    this.#offset = offset;
    this.#roomBytes = this.#lengthBytes;
    const hasKey = next.header[headerWord.hasKey] === 1;
    this.#keyPosition = hasKey ? positionOf(next, next.header[headerWord.latestKey]!) : null;
    this.add('replacements', 1);
    Atomics.store(old.header, headerWord.state, ringState.replaced);
    this.#deps.onReplaced(next.buffer);
  }

  #publishAudio(
    source: Buffer,
    start: number,
    end: number,
    ptsTicks: number,
    wallMs: number,
    arrivalMs: number,
    flags: number,
  ): boolean {
    if (!this.#hasRoom(end - start)) return false;
    copyBytes(source, start, end, this.#data, this.#offset);
    this.#lengthBytes = end - start;
    this.#publish(ptsTicks, ptsTicks, wallMs, arrivalMs, (flags & ~frameFlag.key) | frameFlag.audio);
    this.add('audioFrames', 1);
    this.add('audioBytes', end - start);
    this.#meter.count(end - start);
    return true;
  }

  #publishStaged(): void {
    const stage = this.#stage;
    if (stage.count === 0) return;
    for (let i = 0; i < stage.count; i += 1) {
      const frame = stage.at(i);
      const { start, end, ptsTicks, wallMs, arrivalMs, flags } = frame;
      if (!this.#publishAudio(stage.bytes, start, end, ptsTicks, wallMs, arrivalMs, flags)) {
        this.add('audioFramesDropped', 1);
      }
    }
    stage.clear();
  }
}
