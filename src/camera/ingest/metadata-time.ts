import type { WallMs } from '../../base/clock.js';
import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { TrackTime } from './stream-time.js';

/** A clock's time, and the RTP time that stands for it. */
type Report = { readonly wallMs: number; readonly rtpTimestamp: number };

/** Analytics are late, and may be by much; what they tell of is never to come. */
const MAX_EARLY_MS = 10_000;
const MAX_LATE_MS = 1_000;
/** The same where nothing says how the camera's clock stands to ours: then it is believed where it can hardly be wrong. */
const MAX_UNKNOWN_EARLY_MS = 1_500;
const MAX_UNKNOWN_LATE_MS = 200;
/** Of the pictures of one document. */
const MAX_SPAN_MS = 10_000;
/** Two clocks of a camera that are so near are one. */
const SAME_MS = 50;

/**
 * Where a camera's metadata lies among its pictures. Sender reports tell what its clock showed at an RTP time, of the
 * metadata and of the video: by both a document is where it belongs, whatever that clock shows. Without those of the
 * metadata the times in the document do it, and without anything to go by it is when it came.
 */
export class MetadataTime {
  readonly #clockRateHz: number;
  readonly #video: TrackTime;
  #metadataReport: Report | null = null;
  #videoReport: Report | null = null;

  constructor(clockRateHz: number, video: TrackTime) {
    this.#clockRateHz = clockRateHz;
    this.#video = video;
  }

  onMetadataReport(wallMs: WallMs, rtpTimestamp: number): void {
    this.#metadataReport = { wallMs, rtpTimestamp };
  }

  /** The metadata goes on under another SSRC: with times of its own. */
  onMetadataSource(): void {
    this.#metadataReport = null;
  }

  onVideoReport(wallMs: WallMs, rtpTimestamp: number): void {
    this.#videoReport = { wallMs, rtpTimestamp };
  }

  /** The times of a document's pictures, whose own times are given as far as it tells them. */
  placeScenes(rtpTimestamp: number, arrivedMs: number, utcMs: readonly (number | null)[]): number[] {
    const sentMs = this.#sentMs(rtpTimestamp);
    if (sentMs !== null && this.#placed(sentMs, arrivedMs) !== null) {
      const told = utcMs.filter((ms) => ms !== null);
      const isSameClock = told.some((ms) => Math.abs(ms - sentMs) <= SAME_MS);
      const shiftMs = isSameClock ? 0 : sentMs - (told[0] ?? sentMs);
      return utcMs.map((ms) => {
        const apartMs = ms === null ? 0 : ms + shiftMs - sentMs;
        const atMs = sentMs + (Math.abs(apartMs) <= MAX_SPAN_MS ? apartMs : 0);
        return this.#placed(atMs, arrivedMs) ?? arrivedMs;
      });
    }
    const newest = utcMs.at(-1) ?? null;
    return utcMs.map((ms) => {
      if (ms === null || newest === null) return arrivedMs;
      const earlierMs = newest - ms;
      const isSpan = earlierMs >= 0 && earlierMs <= MAX_SPAN_MS;
      return this.#placed(ms, arrivedMs) ?? arrivedMs - (isSpan ? earlierMs : 0);
    });
  }

  /** When something was noticed: that may have been long before it is told, and then counts from now on. */
  placeNotice(rtpTimestamp: number, arrivedMs: number, utcMs: number | null): number {
    const sentMs = this.#sentMs(rtpTimestamp);
    const byUtc = utcMs === null ? null : this.#placed(utcMs, arrivedMs);
    return byUtc ?? (sentMs === null ? null : this.#placed(sentMs, arrivedMs)) ?? arrivedMs;
  }

  /** What the camera's clock showed at an RTP time of the metadata; null: it never told. */
  #sentMs(rtpTimestamp: number): number | null {
    const report = this.#metadataReport;
    if (report === null) return null;
    const ticks = (rtpTimestamp - report.rtpTimestamp) | 0;
    return report.wallMs + (ticks / this.#clockRateHz) * 1000;
  }

  /** A time of the camera's clock in the time of its frames; null: it can't be right. */
  #placed(cameraMs: number, arrivedMs: number): number | null {
    const report = this.#videoReport;
    if (report === null) {
      const isSane =
        cameraMs > arrivedMs - MAX_UNKNOWN_EARLY_MS && cameraMs < arrivedMs + MAX_UNKNOWN_LATE_MS;
      return isSane ? cameraMs : null;
    }
    const ticks = Math.round(((cameraMs - report.wallMs) / 1000) * VIDEO_CLOCK_HZ);
    const ptsTicks = this.#video.timeline.ticksAt((report.rtpTimestamp + ticks) >>> 0);
    if (ptsTicks === null) return null;
    const wallMs = this.#video.wall.wallMsAt(ptsTicks);
    return wallMs > arrivedMs - MAX_EARLY_MS && wallMs < arrivedMs + MAX_LATE_MS ? wallMs : null;
  }
}
