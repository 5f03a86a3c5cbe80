import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { readCounters } from '../../ring/counters.js';
import { RingReader } from '../../ring/reader.js';
import { FRAME_FLAG, FrameHead } from '../../wire/frame-head.js';
import type { CameraFeed } from '../feeds.js';
import { Timestamps } from '../timestamps.js';
import { Configs } from './configs.js';
import type { FrameMessages, KeptMessage } from './frame-messages.js';

const US_PER_TICK = 1_000_000 / VIDEO_CLOCK_HZ;

/** The numbers of a source's pictures and of its sound: the same for all walls, as long as the camera is known. */
export type StreamNumbers = { readonly picture: number; readonly sound: number };

/** A page that shows the source. */
export type SourceViewer = {
  /** Tiles that show it. */
  readonly tileCount: number;
  /** Whether the picture that `wants` asked about goes there. */
  readonly isDue: boolean;
  /** Whether sound that comes now goes there. */
  readonly hearsNow: boolean;
  wants(isKey: boolean, index: number): boolean;
  send(frames: FrameMessages, config: KeptMessage, index: number, timestampUs: number): void;
  sendSound(frames: FrameMessages, config: KeptMessage): void;
  /** The ring was replaced by another one with the same frames. */
  moveTo(ring: SharedArrayBuffer): void;
  /** The ring is gone, and whatever wasn't read of it. */
  lose(): void;
};

/** One source of one camera: each of its frames is read once, made a message once, and goes to all who are live. */
export class Source {
  readonly key: string;
  readonly numbers: StreamNumbers;
  readonly configs: Configs;
  readonly streams: SourceViewer[] = [];
  readonly #frames: FrameMessages;
  readonly #timestamps = new Timestamps();
  readonly #head = new FrameHead();
  #feed: CameraFeed | null = null;
  #reader: RingReader | null = null;
  /** Added to what a ring counts: frames are numbered on though another ring counts from 0. */
  #pictureBase = 0;
  #soundBase = 0;
  /** Of the pictures and the sound that come next. */
  #nextPicture = 0;
  #newestKey = 0;
  #nextSound = 0;
  #soundUs = -1;
  #isRestarted = false;

  constructor(key: string, numbers: StreamNumbers, frames: FrameMessages) {
    this.key = key;
    this.numbers = numbers;
    this.configs = new Configs(numbers.picture, numbers.sound);
    this.#frames = frames;
  }

  /** The camera has sent something that can be shown. */
  get hasPicture(): boolean {
    return this.#feed !== null && readCounters(this.#feed.ring).keyFrames > 0;
  }

  /** Number of the picture that follows what was read. */
  get nextPicture(): number {
    return this.#nextPicture;
  }

  /** Number of the newest keyframe that was read. */
  get newestKeyIndex(): number {
    return this.#newestKey;
  }

  /** A reader that begins with the newest keyframe, if there is any ring. */
  readNewestKey(): RingReader | null {
    return this.#feed === null ? null : new RingReader(this.#feed.ring, { start: 'latest-key' });
  }

  /** Where the frames are from now on. */
  moveTo(feed: CameraFeed, nowMs: number): void {
    this.pump(nowMs);
    this.#feed = feed;
    const reader = this.#reader;
    if (reader === null) {
      this.#reader = this.#open(feed.ring, nowMs);
    } else if (reader.moveTo(feed.ring)) {
      for (const stream of this.streams) stream.moveTo(feed.ring);
    } else {
      for (const stream of this.streams) stream.lose();
      this.#pictureBase = this.#nextPicture;
      this.#soundBase = this.#nextSound + reader.passedSounds;
      this.configs.restart();
      this.#timestamps.restart();
      this.#isRestarted = true;
    }
  }

  /** Sends all that is new. */
  pump(nowMs: number): void {
    const reader = this.#reader;
    if (reader === null) return;
    while (reader.next()) {
      if (reader.isVideo) this.#deliverPicture(reader, nowMs);
      else this.#deliverSound(reader);
    }
  }

  /** The current picture of a stream's own reader, as a message. False: it is gone, or can't be described. */
  make(reader: RingReader, lastUs: number): boolean {
    const head = this.#head;
    head.decodeUs = this.#timestamps.after(lastUs, reader.dtsTicks);
    return this.#makePicture(reader, reader.discontinuity);
  }

