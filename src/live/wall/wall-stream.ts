import type { RingReader } from '../../ring/reader.js';
import type { FrameMessages, KeptMessage } from './frame-messages.js';
import type { TileMode } from './governor.js';
import type { Source, SourceViewer } from './source.js';

/** Frames that pages lost of one source because they were too slow, since its camera is known. */
export type Drops = { frames: number };

/** Why frames are lost to a page: it took what was sent too slowly, or they were overwritten before they were sent. */
export type LossReason = 'slow' | 'overrun';

/** What a stream asks of the page that it goes to. */
export type StreamSink = {
  /** It has to take what was sent before it gets more. */
  readonly isBehind: boolean;
  /** Whether a page that is behind gets this stream's keyframes all the same. */
  isSpared(stream: WallStream): boolean;
  /** A stream is about to send its first frame. */
  onFirstFrame(stream: WallStream): void;
  /** From now on `catchUp` is to be called, until it says that nothing is left. */
  queueCatchUp(stream: WallStream): void;
  add(bytes: Buffer, start: number, end: number, payloadBytes: number): void;
};

/**
 * `catching-up`: reads what is in the ring, from the newest keyframe on. `live`: gets each frame as it comes, in mode
 * `key` each keyframe. `awaiting-key`: goes on with the next keyframe.
 */
type State = 'catching-up' | 'live' | 'awaiting-key';

/** One source as one page sees it, in however many of its tiles. */
export class WallStream implements SourceViewer {
  readonly source: Source;
  /** Of the tiles that show it, or wait for its first keyframe. */
  tileCount = 0;
  priority = 0;
  hasSent = false;
  /** Whether somebody wants its sound. */
  hears = false;
  /** Set by `wants`: the picture at hand goes to this page. */
  isDue = false;
  readonly #sink: StreamSink;
  readonly #drops: Drops;
  #wanted: TileMode = 'off';
  #mode: TileMode = 'off';
  #state: State = 'awaiting-key';
  #reader: RingReader | null = null;
  /** Whether it has read anything since it began to catch up. */
  #isInLine = false;
  #config: KeptMessage | null = null;
  #soundConfig: KeptMessage | null = null;
  #lastUs = -1;
  /** Number of the picture that follows what was sent. */
  #next = 0;
  /** Before this one all lost pictures are counted. */
  #counted = 0;
  #lostFrames = 0;
  #lossReason: LossReason = 'overrun';
  /** The page was too slow for what comes before the next picture. */
  #wasHeld = false;

  constructor(source: Source, sink: StreamSink, drops: Drops) {
    this.source = source;
    this.#sink = sink;
    this.#drops = drops;
  }

  /** What is sent of it. */
  get mode(): TileMode {
    return this.#mode;
  }

  /** Whether sound that comes now goes to this page. */
  get hearsNow(): boolean {
    return this.hears && this.#mode !== 'off' && !this.#sink.isBehind;
  }

