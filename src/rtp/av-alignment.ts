import type { WallMs } from '../base/clock.js';
import type { Timeline } from './timeline.js';

/** Less than this nobody sees or hears; correcting it would only make noise. */
export const MIN_OFFSET_MS = 20;
/** More than this is no delay between tracks but a sender report that is wrong. */
export const MAX_OFFSET_MS = 5_000;

/**
 * Brings the two tracks of a camera together, once a session: they were anchored by when they arrived, and
 * sender reports (RFC 3550 §6.4.1) tell when they were made. The track that is behind is moved ahead, so no
 * time is used twice. The camera's clock may show any date, so long as it is the same for both.
 */
export class AvAlignment {
  /** What was corrected in this session, audio relative to video; 0 if nothing was. */
  correctedMs = 0;
  readonly #video: Timeline;
  readonly #audio: Timeline;
  #videoOffsetMs: number | null = null;
  #audioOffsetMs: number | null = null;
  #isDone = false;

  constructor(video: Timeline, audio: Timeline) {
    this.#video = video;
    this.#audio = audio;
  }

  onVideoReport(senderWallMs: WallMs, rtpTimestamp: number): void {
    if (this.#isDone) return;
    this.#videoOffsetMs = offsetMsOf(this.#video, senderWallMs, rtpTimestamp);
    this.#align();
  }

  onAudioReport(senderWallMs: WallMs, rtpTimestamp: number): void {
    if (this.#isDone) return;
    this.#audioOffsetMs = offsetMsOf(this.#audio, senderWallMs, rtpTimestamp);
    this.#align();
  }

  /** A new session begins, or a track's clock has jumped: what was learned is void. */
  restart(): void {
    this.#videoOffsetMs = null;
    this.#audioOffsetMs = null;
    this.#isDone = false;
    this.correctedMs = 0;
  }

  #align(): void {
    if (this.#videoOffsetMs === null || this.#audioOffsetMs === null) return;
    const offsetMs = this.#audioOffsetMs - this.#videoOffsetMs;
    if (Math.abs(offsetMs) > MAX_OFFSET_MS) return;
    this.#isDone = true;
    if (Math.abs(offsetMs) < MIN_OFFSET_MS) return;
    this.correctedMs = offsetMs;
    if (offsetMs > 0) this.#audio.moveAhead(offsetMs);
    else this.#video.moveAhead(-offsetMs);
  }
}

const offsetMsOf = (track: Timeline, senderWallMs: WallMs, rtpTimestamp: number): number | null => {
  const ticks = track.ticksAt(rtpTimestamp);
  return ticks === null ? null : senderWallMs - (ticks / track.clockRateHz) * 1000;
};
