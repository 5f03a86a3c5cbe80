import { type MonotonicMs, systemClock, type WallMs } from '../../../src/base/clock.js';
import type { AudioStream, VideoStream } from '../elementary-stream.js';
import type { Feed, OutFrame, Player } from './feed.js';
import { Playhead } from './playhead.js';
import type { MountTracks } from './sdp-writer.js';

/**
 * live: by the clock, or `speed` times as fast. flood: as fast as the sockets take it. step: when the test calls
 * `sendFrame`.
 */
export type Pacing =
  | { readonly mode: 'live'; readonly speed?: number }
  | { readonly mode: 'flood' }
  | { readonly mode: 'step' };

export type StreamFeedOptions = {
  readonly video: VideoStream | null;
  readonly audio?: AudioStream | null;
  readonly hasMetadata?: boolean;
  readonly pacing?: Pacing;
  /** False: the stream ends with its last frame. */
  readonly isLooped?: boolean;
  /** Media time of the first frame, in milliseconds; RTP times start accordingly. */
  readonly startMs?: number;
  /** How fast RTP time runs beside the clock by which frames are sent: 20 pictures a second stamped as 25 are 0.8. */
  readonly clockRates?: { readonly video?: number; readonly audio?: number };
};

/** What was sent, to compare with what arrived. */
export type SentFrame = OutFrame & { readonly sentMs: MonotonicMs };

const FLOOD_FRAMES_PER_TURN = 16;

/** Plays elementary streams to all players of a mount at once, as a camera does. */
export class StreamFeed implements Feed {
  /** All frames that were due while somebody played. */
  readonly sent: SentFrame[] = [];
  readonly #video: Playhead<VideoStream> | null;
  readonly #audio: Playhead<AudioStream> | null;
  readonly #players = new Set<Player>();
  readonly #hasMetadata: boolean;
  readonly #pacing: Pacing;
  readonly #clockRates: NonNullable<StreamFeedOptions['clockRates']>;
  #timer: NodeJS.Timeout | null = null;
  #turn: NodeJS.Immediate | null = null;
  /** Where the axis's zero is in monotonic time, while it runs. */
  #originMs = 0;
  #pausedAtMs: number | null = null;
  #shiftMs = 0;

  constructor(options: StreamFeedOptions) {
    const { video, audio = null, isLooped = true, startMs = 10_000 } = options;
    const playhead = <Stream extends VideoStream | AudioStream>(stream: Stream): Playhead<Stream> =>
      new Playhead(stream, Math.round((startMs * stream.clockRateHz) / 1000), isLooped);
    this.#video = video === null ? null : playhead(video);
    this.#audio = audio === null ? null : playhead(audio);
    this.#pacing = options.pacing ?? { mode: 'live' };
    this.#clockRates = options.clockRates ?? {};
    this.#hasMetadata = options.hasMetadata ?? false;
  }

