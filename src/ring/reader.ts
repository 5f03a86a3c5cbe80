import type { MonotonicMs, Ticks, WallMs } from '../base/clock.js';
import type { StreamInfo } from '../codec/track.js';
import { copyBytes } from './copy-bytes.js';
import { frameFlag } from './frame-flag.js';
import { HeldFrames, isUntouched } from './held-frames.js';
import { headerWord, RingMemory, ringState, slotTime, slotWord } from './layout.js';
import { loadStreamInfo } from './stream-info.js';

export type RingReaderOptions = {
  /**
   * The newest keyframe in the ring, or the first one that comes from now on; `unmarked-key`: the newest one, unless
   * a reader before this one has left word that it was there already.
   */
  readonly start: 'latest-key' | 'next' | 'unmarked-key';
  /** Sound as the camera sends it, or as files hold it; the same where there is but one. Both: whoever fills a ring again. */
  readonly sound?: 'sent' | 'kept' | 'both';
};

/** The flag of sound that isn't for a reader. */
const unwantedFlag = { sent: frameFlag.keptOnly, kept: frameFlag.sentOnly, both: 0 } as const;

/** A writer would have to lap the whole ring this often during one call for it to come back empty. */
const MAX_OVERRUNS_PER_CALL = 4;

/**
 * A cursor on a ring, for one consumer in any thread. `next` moves to a frame and fills the public fields, which
 * hold until the following `next`, or `moveTo` a new ring. What comes out always begins with a keyframe, at the start and
 * after each overrun.
 */
export class RingReader {
  sequence = 0;
  isKey = false;
  isVideo = false;
  isAudio = false;
  discontinuity = false;
  damaged = false;
  /** Bits of `frameFlag`, as the frame was written. */
  flags = 0;
  ptsTicks = 0 as Ticks;
  dtsTicks = 0 as Ticks;
  wallMs = 0 as WallMs;
  arrivalMs = 0 as MonotonicMs;
  lengthBytes = 0;
  /** Another number whenever the description is another. */
  streamVersion = 0;
  /**
   * Another number when it is of another codec, picture size or sound. Frames of a number have the same parameter sets,
   * or keyframes that bring their own.
   */
  formatVersion = 0;
  /** Video frames that were dropped right before this frame. */
  gapBefore = 0;
  /** Video frames that this reader has dropped since its first frame. */
  droppedFrames = 0;

  /** Frames of sound that were passed over since they are for other readers. */
  passedSounds = 0;

  /** The flag of sound that isn't for this reader. */
  readonly #unwanted: number;
  #isUnwanted = false;
  #memory: RingMemory;
  #cursor: number;
  /** What may come next: any frame, or a keyframe alone. */
  #seeks: 'any' | 'first-key' | 'newest-key';
  /** Whether the first frame has been delivered: what was before it isn't missed. */
  #hasStarted = false;
  #holdsFrame = false;
  /** `videoIndex` of the video frame that follows without a gap. */
  #expectedIndex = 0;
  #pendingGap = 0;
  #owesDiscontinuity = false;
  #position = 0;
  #offset = 0;
  #videoIndex = 0;
  #info: StreamInfo | null = null;
  #infoVersion = 0;
  #isSubscribed = false;

  constructor(ring: SharedArrayBuffer, options: RingReaderOptions) {
    this.#unwanted = unwantedFlag[options.sound ?? 'sent'];
    this.#memory = new RingMemory(ring);
    this.#seeks = options.start === 'next' ? 'first-key' : 'newest-key';
    this.#cursor = this.#firstCursor(options.start);
  }

