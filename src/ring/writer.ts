import { randomBytes } from 'node:crypto';
import { type StreamInfo, VIDEO_CLOCK_HZ } from '../codec/track.js';
import { AudioStage } from './audio-stage.js';
import { type RingOptions, ringOptions } from './capacity.js';
import { counterIndex, type RingCounter } from './counters.js';
import { Description } from './description.js';
import { frameFlag } from './frame-flag.js';
import { FrameRoom, type FrameRoomDeps } from './frame-room.js';
import type { FrameStamp } from './frame-stamp.js';
import {
  allocateRing,
  headerWord,
  RingMemory,
  ringState,
  SLOT_TIMES,
  SLOT_WORDS,
  slotTime,
  slotWord,
} from './layout.js';
import { lastSlot } from './replacement.js';

export type RingWriterDeps = FrameRoomDeps & {
  /** The worker's bell: told of each commit that somebody in another thread waits for. */
  readonly bell: { markPublished(): void };
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
  readonly #deps: RingWriterDeps;
  readonly #room: FrameRoom;
  readonly #stage = new AudioStage();
  #head: number;
  #nalStart = NO_NAL;
  #videoIndex: number;
  /** Flags that the next video frame gets besides its own. */
  #owedFlags: number;

  /** `takenOver` is a ring whose writer, in this thread or another, has stopped: readers see a discontinuity. */
  constructor(
    options: Partial<RingOptions>,
    deps: RingWriterDeps,
    takenOver: SharedArrayBuffer | null = null,
  ) {
    const allOptions = ringOptions(options);
    const memory = takenOver === null ? emptyRing(allOptions) : new RingMemory(takenOver);
    const { header, slots } = memory;
    this.#deps = deps;
    this.#head = header[headerWord.head]!;
    this.description = new Description(memory);
    const last = lastSlot(memory);
    const lastFlags = last < 0 ? 0 : slots[last + slotWord.flags]!;
    const isLastVideo = last >= 0 && (lastFlags & frameFlag.audio) === 0;
    this.#videoIndex = last < 0 ? 0 : (slots[last + slotWord.videoIndex]! + (isLastVideo ? 1 : 0)) | 0;
    // The writer before may have died between `head` and this; the room protects the key that is announced.
    if ((lastFlags & frameFlag.key) !== 0) announceKey(header, (this.#head - 1) | 0);
    this.#room = new FrameRoom(memory, allOptions, deps);
    this.#owedFlags = takenOver === null ? 0 : frameFlag.discontinuity;
    Atomics.store(header, headerWord.state, ringState.live);
  }

  get ring(): SharedArrayBuffer {
    return this.#room.memory.buffer;
  }

  /** Size of the data area. */
  get capacityBytes(): number {
    return this.#room.memory.dataBytes;
  }

  /** Readers that wait for the bell. */
  get subscribers(): number {
    return Atomics.load(this.#room.memory.header, headerWord.subscribers);
  }

  beginNal(): void {
    const room = this.#room;
    // Without room for the prefix none is open, and `append` says so.
    if (!room.ensure(room.lengthBytes + PREFIX_BYTES)) return;
    this.#nalStart = room.lengthBytes;
    room.lengthBytes += PREFIX_BYTES;
  }

  append(source: Buffer, start: number, end: number): boolean {
    return this.#nalStart !== NO_NAL && this.#room.append(source, start, end);
  }

  endNal(): void {
    if (this.#nalStart === NO_NAL) return;
    const room = this.#room;
    const nalBytes = room.lengthBytes - this.#nalStart - PREFIX_BYTES;
    if (nalBytes === 0) room.lengthBytes = this.#nalStart;
    else room.data.writeUInt32BE(nalBytes, room.offset + this.#nalStart);
    this.#nalStart = NO_NAL;
  }

  /** Puts whole NAL units before those of the open frame, which moves: for rare cases. False: it gets too large. */
  prepend(nals: Buffer): boolean {
    const room = this.#room;
    const openBytes = room.lengthBytes;
    if (openBytes === 0 || !room.ensure(openBytes + nals.length)) return false;
    const { data, offset } = room;
    data.copyWithin(offset + nals.length, offset, offset + openBytes);
    nals.copy(data, offset);
    room.lengthBytes += nals.length;
    return true;
  }

  abort(): void {
    this.#room.lengthBytes = 0;
    this.#nalStart = NO_NAL;
    this.#publishStaged();
  }

  /** Publishes the open frame; one without a NAL unit is no frame. Flags: key, discontinuity, damaged. */
  commitVideo(stamp: Readonly<FrameStamp>): void {
    this.endNal();
    const { lengthBytes } = this.#room;
    if (lengthBytes > 0) {
      const flags = (stamp.flags & ~frameFlag.audio) | this.#owedFlags;
      this.#owedFlags = 0;
      this.#publish(stamp, flags);
      this.#countVideo(lengthBytes, stamp, flags);
    }
    this.#publishStaged();
  }

  /** Publishes a whole audio frame; while a video frame is open it waits for that one's end. */
  writeAudio(source: Buffer, start: number, end: number, stamp: Readonly<FrameStamp>): void {
    const lengthBytes = end - start;
    if (lengthBytes <= 0) return;
    const isTaken =
      lengthBytes <= MAX_AUDIO_FRAME_BYTES &&
      (this.#room.lengthBytes > 0
        ? this.#stage.push(source, start, end, stamp)
        : this.#publishAudio(source, start, end, stamp));
    if (!isTaken) this.add('audioFramesDropped', 1);
  }

  /** What comes next doesn't follow on what is here: the next video frame is marked as a discontinuity. */
  breakOff(): void {
    this.#owedFlags = frameFlag.discontinuity;
  }

  /** Describes the frames from the next commit on; see `Description.set`. */
  setStreamInfo(info: StreamInfo, awaitsSound = false): void {
    this.description.set(this.#room.memory, info, awaitsSound);
  }

  add(counter: RingCounter, count: number): void {
    this.#room.memory.counters[counterIndex[counter]]! += count;
  }

  /** Something is shown there: whoever takes the ring over goes on behind that. Of sound its owner says so, who knows its rate. */
  reach(ptsMs: number): void {
    const { counters } = this.#room.memory;
    if (ptsMs > counters[counterIndex.furthestPtsMs]!) counters[counterIndex.furthestPtsMs] = ptsMs;
  }

  set(counter: RingCounter, value: number): void {
    this.#room.memory.counters[counterIndex[counter]] = value;
  }

  /** Now and then: gives back what is clearly above the ceiling, the oldest frames with it. */
  trim(): void {
    this.#room.trim();
  }

  /** No frame follows: readers end once they have read what is there. */
  close(): void {
    this.abort();
    Atomics.store(this.#room.memory.header, headerWord.state, ringState.closed);
    if (this.subscribers > 0) this.#deps.bell.markPublished();
  }

  #publish(stamp: Readonly<FrameStamp>, flags: number): void {
    const room = this.#room;
    const sequence = this.#head;
    room.ensureSlot(sequence);
    const { header, slots, slotTimes, slotCount } = room.memory;
    const index = sequence & (slotCount - 1);
    const at = index * SLOT_WORDS;
    const isVideo = (flags & frameFlag.audio) === 0;
    const isKey = (flags & frameFlag.key) !== 0;
    Atomics.exchange(slots, at, ~sequence);
    slots[at + slotWord.flags] = flags;
    slots[at + slotWord.position] = room.start;
    slots[at + slotWord.offset] = room.offset;
    slots[at + slotWord.lengthBytes] = room.lengthBytes;
    slots[at + slotWord.streamVersion] = this.description.version;
    slots[at + slotWord.videoIndex] = this.#videoIndex;
    slots[at + slotWord.formatVersion] = this.description.formatVersion;
    const times = index * SLOT_TIMES;
    slotTimes[times + slotTime.pts] = stamp.ptsTicks;
    slotTimes[times + slotTime.dts] = isVideo ? stamp.dtsTicks : stamp.ptsTicks;
    slotTimes[times + slotTime.wall] = stamp.wallMs;
    slotTimes[times + slotTime.arrival] = stamp.arrivalMs;
    Atomics.store(slots, at, sequence);
    if (isVideo) this.#videoIndex = (this.#videoIndex + 1) | 0;
    room.endFrame(isKey);
    this.#head = (sequence + 1) | 0;
    Atomics.store(header, headerWord.head, this.#head);
    if (isKey) announceKey(header, sequence);
    if (Atomics.load(header, headerWord.subscribers) > 0) this.#deps.bell.markPublished();
  }

  #countVideo(lengthBytes: number, stamp: Readonly<FrameStamp>, flags: number): void {
    const { arrivalMs } = stamp;
    // Named one by one: `add` looks its counter up by a string, which costs a frame more than all the rest here.
    const { counters } = this.#room.memory;
    counters[counterIndex.lastVideoPtsTicks] = stamp.ptsTicks;
    this.reach((stamp.ptsTicks * 1000) / VIDEO_CLOCK_HZ);
    counters[counterIndex.videoFrames]! += 1;
    counters[counterIndex.videoBytes]! += lengthBytes;
    counters[counterIndex.lastVideoArrivalMs] = arrivalMs;
    const isDiscontinuity = (flags & frameFlag.discontinuity) !== 0;
    if (isDiscontinuity) this.add('discontinuities', 1);
    if ((flags & frameFlag.key) === 0) {
      this.#room.measure(lengthBytes);
      return;
    }
    this.add('keyFrames', 1);
    this.set('lastKeyArrivalMs', arrivalMs);
    this.#room.measureKey(lengthBytes, stamp.dtsTicks, arrivalMs, isDiscontinuity);
  }

  #publishAudio(source: Buffer, start: number, end: number, stamp: Readonly<FrameStamp>): boolean {
    if (!this.#room.append(source, start, end)) return false;
    this.#publish(stamp, (stamp.flags & ~frameFlag.key) | frameFlag.audio);
    this.#room.measure(end - start);
    // The camera sent it once.
    if ((stamp.flags & frameFlag.keptOnly) !== 0) return true;
    this.add('audioFrames', 1);
    this.add('audioBytes', end - start);
    return true;
  }

  #publishStaged(): void {
    const stage = this.#stage;
    if (stage.count === 0) return;
    for (let i = 0; i < stage.count; i += 1) {
      const { start, end, stamp } = stage.at(i);
      if (!this.#publishAudio(stage.bytes, start, end, stamp)) this.add('audioFramesDropped', 1);
    }
    stage.clear();
  }
}

/** After `head`, so that a reader that sees the key also sees it published. */
const announceKey = (header: Int32Array, sequence: number): void => {
  Atomics.store(header, headerWord.latestKey, sequence);
  Atomics.store(header, headerWord.hasKey, 1);
};

const emptyRing = (options: RingOptions): RingMemory => {
  const memory = allocateRing(options, randomBytes(4).readInt32LE());
  const position = options.firstPosition | 0;
  const { header } = memory;
  header[headerWord.validFrom] = position;
  header[headerWord.head] = options.firstSequence | 0;
  header[headerWord.reserved] = position;
  header[headerWord.writePosition] = position;
  return memory;
};