  get tracks(): MountTracks {
    const hasMetadata = this.#hasMetadata;
    return { video: this.#video?.stream ?? null, audio: this.#audio?.stream ?? null, hasMetadata };
  }

  nextTicks(kind: 'video' | 'audio'): number {
    const playhead = kind === 'video' ? this.#video : this.#audio;
    return playhead === null ? 0 : this.#rtpTicksOf(playhead);
  }

  join(player: Player): void {
    const isFirst = this.#players.size === 0;
    this.#players.add(player);
    if (isFirst) this.#start();
  }

  leave(player: Player): void {
    if (!this.#players.delete(player) || this.#players.size > 0) return;
    this.#stop();
    this.#pausedAtMs = systemClock.monotonicMs();
  }

  close(): void {
    this.#players.clear();
    this.#stop();
  }

  /** Sends up to the next video frame, with the audio that is due before it. False: the stream has ended. */
  sendFrame(): boolean {
    for (;;) {
      const playhead = this.#next();
      if (playhead === null) return false;
      this.#send(playhead);
      if (playhead === this.#video || this.#video === null) return true;
    }
  }

  /** Sends so many video frames. */
  sendFrames(count: number): void {
    for (let i = 0; i < count; i += 1) this.sendFrame();
  }

  /** Goes on with other pictures, as a camera that changes its resolution. */
  setVideo(stream: VideoStream): void {
    this.#video?.replace(stream);
  }

  /** RTP time jumps, while frames go on at their pace: a camera whose clock was set. */
  jumpTime(byMs: number): void {
    this.#shiftMs += byMs;
  }

  #start(): void {
    if (this.#pacing.mode === 'live' && this.#pausedAtMs !== null) {
      const pausedMs = systemClock.monotonicMs() - this.#pausedAtMs;
      this.#video?.skipMs(pausedMs);
      this.#audio?.skipMs(pausedMs);
    }
    // Nobody saw the rest of the GOP: begin with a keyframe, so that a player need not wait for one.
    while (this.#video !== null && this.sent.length > 0 && this.#video.frame?.isKey === false) {
      this.#video.advance();
    }
    this.#originMs = systemClock.monotonicMs() - (this.#next()?.dueMs ?? 0) / this.#speed;
    this.#schedule();
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#timer = null;
    this.#turn = null;
  }

  get #speed(): number {
    return this.#pacing.mode === 'live' ? (this.#pacing.speed ?? 1) : 1;
  }

  #schedule(): void {
    this.#stop();
    if (this.#players.size === 0) return;
    const playhead = this.#next();
    if (playhead === null) {
      for (const player of [...this.#players]) player.finish();
    } else if (this.#pacing.mode === 'live') {
      const delayMs = this.#dueMsOf(playhead) - systemClock.monotonicMs();
      this.#timer = setTimeout(() => this.#sendDue(), Math.max(0, delayMs));
    } else if (this.#pacing.mode === 'flood') {
      this.#turn = setImmediate(() => this.#flood());
    }
  }

  #sendDue(): void {
    const nowMs = systemClock.monotonicMs();
    for (;;) {
      const playhead = this.#next();
      if (playhead === null || this.#dueMsOf(playhead) > nowMs) break;
      this.#send(playhead);
    }
    this.#schedule();
  }

  #flood(): void {
    for (let i = 0; i < FLOOD_FRAMES_PER_TURN; i += 1) {
      if ([...this.#players].some((player) => player.isBacklogged) || !this.sendFrame()) break;
    }
    this.#schedule();
  }

  /** The track whose frame is due first; null: the stream has ended. */
  #next(): Playhead<VideoStream> | Playhead<AudioStream> | null {
    const video = this.#video?.frame == null ? null : this.#video;
    const audio = this.#audio?.frame == null ? null : this.#audio;
    if (this.#video !== null && video === null) return null;
    if (video === null || audio === null) return video ?? audio;
    return audio.dueMs < video.dueMs ? audio : video;
  }

  #send(playhead: Playhead<VideoStream> | Playhead<AudioStream>): void {
    const { frame, stream } = playhead;
    if (frame === null) return;
    const ticks = this.#rtpTicksOf(playhead);
    const [sentMs, wallMs] = [systemClock.monotonicMs(), systemClock.wallMs()];
    // Nothing is due in other modes, and what a test asks for itself comes early.
    const lateMs = this.#pacing.mode === 'live' ? Math.max(0, sentMs - this.#dueMsOf(playhead)) : 0;
    playhead.advance();
    const sent: SentFrame = {
      kind: stream.kind,
      bytes: frame.bytes,
      isKey: frame.isKey,
      ticks,
      dueMs: (wallMs - lateMs) as WallMs,
      sentMs,
    };
    this.sent.push(sent);
    for (const player of [...this.#players]) player.sendFrame(sent);
  }

  /** When its next frame is to be sent, in monotonic time. */
  #dueMsOf({ dueMs }: Playhead<VideoStream> | Playhead<AudioStream>): number {
    return this.#originMs + dueMs / this.#speed;
  }

  #rtpTicksOf({ stream, ticks }: Playhead<VideoStream> | Playhead<AudioStream>): number {
    const rate = this.#clockRates[stream.kind] ?? 1;
    return Math.round(ticks * rate) + Math.round((this.#shiftMs * stream.clockRateHz) / 1000);
  }
}