  /** Moves to the next frame. False: there is none yet, or none any more (`ended`). */
  next(): boolean {
    this.#holdsFrame = false;
    for (let overruns = 0; overruns < MAX_OVERRUNS_PER_CALL; ) {
      const head = Atomics.load(this.#memory.header, headerWord.head);
      if (this.#seeks === 'newest-key') {
        if (!this.#seekKey(head)) return false;
      } else if (this.#cursor === head) {
        return false;
      }
      if (!this.#load(this.#cursor)) {
        this.#seeks = 'newest-key';
        overruns += 1;
      } else if (this.#isUnwanted || (this.#seeks === 'first-key' && !this.isKey)) {
        if (this.#isUnwanted) this.passedSounds += 1;
        this.#cursor = (this.#cursor + 1) | 0;
      } else {
        this.#deliver();
        return true;
      }
    }
    return false;
  }

  /**
   * Copies the frame. False: it was overwritten meanwhile; it counts as dropped, what is in `target` is
   * worthless, and `next` goes on with the newest keyframe.
   */
  copyTo(target: Buffer, targetStart: number): boolean {
    if (!this.#holdsFrame) return false;
    if (targetStart + this.lengthBytes > target.length) throw new RangeError('the frame outgrows the target');
    copyBytes(this.#memory.data, this.#offset, this.#offset + this.lengthBytes, target, targetStart);
    return this.isIntact();
  }

  /** Whether the current frame's bytes have not been overwritten so far. False drops it, as `copyTo` does. */
  isIntact(): boolean {
    if (!this.#holdsFrame) return false;
    if (isUntouched(this.#memory, this.sequence, this.#position)) return true;
    this.#dropCurrent();
    return false;
  }

  /** Leaves the current frame where it lies, to be copied later, with those before it in `held`: of this ring, too. */
  hold(held: HeldFrames | null): HeldFrames {
    const frames = held ?? new HeldFrames(this.#memory, this.sequence, this.#position);
    frames.add(this.#offset, this.lengthBytes);
    return frames;
  }

  /** Goes on at the newest keyframe, if that lies ahead. Returns how many video frames that drops. */
  skipToLatestKey(): number {
    const { header, slots } = this.#memory;
    if (Atomics.load(header, headerWord.hasKey) === 0) return 0;
    const key = Atomics.load(header, headerWord.latestKey);
    if (((key - this.#cursor) | 0) <= 0) return 0;
    const at = this.#memory.slotAt(key);
    const index = slots[at + slotWord.videoIndex]!;
    if (Atomics.add(slots, at, 0) !== key) return 0;
    this.#cursor = key;
    this.#seeks = 'any';
    return this.#missUpTo(index);
  }

  /** Nothing but a keyframe may come next: none has come yet, or frames were dropped. */
  get awaitsKey(): boolean {
    return this.#seeks !== 'any';
  }

  /** The video frames before this one, modulo 2^32: the same for all readers of a ring and its replacements. */
  get videoIndex(): number {
    return this.#videoIndex;
  }

  /** Frames of both tracks that are published and not read. */
  get backlogFrames(): number {
    return (Atomics.load(this.#memory.header, headerWord.head) - this.#cursor) >>> 0;
  }

  /** How long the next frame has been waiting; infinite if it has been overwritten. */
  lagMs(now: MonotonicMs): number {
    if (this.backlogFrames === 0) return 0;
    const { slots, slotTimes } = this.#memory;
    const at = this.#memory.slotAt(this.#cursor);
    const arrivalMs = slotTimes[at / 2 + slotTime.arrival]!;
    return Atomics.add(slots, at, 0) === this.#cursor
      ? Math.max(0, now - arrivalMs)
      : Number.POSITIVE_INFINITY;
  }

  /**
   * The description of the current frame's stream. Null: it is older than the four that are kept, so the frame
   * can't be used; it is dropped as by an overrun.
   */
  streamInfo(): StreamInfo | null {
    if (!this.#holdsFrame) return null;
    if (this.#info !== null && this.#infoVersion === this.streamVersion) return this.#info;
    this.#info = loadStreamInfo(this.#memory, this.streamVersion);
    this.#infoVersion = this.streamVersion;
    if (this.#info === null) this.#dropCurrent();
    return this.#info;
  }

  /** The writer has closed the ring, and nothing is left to read. */
  get ended(): boolean {
    const { header } = this.#memory;
    if (Atomics.load(header, headerWord.state) !== ringState.closed) return false;
    const head = Atomics.load(header, headerWord.head);
    return this.#cursor === head || (this.#seeks === 'newest-key' && !this.#seekKey(head));
  }

  /** The same, with the sound that the frame's format turned out to have after its first frames. */
  formatInfo(): StreamInfo | null {
    const info = this.streamInfo();
    if (info === null || info.audio !== null) return info;
    const { header } = this.#memory;
    const version = Atomics.load(header, headerWord.streamVersion);
    const isOther = version === this.streamVersion || header[headerWord.formatVersion] !== this.formatVersion;
    const audio = isOther ? null : (loadStreamInfo(this.#memory, version)?.audio ?? null);
    return audio === null ? info : { video: info.video, audio };
  }

  /** Of the newest frames it isn't known yet whether they have sound: who describes them for good waits a moment. */
  get awaitsSound(): boolean {
    return Atomics.load(this.#memory.header, headerWord.awaitsSound) === 1;
  }

  /** Of the newest frames, whether or not they are read. */
  get newestFormatVersion(): number {
    return this.#memory.header[headerWord.formatVersion]!;
  }

  /**
   * The ring was replaced by a larger or smaller one, in which the current frame stays current, if it is there; or the
   * camera has a new one. False: it is a new one, whose frames are numbered afresh, and none is current until `next`.
   */
  moveTo(ring: SharedArrayBuffer): boolean {
    if (ring === this.#memory.buffer) return true;
    const old = this.#memory;
    const wasSubscribed = this.#isSubscribed;
    const heldFrame = this.#holdsFrame;
    this.unsubscribe();
    this.#memory = new RingMemory(ring);
    this.#holdsFrame = false;
    if (wasSubscribed) this.subscribe();
    const { header } = this.#memory;
    const aheadFrames = (this.#cursor - Atomics.load(header, headerWord.head)) | 0;
    if (header[headerWord.ringId] === old.header[headerWord.ringId] && aheadFrames <= 0) {
      if (heldFrame) this.#holdAgain();
      return true;
    }
    this.#owesDiscontinuity = this.#hasStarted;
    this.#hasStarted = false;
    this.#seeks = 'newest-key';
    this.#info = null;
    this.#cursor = this.#firstCursor('latest-key');
    return false;
  }

  /** Leaves word of how far this reader has come, for the one that goes on with its work, in whatever thread. */
  leaveMark(): void {
    const { header } = this.#memory;
    Atomics.store(header, headerWord.mark, this.#cursor);
    Atomics.store(header, headerWord.hasMark, 1);
  }

  /** Asks for the bell to be rung at each commit; for readers outside the writer's thread. */
  subscribe(): void {
    if (this.#isSubscribed) return;
    this.#isSubscribed = true;
    Atomics.add(this.#memory.header, headerWord.subscribers, 1);
  }

  unsubscribe(): void {
    if (!this.#isSubscribed) return;
    this.#isSubscribed = false;
    Atomics.sub(this.#memory.header, headerWord.subscribers, 1);
  }

  #firstCursor(start: RingReaderOptions['start']): number {
    const { header } = this.#memory;
    const head = Atomics.load(header, headerWord.head);
    if (start === 'next' || Atomics.load(header, headerWord.hasKey) === 0) return head;
    const key = Atomics.load(header, headerWord.latestKey);
    const isDone =
      start === 'unmarked-key' &&
      Atomics.load(header, headerWord.hasMark) === 1 &&
      ((key - Atomics.load(header, headerWord.mark)) | 0) < 0;
    return isDone ? head : key;
  }

  /** Puts the cursor on the newest keyframe that it hasn't passed, or else on what is published next. */
  #seekKey(head: number): boolean {
    const { header } = this.#memory;
    if (Atomics.load(header, headerWord.hasKey) === 1) {
      const key = Atomics.load(header, headerWord.latestKey);
      if (((key - this.#cursor) | 0) >= 0 && this.#load(key)) {
        this.#cursor = key;
        return true;
      }
    }
    return this.#catchUp(head);
  }

  /** Moves the cursor to `head`, counting what that drops. True: a keyframe came just now, and it is there. */
  #catchUp(head: number): boolean {
    if (this.#cursor === head) return false;
    const last = (head - 1) | 0;
    const { slots } = this.#memory;
    const at = this.#memory.slotAt(last);
    const flags = slots[at + slotWord.flags]!;
    const index = slots[at + slotWord.videoIndex]!;
    // Lapped meanwhile: the next call tries again with a newer head.
    if (Atomics.add(slots, at, 0) !== last) return false;
    const isKey = (flags & frameFlag.key) !== 0;
    const isVideo = (flags & frameFlag.audio) === 0;
    this.#cursor = isKey ? last : head;
    this.#missUpTo(isVideo && !isKey ? (index + 1) | 0 : index);
    return isKey;
  }

  /** Counts the video frames before the one with this index as dropped. */
  #missUpTo(videoIndex: number): number {
    const missed = this.#hasStarted ? (videoIndex - this.#expectedIndex) | 0 : 0;
    this.#expectedIndex = videoIndex;
    this.#pendingGap += missed;
    this.droppedFrames += missed;
    return missed;
  }

  /** Fills the fields from a slot. False: the frame isn't there any more, and the fields are worthless. */
  #load(sequence: number): boolean {
    const { header, slots, slotTimes } = this.#memory;
    const at = this.#memory.slotAt(sequence);
    if (Atomics.load(slots, at) !== sequence) return false;
    const flags = slots[at + slotWord.flags]!;
    this.#position = slots[at + slotWord.position]!;
    this.#offset = slots[at + slotWord.offset]!;
    this.lengthBytes = slots[at + slotWord.lengthBytes]!;
    this.streamVersion = slots[at + slotWord.streamVersion]!;
    this.formatVersion = slots[at + slotWord.formatVersion]!;
    this.#videoIndex = slots[at + slotWord.videoIndex]!;
    const times = at / 2;
    this.ptsTicks = slotTimes[times + slotTime.pts] as Ticks;
    this.dtsTicks = slotTimes[times + slotTime.dts] as Ticks;
    this.wallMs = slotTimes[times + slotTime.wall] as WallMs;
    this.arrivalMs = slotTimes[times + slotTime.arrival] as MonotonicMs;
    if (Atomics.add(slots, at, 0) !== sequence) return false;
    this.sequence = sequence;
    this.flags = flags;
    this.isKey = (flags & frameFlag.key) !== 0;
    this.isAudio = (flags & frameFlag.audio) !== 0;
    this.#isUnwanted = (flags & this.#unwanted) !== 0;
    this.isVideo = !this.isAudio;
    this.discontinuity = (flags & frameFlag.discontinuity) !== 0;
    this.damaged = (flags & frameFlag.damaged) !== 0;
    return this.#memory.holds(this.#position, Atomics.load(header, headerWord.reserved));
  }

  #deliver(): void {
    this.#missUpTo(this.#videoIndex);
    this.gapBefore = this.#pendingGap;
    this.#pendingGap = 0;
    if (this.#owesDiscontinuity) this.discontinuity = true;
    this.#owesDiscontinuity = false;
    if (this.isVideo) this.#expectedIndex = (this.#videoIndex + 1) | 0;
    this.#cursor = (this.sequence + 1) | 0;
    this.#seeks = 'any';
    this.#hasStarted = true;
    this.#holdsFrame = true;
  }

  /** The current frame lies elsewhere in this ring; if it isn't there, whoever asks for it is told so. */
  #holdAgain(): void {
    const { discontinuity } = this;
    this.#holdsFrame = true;
    if (this.#load(this.sequence)) this.discontinuity ||= discontinuity;
    else this.#offset = 0;
  }

  #dropCurrent(): void {
    this.#holdsFrame = false;
    this.#seeks = 'newest-key';
    const lostFrames = this.isVideo ? 1 : 0;
    this.droppedFrames += lostFrames;
    this.#pendingGap = this.gapBefore + lostFrames;
  }
}
