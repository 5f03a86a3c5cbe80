import type { Clock, MonotonicMs } from '../../base/clock.js';
import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { LastFrames } from '../../ring/counters.js';
import { AvAlignment } from '../../rtp/av-alignment.js';
import { TimeAxis, type Timeline } from '../../rtp/timeline.js';
import { WallClock } from '../../rtp/wall-clock.js';

/** Where the frames of one track lie in time. */
export type TrackTime = { readonly timeline: Timeline; readonly wall: WallClock };

/**
 * A camera's time axis. It outlives sessions, and a worker too: a ring that is taken over goes on behind
 * its last frames, so that media time never runs backwards for whoever reads it.
 */
export class StreamTime {
  readonly video: TrackTime;
  readonly #clock: Clock;
  readonly #axis: TimeAxis;
  /** Of the newest sound: a camera may come back with another clock rate, and with ever new ones. */
  #audio: TrackTime | null = null;
  #isErrorTold = false;

  /** `last`: of the ring that is gone on with. */
  constructor(last: LastFrames | null, clock: Clock) {
    this.#clock = clock;
    const zeroMs =
      last === null ? clock.monotonicMs() : last.arrivalMs - (last.ptsTicks * 1000) / VIDEO_CLOCK_HZ;
    this.#axis = new TimeAxis(zeroMs as MonotonicMs, last?.furthestMs);
    this.video = this.#addTrack(VIDEO_CLOCK_HZ, false);
  }

  audio(clockRateHz: number): TrackTime {
    const known = this.#audio;
    if (known?.timeline.clockRateHz === clockRateHz) return known;
    if (known !== null) this.#axis.removeTrack(known.timeline);
    const added = this.#addTrack(clockRateHz, true);
    this.#audio = added;
    return added;
  }

  /** A session begins: its tracks are anchored anew, and kept together from then on. */
  beginSession(audio: TrackTime | null): AvAlignment | null {
    this.#axis.restart(this.#clock.monotonicMs());
    this.video.wall.restart();
    audio?.wall.restart();
    return audio === null ? null : new AvAlignment(this.video.timeline, audio.timeline);
  }

  /** By how many millionths the camera's clock runs fast (or slow: negative); 0: it doesn't, or that was told before. */
  takeClockErrorPpm(): number {
    const ppm = this.#isErrorTold ? 0 : this.video.timeline.clockErrorPpm;
    this.#isErrorTold ||= ppm !== 0;
    return ppm;
  }

  #addTrack(clockRateHz: number, isOrdered: boolean): TrackTime {
    return {
      timeline: this.#axis.addTrack({ clockRateHz, isOrdered }),
      wall: new WallClock({ clockRateHz }),
    };
  }
}
