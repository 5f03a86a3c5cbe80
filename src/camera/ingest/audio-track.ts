import type { Clock, MonotonicMs } from '../../base/clock.js';
import type { AudioSink } from '../../codec/frame-sink.js';
import type { AudioTrackInfo } from '../../codec/track.js';
import { frameFlag } from '../../ring/frame-flag.js';
import { FrameStamp } from '../../ring/frame-stamp.js';
import type { RingWriter } from '../../ring/writer.js';
import type { TrackTime } from './stream-time.js';

/** One session's audio on its way into the ring. */
export class AudioTrack implements AudioSink {
  /** When the packet that is being handled came; set by the owner before each. */
  arrivalMs = 0 as MonotonicMs;
  /** When the newest frame came; null before the first. */
  lastFrameMs: MonotonicMs | null = null;
  readonly info: AudioTrackInfo;
  readonly #clock: Clock;
  readonly #ring: RingWriter;
  readonly #time: TrackTime;
  readonly #stamp = new FrameStamp();

  constructor(info: AudioTrackInfo, deps: { clock: Clock; ring: RingWriter; time: TrackTime }) {
    this.info = info;
    this.#clock = deps.clock;
    this.#ring = deps.ring;
    this.#time = deps.time;
  }

  frame(source: Buffer, start: number, end: number, rtpTimestamp: number): void {
    const { timeline, wall } = this.#time;
    const ptsTicks = timeline.place(rtpTimestamp, this.arrivalMs);
    wall.onFrame(ptsTicks, this.arrivalMs, this.#clock.wallMs());
    this.lastFrameMs = this.arrivalMs;
    const stamp = this.#stamp;
    stamp.flags = frameFlag.audio | (timeline.discontinuity ? frameFlag.discontinuity : 0);
    stamp.ptsTicks = ptsTicks;
    stamp.wallMs = wall.wallMsAt(ptsTicks);
    stamp.arrivalMs = this.arrivalMs;
    this.#ring.writeAudio(source, start, end, stamp);
  }
}
