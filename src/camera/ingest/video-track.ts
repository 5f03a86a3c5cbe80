import type { Clock, MonotonicMs, WallMs } from '../../base/clock.js';
import { DecodeOrder } from '../../codec/decode-order.js';
import type { VideoSink } from '../../codec/frame-sink.js';
import { withLengths } from '../../codec/nal.js';
import { ParameterSets } from '../../codec/parameter-sets.js';
import type { VideoCodec } from '../../codec/track.js';
import { frameFlag } from '../../ring/frame-flag.js';
import { FrameStamp } from '../../ring/frame-stamp.js';
import type { RingWriter } from '../../ring/writer.js';
import { type PromisedSound, SoundWatch } from './sound-watch.js';
import type { TrackTime } from './stream-time.js';

type VideoTrackDeps = {
  readonly clock: Clock;
  readonly ring: RingWriter;
  readonly time: TrackTime;
  /** Whether frames were lost since the last commit; asked at each commit. */
  readonly isDamaged: () => boolean;
};

/**
 * One session's video on its way into the ring: bytes go straight through, this decides when a frame is one,
 * what it is called in time, and when the stream has become another.
 */
export class VideoTrack implements VideoSink {
  /** When the packet that is being handled came; set by the owner before each. */
  arrivalMs = 0 as MonotonicMs;
  /** When the last frame was published, or null before the first. */
  lastFrameMs: MonotonicMs | null = null;
  /** When that is shown. */
  lastWallMs = 0 as WallMs;
  /** When the last whole access unit came, decodable or not, or null before the first. */
  lastUnitMs: MonotonicMs | null = null;
  /** Frames that nobody could decode: before the first keyframe, or before the parameter sets were known. */
  undecodableFrames = 0;
  readonly #clock: Clock;
  readonly #ring: RingWriter;
  readonly #time: TrackTime;
  readonly #isDamaged: () => boolean;
  readonly #sets: ParameterSets;
  readonly #sound: SoundWatch;
  readonly #order = new DecodeOrder();
  readonly #stamp = new FrameStamp();
  /** Of sessions before this one. */
  readonly #earlier: { readonly jumps: number; readonly wallSteps: number };
  #isInfoStale = true;
  /** The parameter sets as a frame brings them along. */
  #ownSets: Buffer = Buffer.alloc(0);
  #hasKey = false;
  #hasSeenKey = false;

  constructor(options: { codec: VideoCodec; audio: PromisedSound | null }, deps: VideoTrackDeps) {
    this.#clock = deps.clock;
    this.#ring = deps.ring;
    this.#time = deps.time;
    this.#isDamaged = deps.isDamaged;
    this.#sets = new ParameterSets(options.codec);
    this.#sound = new SoundWatch(options.audio);
    this.#earlier = { jumps: deps.time.timeline.jumps, wallSteps: deps.time.wall.steps };
  }

  beginNal(): void {
    this.#ring.beginNal();
  }

  append(source: Buffer, start: number, end: number): boolean {
    return this.#ring.append(source, start, end);
  }

  endNal(): void {
    this.#ring.endNal();
  }

  abort(): void {
    this.#ring.abort();
  }

