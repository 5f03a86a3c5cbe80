import type { MonotonicMs, WallMs } from '../../src/base/clock.js';
import { AvAlignment } from '../../src/rtp/av-alignment.js';
import { TimeAxis, type Timeline } from '../../src/rtp/timeline.js';

export const VIDEO_HZ = 90_000;
export const AUDIO_HZ = 8_000;
const AUDIO_FRAME_MS = 40;
const REPORT_PERIOD_MS = 5_000;
/** Of the camera's clock when the simulation begins. */
const CAMERA_WALL_MS = Date.UTC(2026, 10, 21, 8, 30);

export type SimulatedCameraOptions = {
  readonly fps?: number;
  /** How fast RTP time runs beside time itself: 20 pictures a second stamped as 25 are 0.8. */
  readonly videoRate?: number;
  readonly audioRate?: number;
  /** How much later than it was made something arrives. */
  readonly delayMs?: (madeMs: number) => number;
  /** How much later than the picture of its time audio is sent. */
  readonly audioDelayMs?: number;
  /** What a sender report says beside the truth. */
  readonly reportErrorMs?: () => number;
  readonly hasReports?: boolean;
  readonly hasAudio?: boolean;
  readonly videoShift?: number;
  /** Times in display order are sent in this one. */
  readonly order?: readonly number[];
};

/** A frame as it was placed, in milliseconds; `madeMs` is the truth. */
export type Placed = { readonly madeMs: number; readonly arrivalMs: number; readonly ticks: number };

/** A camera whose clocks are as wrong as wanted, on the axis that we give it, as fast as it can be computed. */
export class SimulatedCamera {
  readonly axis = new TimeAxis(0 as MonotonicMs);
  readonly video: Timeline;
  readonly audio: Timeline;
  onVideo: (frame: Placed) => void = () => {};
  onAudio: (frame: Placed) => void = () => {};
  readonly #alignment: AvAlignment;
  readonly #options: SimulatedCameraOptions;
  readonly #order: readonly number[];
  #videoFrames = 0;
  #audioFrames = 0;
  #reports = 0;
  #videoArrivalMs = 0;
  #audioArrivalMs = 0;
  /** What RTP time is set to at some time; audio begins anywhere else. */
  videoShift = 0;
  audioShift = 4_000_000_000;

  constructor(options: SimulatedCameraOptions) {
    this.#options = options;
    this.videoShift = options.videoShift ?? 0;
    this.#order = options.order ?? [0];
    this.video = this.axis.addTrack({ clockRateHz: VIDEO_HZ, isOrdered: false });
    this.audio = this.axis.addTrack({ clockRateHz: AUDIO_HZ, isOrdered: true });
    this.#alignment = new AvAlignment(this.video, this.audio);
  }

  /** The tracks are sent until so much time has passed since the camera began. */
  playTo(endMs: number): void {
    const { fps = 25, hasAudio = true, hasReports = true } = this.#options;
    const frameMs = 1000 / fps;
    for (;;) {
      const videoMs = this.#videoFrames * frameMs;
      const audioMs = this.#audioFrames * AUDIO_FRAME_MS;
      if (Math.min(videoMs, hasAudio ? audioMs : videoMs) >= endMs) return;
      if (hasReports && Math.min(videoMs, audioMs) > this.#reports * REPORT_PERIOD_MS) this.#report(videoMs);
      if (hasAudio && audioMs < videoMs) this.#sendAudio(audioMs);
      else this.#sendVideo(videoMs, frameMs);
    }
  }

  #sendVideo(sentMs: number, frameMs: number): void {
    const { delayMs = () => 0 } = this.#options;
    const group = Math.floor(this.#videoFrames / this.#order.length) * this.#order.length;
    const index = group + this.#order[this.#videoFrames - group]!;
    this.#videoFrames += 1;
    const madeMs = index * frameMs;
    this.#videoArrivalMs = Math.max(this.#videoArrivalMs, sentMs + delayMs(sentMs));
    const ticks = this.video.place(this.#videoRtp(madeMs), this.#videoArrivalMs as MonotonicMs);
    this.onVideo({ madeMs, arrivalMs: this.#videoArrivalMs, ticks });
  }

  #sendAudio(madeMs: number): void {
    const { delayMs = () => 0, audioDelayMs = 0 } = this.#options;
    this.#audioFrames += 1;
    this.#audioArrivalMs = Math.max(this.#audioArrivalMs, madeMs + delayMs(madeMs) + audioDelayMs);
    const ticks = this.audio.place(this.#audioRtp(madeMs), this.#audioArrivalMs as MonotonicMs);
    this.onAudio({ madeMs, arrivalMs: this.#audioArrivalMs, ticks });
  }

  #report(nowMs: number): void {
    const { reportErrorMs = () => 0 } = this.#options;
    this.#reports += 1;
    const wall = (): WallMs => (CAMERA_WALL_MS + nowMs + reportErrorMs()) as WallMs;
    this.#alignment.onVideoReport(wall(), this.#videoRtp(nowMs));
    this.#alignment.onAudioReport(wall(), this.#audioRtp(nowMs));
  }

  #videoRtp(madeMs: number): number {
    const { videoRate = 1 } = this.#options;
    return (Math.round((madeMs * videoRate * VIDEO_HZ) / 1000) + this.videoShift) % 0x1_0000_0000;
  }

  #audioRtp(madeMs: number): number {
    const { audioRate = 1 } = this.#options;
    return (Math.round((madeMs * audioRate * AUDIO_HZ) / 1000) + this.audioShift) % 0x1_0000_0000;
  }
}