  /** What its tiles want, and what of that is sent. */
  setMode(wanted: TileMode, mode: TileMode): void {
    if (wanted !== this.#wanted) this.#settle();
    this.#wanted = wanted;
    if (mode === this.#mode) return;
    const before = this.#mode;
    this.#mode = mode;
    if (mode === 'off') {
      this.#stopCatchUp();
    } else if (this.#sink.isBehind) {
      this.#hold();
    } else if (before === 'off' || mode === 'all') {
      // After keyframes alone all frames follow: those behind the newest one are in the ring.
      this.startCatchUp();
    }
  }

  /** Whether a picture goes to this page; each picture of the source is asked about once, in order. */
  wants(isKey: boolean, index: number): boolean {
    this.isDue = false;
    if (this.#mode === 'off' || this.#state === 'catching-up' || !this.#isNew(index)) return false;
    if (this.#sink.isBehind) {
      this.#hold();
      this.isDue = isKey && this.#sink.isSpared(this);
    } else if (isKey) {
      this.#state = 'live';
      this.isDue = true;
    } else {
      this.isDue = this.#state === 'live' && this.#mode === 'all';
    }
    return this.isDue;
  }

  send(frames: FrameMessages, config: KeptMessage, index: number, timestampUs: number): void {
    this.#count(index);
    this.#wasHeld = this.#state === 'awaiting-key';
    if (!this.hasSent) {
      this.hasSent = true;
      this.#sink.onFirstFrame(this);
    }
    if (config !== this.#config) this.#sendKept(config);
    this.#config = config;
    this.#sink.add(frames.bytes, frames.start, frames.end, frames.payloadBytes);
    this.#lastUs = timestampUs;
    this.#next = (index + 1) >>> 0;
    if (((this.#next - this.#counted) | 0) > 0) this.#counted = this.#next;
  }

  sendSound(frames: FrameMessages, config: KeptMessage): void {
    if (config !== this.#soundConfig) this.#sendKept(config);
    this.#soundConfig = config;
    this.#sink.add(frames.bytes, frames.start, frames.end, frames.payloadBytes);
  }

  /** The page is behind: nothing but what is spared goes to it. */
  hold(): void {
    if (this.#mode !== 'off') this.#hold();
  }

  /** Begins with what the ring holds. */
  startCatchUp(): void {
    if (this.#mode === 'off') return;
    this.#reader = this.source.readNewestKey();
    this.#isInLine = false;
    this.#state = this.#reader === null ? 'awaiting-key' : 'catching-up';
    if (this.#reader !== null) this.#sink.queueCatchUp(this);
  }

  /** Sends up to about so many bytes of what the ring holds. False: it is live, or waits for a keyframe. */
  catchUp(frames: FrameMessages, maxBytes: number): boolean {
    for (let bytes = 0; bytes < maxBytes; ) {
      const reader = this.#reader;
      if (reader === null) return false;
      if (!this.#toNext(reader)) {
        this.#reader = null;
        this.#state = this.#isInLine ? 'live' : 'awaiting-key';
        return false;
      }
      if (!this.source.make(reader, this.#lastUs)) continue;
      bytes += frames.payloadBytes;
      this.send(
        frames,
        this.source.configs.picture(reader)!,
        this.source.indexOf(reader),
        this.source.madeUs,
      );
    }
    return true;
  }

  /** The ring was replaced by another one with the same frames. */
  moveTo(ring: SharedArrayBuffer): void {
    this.#reader?.moveTo(ring);
  }

  /** The ring is gone, and whatever wasn't read of it. */
  lose(): void {
    if (this.#reader !== null) this.#state = 'awaiting-key';
    this.#stopCatchUp();
    this.#settle(this.source.nextPicture);
  }

  /** Counts what is lost up to now; returns what that is since it was asked last, or null. */
  takeLosses(): { readonly frames: number; readonly reason: LossReason } | null {
    this.#settle();
    const frames = this.#lostFrames;
    this.#lostFrames = 0;
    return frames === 0 ? null : { frames, reason: this.#lossReason };
  }

  close(): void {
    this.#settle(this.source.nextPicture);
    this.#stopCatchUp();
  }

  #isNew(index: number): boolean {
    return !this.hasSent || ((index - this.#next) | 0) >= 0;
  }

  #toNext(reader: RingReader): boolean {
    while (reader.next()) {
      if (!reader.isVideo) continue;
      this.#isInLine = true;
      const isMeant = this.#mode === 'all' || reader.isKey;
      if (isMeant && this.#isNew(this.source.indexOf(reader))) return true;
    }
    return false;
  }

  #hold(): void {
    this.#stopCatchUp();
    this.#state = 'awaiting-key';
    this.#wasHeld = true;
  }

  #stopCatchUp(): void {
    if (this.#reader !== null) this.#state = 'awaiting-key';
    this.#reader = null;
  }

  #sendKept({ bytes, payloadBytes }: KeptMessage): void {
    this.#sink.add(bytes, 0, bytes.length, payloadBytes);
  }

  /**
   * Where it waits, or gets keyframes alone though it wants all, the pictures up to this one are lost to it. Those since
   * the newest keyframe it may yet be given.
   */
  #settle(upTo = this.source.newestKeyIndex): void {
    if (this.#state === 'awaiting-key' || this.#mode !== 'all') this.#count(upTo);
  }

  /** The pictures before this one that weren't sent won't be. */
  #count(index: number): void {
    const missed = (index - this.#counted) | 0;
    if (missed <= 0) return;
    this.#counted = index;
    if (!this.hasSent || this.#wanted !== 'all') return;
    this.#lossReason = this.#wasHeld || this.#mode !== 'all' ? 'slow' : 'overrun';
    this.#lostFrames += missed;
    this.#drops.frames += missed;
  }
}
