import type { Clock, MonotonicMs } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { cameraIdOf, sourceFields } from '../../ring/source-key.js';
import type { CameraFeed, CameraFeeds } from '../feeds.js';
import { KeptText } from './kept-text.js';
import { lowLatencyPlaylist } from './ll-playlist.js';
import { MergedReader } from './merged-reader.js';
import { subtitlePlaylist, videoPlaylist } from './playlists.js';
import { Pollers } from './pollers.js';
import type { Segment } from './segment.js';
import { Segmenter } from './segmenter.js';
import type { TsMaker } from './ts-maker.js';
import { Waiting } from './waiting.js';
import { type Numbers, SegmentWindow } from './window.js';

/** How long the first request waits for a picture. */
const FIRST_SEGMENT_WAIT_MS = 10_000;
/** How much longer a player of whole segments waits for a second one: with one alone it would soon run dry. */
const SECOND_SEGMENT_WAIT_MS = 3_000;
/** With nobody asking for this long a lazy channel rests. */
const IDLE_AFTER_MS = 60_000;
/** Parts are looked for at each beat for this long after somebody asked for them. */
const PARTS_WANTED_MS = 10_000;
/** A viewer that hasn't asked for this long, or for two target durations, has gone. */
const VIEWER_GONE_MS = 10_000;
/** Frames that one turn may take, so that a camera that floods its ring keeps nobody else waiting. */
const MAX_FRAMES_PER_TURN = 4_000;
/** By this time every frame has waited long enough. */
const NEVER_WAIT_MS = Number.POSITIVE_INFINITY as MonotonicMs;
/** MPEG-TS that is kept beside the frames: for viewers that ask for the same at about the same time. */
const KEPT_TS_SEGMENTS = 2;

export type HlsErrorCode = 'not_found' | 'no_picture' | 'bad_request';

/** An error of live HLS, with its code for the HTTP status. */
export const hlsError = (
  code: HlsErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError<HlsErrorCode> => new AppError(code, message, { details });

export type ChannelDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly feeds: CameraFeeds;
  readonly tsMaker: TsMaker;
  /** The camera is gone. */
  readonly onGone: () => void;
};

/** One camera's live HLS: rests until it is woken, and again when nobody asks any more. */
export class Channel {
  readonly numbers: Numbers;
  /** The playlists that are asked for all the time. */
  readonly texts = {
    video: new KeptText(videoPlaylist),
    subtitles: new KeptText(subtitlePlaylist),
    parts: new KeptText((window, suffix) => lowLatencyPlaylist(window, suffix, false)),
    delta: new KeptText((window, suffix) => lowLatencyPlaylist(window, suffix, true)),
  };
  readonly #source: string;
  readonly #deps: ChannelDeps;
  readonly #window: SegmentWindow;
  readonly #waiting: Waiting;
  readonly #pollers = new Pollers();
  readonly #keptTs: Buffer[] = [];
  #unfollow: (() => void) | null = null;
  #nextRing: SharedArrayBuffer | null = null;
  #reader: MergedReader | null = null;
  #segmenter: Segmenter | null = null;
  #askedMs = 0 as MonotonicMs;
  #partsWantedMs = Number.NEGATIVE_INFINITY;
  #seenRevision = 0;
  #isResumed = false;
  #isGone = false;
  #droppedFrames = 0;

  constructor(source: string, numbers: Numbers, deps: ChannelDeps) {
    this.#source = source;
    this.numbers = numbers;
    this.#deps = deps;
    this.#window = new SegmentWindow(numbers);
    this.#waiting = new Waiting(deps.clock);
  }

  get isAwake(): boolean {
    return this.#unfollow !== null;
  }

  /** What its segments take, by how many it may keep. */
  get memory(): Pick<SegmentWindow, 'wantedBytes' | 'leastBytes'> {
    return this.#window;
  }

  /** Its share of the memory that there is for all. */
  share(bytes: number): void {
    this.#window.shareBytes = bytes;
  }

  /** Nobody plays it, and nobody waits for it to be played. */
  get isIdle(): boolean {
    return this.#waiting.count === 0 && this.viewers() === 0;
  }

  /** Video frames that were overwritten before this reader came to them. */
  get droppedFrames(): number {
    return this.#droppedFrames + (this.#reader?.droppedFrames ?? 0);
  }

  /** Whether somebody plays parts: they can't wait as long as whole segments. */
  wantsParts(nowMs: MonotonicMs): boolean {
    return nowMs - this.#partsWantedMs < PARTS_WANTED_MS;
  }