  indexOf(reader: RingReader): number {
    return (reader.videoIndex + this.#pictureBase) >>> 0;
  }

  /** When the frame that was made last is decoded. */
  get madeUs(): number {
    return this.#head.decodeUs;
  }

  /** Lets go of the ring. */
  close(): void {
    this.#reader?.unsubscribe();
    this.#reader = null;
    this.#feed = null;
  }

  #open(ring: SharedArrayBuffer, nowMs: number): RingReader {
    const reader = new RingReader(ring, { start: 'latest-key' });
    reader.subscribe();
    // What is there already goes to each page by a reader of its own.
    while (reader.next()) {
      if (reader.isVideo) this.#pass(reader, nowMs);
      else this.#nextSound = (this.#soundIndexOf(reader) + 1) >>> 0;
    }
    return reader;
  }

  /** Takes note of a picture: when it is decoded, and which number is next. */
  #pass(reader: RingReader, nowMs: number): number {
    this.#head.decodeUs = this.#timestamps.next(reader.dtsTicks, nowMs);
    const index = this.indexOf(reader);
    if (reader.isKey) this.#newestKey = index;
    this.#nextPicture = (index + 1) >>> 0;
    return index;
  }

  #deliverPicture(reader: RingReader, nowMs: number): void {
    const index = this.#pass(reader, nowMs);
    const brokeOff = reader.discontinuity || this.#isRestarted;
    this.#isRestarted = false;
    let isWanted = false;
    for (let at = 0; at < this.streams.length; at += 1) {
      isWanted = this.streams[at]!.wants(reader.isKey, index) || isWanted;
    }
    if (!isWanted) return;
    if (!this.#makePicture(reader, brokeOff)) return;
    const config = this.configs.picture(reader)!;
    // Whoever gets its first frame of this source may leave another one, never this one.
    for (let at = 0; at < this.streams.length; at += 1) {
      const stream = this.streams[at]!;
      if (stream.isDue) stream.send(this.#frames, config, index, this.#head.decodeUs);
    }
  }

  #makePicture(reader: RingReader, brokeOff: boolean): boolean {
    if (this.configs.picture(reader) === null) return false;
    const head = this.#head;
    head.stream = this.numbers.picture;
    head.index = this.indexOf(reader);
    head.compositionUs = (reader.ptsTicks - reader.dtsTicks) * US_PER_TICK;
    head.wallUs = reader.wallMs * 1000;
    head.flags = (reader.isKey ? FRAME_FLAG.key : 0) | (brokeOff ? FRAME_FLAG.brokeOff : 0);
    return this.#frames.make(reader, head);
  }

  #deliverSound(reader: RingReader): void {
    const index = this.#soundIndexOf(reader);
    this.#nextSound = (index + 1) >>> 0;
    if (!this.streams.some((stream) => stream.hearsNow)) return;
    const config = this.configs.sound(reader);
    const audio = reader.streamInfo()?.audio ?? null;
    if (config === null || audio === null || audio.clockRateHz === 0) return;
    const head = this.#head;
    const videoTicks = (reader.ptsTicks / audio.clockRateHz) * VIDEO_CLOCK_HZ;
    head.stream = this.numbers.sound;
    head.index = index;
    this.#soundUs = this.#timestamps.after(this.#soundUs, videoTicks);
    head.decodeUs = this.#soundUs;
    head.compositionUs = 0;
    head.wallUs = reader.wallMs * 1000;
    // As in recordings: a decoder can begin with any frame of sound.
    head.flags = FRAME_FLAG.key | (reader.discontinuity ? FRAME_FLAG.brokeOff : 0);
    if (!this.#frames.make(reader, head)) return;
    if (audio.codec === 'l16') this.#frames.swapSamples();
    for (const stream of this.streams) if (stream.hearsNow) stream.sendSound(this.#frames, config);
  }

  /** A ring numbers all its frames; what is no picture among them is sound, some of it twice, as files keep it. */
  #soundIndexOf({ sequence, videoIndex, passedSounds }: RingReader): number {
    return (sequence - videoIndex - passedSounds + this.#soundBase) >>> 0;
  }
}
