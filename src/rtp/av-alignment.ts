import type { WallMs } from '../base/clock.js';
import type { Timeline } from './timeline.js';

/** Less than this at the start of a session nobody sees or hears; correcting it would only make noise. */
export const MIN_OFFSET_MS = 20;
/** More than this is no delay between tracks but a sender report that is wrong. */
export const MAX_OFFSET_MS = 5_000;
/** Where a track's time was broken, it is moved at once if it is off by this; else all is drawn on bit by bit. */
export const MIN_BROKEN_OFFSET_MS = 100;
/** Reports that lie further apart are no pair. */
const MAX_APART_MS = 60_000;
/** Reports are a few milliseconds off, and some one frame: the middle one of so many counts, of this many at least. */
const REPORTS = 5;
const MIN_REPORTS = 3;
/** What is missing is drawn on, once it is this much, until it is hardly anything. */
const FIRST_MISSING_MS = { byReports: 15, byArrival: 20 };
const NEXT_MISSING_MS = { byReports: 2, byArrival: 5 };
/** In so long, and at no more than this share of time: a frame of audio lasts longer or shorter by as much. */
const DRAWN_IN_MS = 15_000;
const MAX_RATE = 0.005;
/** Unless so much is missing, as after a track's clock was found to be another one: that is worse to watch. */
const LARGE_MISSING_MS = 1_000;
const MAX_LARGE_RATE = 0.05;
/** So many windows of arrival without a pair of reports, and arrival has to tell. */
const SILENT_WINDOWS = 2;

/** What one track's last sender report said. */
class Report {
  readonly timeline: Timeline;
  wallMs = Number.NaN;
  /** The sender's clock where the axis is 0. */
  offsetMs = Number.NaN;
  #breaks = 0;

  constructor(timeline: Timeline) {
    this.timeline = timeline;
  }

  /** The track's time has gone on since. */
  get isGood(): boolean {
    return this.#breaks === this.timeline.breaks && !Number.isNaN(this.offsetMs);
  }

  take(senderWallMs: WallMs, rtpTimestamp: number): void {
    const ticks = this.timeline.ticksAt(rtpTimestamp);
    this.wallMs = senderWallMs;
    this.offsetMs = ticks === null ? Number.NaN : senderWallMs - (ticks / this.timeline.clockRateHz) * 1000;
    this.#breaks = this.timeline.breaks;
  }
}

/**
 * Keeps the two tracks of a camera together for one session. They were anchored by when they arrived; sender reports
 * (RFC 3550 §6.4.1) tell when they were made, and where there are none, how late they come tells that one of the
 * clocks runs away from the other. At the start the track that is behind is moved ahead, so no time is used twice; from
 * then on audio is drawn along with video, so slowly that nobody hears it. The camera's clock may show any date, so
 * long as it is the same for both.
 */
export class AvAlignment {
  readonly #video: Report;
  readonly #audio: Report;
  /** Breaks of both tracks that were seen to; -1: no pair of reports has come yet. */
  #breaksSeen = -1;
  /** Where the last pairs of reports want audio to be, beside its own count. */
  readonly #wantedMs = new Float64Array(REPORTS);
  readonly #sortedMs = new Float64Array(REPORTS);
  #reports = 0;
  #isDrawing = false;
  #silentWindows = 0;
  /** Where audio belongs, beside what arrival says, as reports last told. */
  #arrivalErrorMs = 0;

  constructor(video: Timeline, audio: Timeline) {
    this.#video = new Report(video);
    this.#audio = new Report(audio);
    audio.onDrift = () => this.#followArrival();
  }

  onVideoReport(senderWallMs: WallMs, rtpTimestamp: number): void {
    this.#video.take(senderWallMs, rtpTimestamp);
    this.#align();
  }

  onAudioReport(senderWallMs: WallMs, rtpTimestamp: number): void {
    this.#audio.take(senderWallMs, rtpTimestamp);
    this.#align();
  }

  #align(): void {
    const [video, audio] = [this.#video, this.#audio];
    if (!video.isGood || !audio.isGood || Math.abs(video.wallMs - audio.wallMs) > MAX_APART_MS) return;
    const offsetMs = audio.offsetMs - video.offsetMs;
    if (Math.abs(offsetMs) > MAX_OFFSET_MS) return;
    this.#silentWindows = 0;
    // While the tracks are being brought together, or reports run by another clock, they say nothing of arrival.
    if (Math.abs(offsetMs) < LARGE_MISSING_MS)
      this.#arrivalErrorMs = audio.timeline.phaseMs + offsetMs - this.#byArrivalMs;
    if (Math.abs(offsetMs) >= this.#leastStepMs()) {
      this.#move(offsetMs);
      return;
    }
    this.#wantedMs[this.#reports % REPORTS] = audio.timeline.phaseMs + offsetMs;
    this.#reports += 1;
    if (this.#reports >= MIN_REPORTS) this.#draw(this.#middleMs(), 'byReports');
  }

  /** How far apart the tracks have to be to be brought together at once. */
  #leastStepMs(): number {
    const before = this.#breaksSeen;
    this.#breaksSeen = this.#video.timeline.breaks + this.#audio.timeline.breaks;
    if (before < 0) return MIN_OFFSET_MS;
    return before === this.#breaksSeen ? Number.POSITIVE_INFINITY : MIN_BROKEN_OFFSET_MS;
  }

  #move(offsetMs: number): void {
    const behind = offsetMs > 0 ? this.#audio : this.#video;
    behind.timeline.moveAhead(Math.abs(offsetMs));
    behind.offsetMs -= Math.abs(offsetMs);
    this.#reports = 0;
  }

  #middleMs(): number {
    const count = Math.min(this.#reports, REPORTS);
    this.#sortedMs.set(this.#wantedMs);
    const sorted = this.#sortedMs.subarray(0, count).sort();
    return sorted[count >> 1]!;
  }

  /** A window of arrivals has ended. */
  #followArrival(): void {
    if (this.#silentWindows < SILENT_WINDOWS && this.#breaksSeen >= 0) {
      this.#silentWindows += 1;
      return;
    }
    this.#draw(this.#arrivalErrorMs + this.#byArrivalMs, 'byArrival');
  }

  /** How far the clock of audio has run away from that of video. */
  get #byArrivalMs(): number {
    return this.#audio.timeline.driftMs - this.#video.timeline.driftMs;
  }

  #draw(wantedMs: number, how: 'byReports' | 'byArrival'): void {
    const audio = this.#audio.timeline;
    const missingMs = wantedMs - audio.phaseMs;
    const leastMs = (this.#isDrawing ? NEXT_MISSING_MS : FIRST_MISSING_MS)[how];
    this.#isDrawing = Math.abs(missingMs) >= leastMs;
    if (!this.#isDrawing) return;
    const limit = Math.abs(missingMs) < LARGE_MISSING_MS ? MAX_RATE : MAX_LARGE_RATE;
    const rate = Math.max(-limit, Math.min(missingMs / DRAWN_IN_MS, limit));
    audio.drawOn(rate, missingMs / rate);
  }
}