  /** Begins to cut segments, if it doesn't yet. */
  wake(): void {
    if (this.#unfollow !== null) return;
    this.#askedMs = this.#deps.clock.monotonicMs();
    // The listener may be called before `follow` has returned.
    this.#unfollow = () => {};
    const unfollow = this.#deps.feeds.follow(this.#source, (feed) => this.#onFeed(feed));
    if (this.#isGone) unfollow();
    else this.#unfollow = unfollow;
  }

  /** Gives up all segments; whoever waits is told that there is no picture. */
  rest(): void {
    this.#unfollow?.();
    this.#unfollow = null;
    this.#nextRing = null;
    this.#dropReader();
    this.#keptTs.length = 0;
    this.#waiting.end();
  }

  /** Takes what has come since the last turn. `isLazy`: it may rest when nobody asks. */
  turn(nowMs: MonotonicMs, isLazy: boolean): void {
    if (isLazy && nowMs - this.#askedMs > this.#idleAfterMs() && this.#waiting.count === 0) {
      this.rest();
      return;
    }
    this.#enterRing(nowMs);
    this.#read(nowMs);
    if (this.#window.revision === this.#seenRevision) return;
    this.#seenRevision = this.#window.revision;
    this.#waiting.check();
  }

  viewers(): number {
    return this.#pollers.count(this.#deps.clock.monotonicMs(), this.#goneAfterMs());
  }

  /** Somebody asked for something; `viewerKey`: who, if that plays. */
  note(viewerKey: string | null): void {
    this.#askedMs = this.#deps.clock.monotonicMs();
    if (viewerKey !== null) this.#pollers.note(viewerKey, this.#askedMs);
  }

  /** Wakes the channel and waits for a first segment. Throws `no_picture` or `not_found`. */
  async ready(): Promise<SegmentWindow> {
    this.wake();
    const hasSegment = (): boolean => this.#window.latest !== null;
    if (this.#isGone || !(await this.#waiting.until(hasSegment, FIRST_SEGMENT_WAIT_MS)) || !hasSegment())
      throw this.#nothing();
    return this.#window;
  }

  /** The same, and for a second segment if that comes soon: players begin with the oldest one that is listed. */
  async readyToPlay(): Promise<SegmentWindow> {
    const { clock } = this.#deps;
    const startMs = clock.monotonicMs();
    const window = await this.ready();
    const leftMs = startMs + FIRST_SEGMENT_WAIT_MS - clock.monotonicMs();
    const isEnough = (): boolean => window.listed().length !== 1;
    await this.#waiting.until(isEnough, Math.max(0, Math.min(SECOND_SEGMENT_WAIT_MS, leftMs)));
    if (window.latest === null) throw this.#nothing();
    return window;
  }

  /** For players of parts: waits for a part, or for a whole segment where `part` is null. */
  async readyFor(wanted: { segment: number; part: number | null } | null): Promise<SegmentWindow> {
    this.#partsWantedMs = this.#deps.clock.monotonicMs();
    const window = this.#window.latest === null ? await this.ready() : this.#window;
    if (wanted === null) return window;
    // RFC 8216bis §6.2.5.2: more than two segments ahead is a mistake, and waiting has its end.
    if (wanted.segment > (window.latest?.number ?? 0) + 2)
      throw hlsError('bad_request', '_HLS_msn is too far ahead');
    const waitMs = window.targetDurationSec * 3_000;
    const isThere = (): boolean => hasReached(window, wanted.segment, wanted.part);
    if (isThere()) return window;
    if (!(await this.#waiting.until(isThere, waitMs)) || window.latest === null) throw this.#nothing();
    return window;
  }

  /** A part's bytes; waits for the one that was hinted at. Throws `not_found`. */
  part(number: number, index: number): Buffer | Promise<Buffer> {
    this.#partsWantedMs = this.#deps.clock.monotonicMs();
    const segment = this.find(number);
    if (segment.durationTicks !== null || index !== segment.parts.length) return partOf(segment, index);
    const isDecided = (): boolean => segment.parts.length > index || this.#window.open !== segment;
    const waitMs = this.#window.targetDurationSec * 3_000;
    return this.#waiting.until(isDecided, waitMs).then(() => partOf(segment, index));
  }

  /** A whole segment as MPEG-TS. */
  ts(number: number): Buffer {
    const segment = this.whole(number);
    // One that was given up is there for as long as it is on its way to somebody.
    const made = segment.ts?.deref();
    if (made !== undefined) return made;
    const bytes = this.#deps.tsMaker.make(segment);
    segment.ts = new WeakRef(bytes);
    this.#keptTs.push(bytes);
    while (this.#keptTs.length > KEPT_TS_SEGMENTS) this.#keptTs.shift();
    return bytes;
  }

  init(version: number): Buffer {
    const init = this.#window.init(version);
    if (init === null) throw hlsError('not_found', 'there is no such init segment');
    return init.bytes;
  }

  find(number: number): Segment {
    const segment = this.#window.find(number);
    if (segment === null) throw hlsError('not_found', 'there is no such segment (any more)');
    return segment;
  }

  whole(number: number): Segment {
    const segment = this.find(number);
    if (segment.durationTicks === null) throw hlsError('not_found', 'the segment is not whole yet');
    return segment;
  }

  /** Why there is nothing to play. */
  #nothing(): AppError<HlsErrorCode> {
    if (this.#isGone) return hlsError('not_found', `there is no camera ${cameraIdOf(this.#source)}`);
    return hlsError('no_picture', 'the camera has no picture yet', { retryAfterSec: 2 });
  }

  #goneAfterMs(): number {
    return Math.max(VIEWER_GONE_MS, this.#window.targetDurationSec * 2_000);
  }

  /** A camera that is connected for us alone is not to be paid for without a viewer. */
  #idleAfterMs(): number {
    return this.#deps.feeds.isOnDemand(this.#source) ? this.#goneAfterMs() : IDLE_AFTER_MS;
  }

  #onFeed(feed: CameraFeed | null): void {
    if (feed === null) {
      this.#isGone = true;
      this.rest();
      this.#deps.onGone();
      return;
    }
    this.#nextRing = feed.ring;
  }

  /** Goes on in the ring that was told of last; here, so that no fault of ours meets whoever told. */
  #enterRing(nowMs: MonotonicMs): void {
    const ring = this.#nextRing;
    if (ring === null) return;
    this.#nextRing = null;
    if (this.#reader !== null) {
      // A picture that waits for its sound finds it in a ring that has the frames of this one; in any other it is lost.
      this.#read(this.#reader.continuesIn(ring) ? nowMs : NEVER_WAIT_MS);
      // Its end may have been read just now.
      this.#reader?.moveTo(ring);
    }
    if (this.#reader !== null) return;
    this.#reader = new MergedReader(ring, nowMs);
    this.#segmenter = new Segmenter(this.#window, this.#isResumed);
    this.#isResumed = true;
  }

  #read(nowMs: MonotonicMs): void {
    const reader = this.#reader;
    const segmenter = this.#segmenter;
    if (reader === null || segmenter === null) return;
    for (let frames = 0; frames < MAX_FRAMES_PER_TURN; frames += 1) {
      const frame = reader.next(nowMs);
      if (frame === null) break;
      segmenter.accept(frame, reader.nextAudioTicks);
    }
    // The camera was switched off; should it come back, it has another ring.
    if (reader.ended) this.#dropReader();
  }

  #dropReader(): void {
    this.#droppedFrames += this.#reader?.droppedFrames ?? 0;
    const refusedFrames = this.#segmenter?.refusedFrames ?? 0;
    if (refusedFrames > 0) {
      const fields = { ...sourceFields(this.#source), frames: refusedFrames };
      this.#deps.log.warn('live HLS had to leave frames out', fields);
    }
    this.#reader = null;
    this.#segmenter = null;
    this.#window.clear();
  }
}

const partOf = (segment: Segment, index: number): Buffer => {
  const part = segment.parts[index];
  if (part === undefined) throw hlsError('not_found', 'there is no such part');
  return part.bytes;
};

/** RFC 8216bis §6.2.5.2; a part behind a segment's last one is the first of the next segment. */
const hasReached = (window: SegmentWindow, number: number, part: number | null): boolean => {
  const { latest, open } = window;
  // Its segments were given up: the playlist that is there now is news enough.
  if (latest === null) return false;
  const segment = window.find(number);
  if (segment === null) return number <= latest.number;
  if (part === null) return segment.durationTicks !== null;
  if (segment.parts.length > part) return true;
  if (segment.durationTicks === null) return false;
  const next = open ?? window.find(number + 1);
  return latest.number > number || (next !== null && next.parts.length > 0);
};
