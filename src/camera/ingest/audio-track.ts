import type { Clock, MonotonicMs, Ticks } from '../../base/clock.js';
import type { AudioSink } from '../../codec/frame-sink.js';
import type { AudioTrackInfo } from '../../codec/track.js';
import { type FlacSink, SoundBlocks } from '../../flac/sound-blocks.js';
import { frameFlag } from '../../ring/frame-flag.js';
import { FrameStamp } from '../../ring/frame-stamp.js';
import type { RingWriter } from '../../ring/writer.js';
import type { TrackTime } from './stream-time.js';

/** One session's audio on its way into the ring: as it comes, and as FLAC beside it where files can't hold that. */
export class AudioTrack implements AudioSink, FlacSink {
  /** When the packet that is being handled came; set by the owner before each. */
  arrivalMs = 0 as MonotonicMs;
  /** When the newest frame came; null before the first. */
  lastFrameMs: MonotonicMs | null = null;
  readonly info: AudioTrackInfo;
  readonly #clock: Clock;
  readonly #ring: RingWriter;
  readonly #time: TrackTime;
  readonly #stamp = new FrameStamp();
  readonly #keptStamp = new FrameStamp();
  /** Null: it is kept as it comes. */
  readonly #blocks: SoundBlocks | null;

  constructor(info: AudioTrackInfo, deps: { clock: Clock; ring: RingWriter; time: TrackTime }) {
    this.info = info;
    this.#clock = deps.clock;
    this.#ring = deps.ring;
    this.#time = deps.time;
    this.#blocks = SoundBlocks.of(info, this);
  }

  frame(source: Buffer, start: number, end: number, rtpTimestamp: number): void {
    const { timeline, wall } = this.#time;
    const ptsTicks = timeline.place(rtpTimestamp, this.arrivalMs);
    wall.onFrame(ptsTicks, this.arrivalMs, this.#clock.wallMs());
    this.lastFrameMs = this.arrivalMs;
    const { discontinuity } = timeline;
    const stamp = this.#stamp;
    stamp.flags =
      frameFlag.audio |
      (discontinuity ? frameFlag.discontinuity : 0) |
      (this.#blocks === null ? 0 : frameFlag.sentOnly);
    stamp.ptsTicks = ptsTicks;
    stamp.wallMs = wall.wallMsAt(ptsTicks);
    stamp.arrivalMs = this.arrivalMs;
    this.#ring.writeAudio(source, start, end, stamp);
    this.#ring.reach((ptsTicks * 1000) / this.info.clockRateHz);
    this.#blocks?.add(source, start, end, ptsTicks, discontinuity);
  }

  flacFrame(bytes: Buffer, lengthBytes: number, ptsTicks: Ticks, isDiscontinuity: boolean): void {
    const stamp = this.#keptStamp;
    stamp.flags = frameFlag.audio | frameFlag.keptOnly | (isDiscontinuity ? frameFlag.discontinuity : 0);
    stamp.ptsTicks = ptsTicks;
    stamp.wallMs = this.#time.wall.wallMsAt(ptsTicks);
    stamp.arrivalMs = this.arrivalMs;
    this.#ring.writeAudio(bytes, 0, lengthBytes, stamp);
  }

  /** The session is over: what waits for the rest of its block is all of it. */
  end(): void {
    this.#blocks?.flush();
  }
}