  onParameterSet(source: Buffer, start: number, end: number): void {
    if (this.#sets.offer(source, start, end)) this.#isInfoStale = true;
  }

  commit(rtpTimestamp: number, isKey: boolean): void {
    this.lastUnitMs = this.arrivalMs;
    this.#hasSeenKey ||= isKey;
    // A decoder needs a keyframe to begin with, and what came before a reconnect is no reference.
    if (isKey && this.#isInfoStale) this.#describe();
    this.#hasKey ||= isKey && !this.#isInfoStale;
    if (!this.#hasKey) {
      this.undecodableFrames++;
      this.#ring.abort();
      return;
    }
    this.#watchSound(isKey);
    const isChanged = this.#isInfoStale && this.#describe();
    if (this.#ring.description.setsVary && (isKey || isChanged) && !this.#ring.prepend(this.#ownSets)) {
      // What follows refers to it.
      this.#hasKey = false;
      this.undecodableFrames++;
      this.#ring.abort();
      return;
    }
    const { timeline, wall } = this.#time;
    const ptsTicks = timeline.place(rtpTimestamp, this.arrivalMs);
    wall.onFrame(ptsTicks, this.arrivalMs, this.#clock.wallMs());
    if (timeline.discontinuity) this.#order.restart();
    const stamp = this.#stamp;
    stamp.flags =
      (isKey ? frameFlag.key : 0) |
      (timeline.discontinuity ? frameFlag.discontinuity : 0) |
      // What was lost before the first frame of a session isn't missed by anybody.
      (this.lastFrameMs !== null && this.#isDamaged() ? frameFlag.damaged : 0);
    stamp.ptsTicks = ptsTicks;
    stamp.dtsTicks = this.#order.place(ptsTicks);
    stamp.wallMs = wall.wallMsAt(ptsTicks);
    stamp.arrivalMs = this.arrivalMs;
    this.#ring.commitVideo(stamp);
    this.lastFrameMs = this.arrivalMs;
    this.lastWallMs = stamp.wallMs as WallMs;
  }

  /** What would be shown at the time of a picture that came at `nowMs`; null before the first. */
  wallMsAt(nowMs: MonotonicMs): number | null {
    return this.lastFrameMs === null ? null : this.lastWallMs + nowMs - this.lastFrameMs;
  }

  /** Times that the camera's clock jumped. */
  get jumps(): number {
    return this.#time.timeline.jumps - this.#earlier.jumps;
  }

  /** Times that wall time stepped, the host's clock having been set. */
  get wallSteps(): number {
    return this.#time.wall.steps - this.#earlier.wallSteps;
  }

  /** What is missing before its first frame, for people to read; "" once frames come. */
  get waitsFor(): string {
    if (this.#hasKey) return '';
    const lack = this.#hasSeenKey ? this.#sets.lack() : '';
    return lack === '' ? 'a keyframe' : `parameter sets: ${lack}`;
  }

  /** Whether its frames are described for good. */
  get isSettled(): boolean {
    return this.lastFrameMs !== null && !this.#ring.description.awaitsSound;
  }

  /** Now and then, for a camera whose pictures are far apart: sound is waited for no longer than it may be. */
  settle(nowMs: MonotonicMs): void {
    if (this.#ring.description.awaitsSound && !this.#sound.isAwaited(nowMs)) this.#describeSound(nowMs);
  }

  /** The session is over, and its sound does not come any more. */
  end(): void {
    if (this.#ring.description.awaitsSound) this.#describeSound(this.arrivalMs);
  }

  /** Sound that comes or goes later than with the first pictures does so at a keyframe, where files can begin. */
  #watchSound(isKey: boolean): void {
    if (this.#ring.description.awaitsSound) this.settle(this.arrivalMs);
    else if (isKey) this.#describeSound(this.arrivalMs);
  }

  #describeSound(nowMs: MonotonicMs): void {
    const { info } = this.#ring.description;
    if (info !== null) this.#ring.setStreamInfo({ video: info.video, audio: this.#sound.flowing(nowMs) });
  }

  /**
   * Tells the ring's readers what the stream has become, from the frame that is being committed on. False: the
   * parameter sets aren't all there.
   */
  #describe(): boolean {
    const video = this.#sets.toVideoTrackInfo();
    if (video === null) return false;
    this.#isInfoStale = false;
    this.#ownSets = withLengths([...video.vps, ...video.sps, ...video.pps]);
    this.#order.expect(video.reorderDepth);
    const { arrivalMs } = this;
    if (!this.#hasKey) this.#sound.begin(arrivalMs, this.#ring.description.info?.audio ?? null);
    const audio = this.#sound.flowing(arrivalMs);
    this.#ring.setStreamInfo({ video, audio }, audio === null && this.#sound.isAwaited(arrivalMs));
    return true;
  }
}
