import type { MonotonicMs, Ticks } from '../../base/clock.js';
import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { keptSound } from '../../flac/flac-track.js';
import { ringIdOf } from '../../ring/glance.js';
import { RingReader } from '../../ring/reader.js';

/** How long a frame waits for frames of the other track that belong before it. */
const MAX_WAIT_MS = 250;
/** A keyframe older than this is what a camera that is away has left: nobody is shown it as live. */
const MAX_START_AGE_MS = 15_000;

/**
 * A camera's frames in the order of their times. Cameras send audio later than the pictures it belongs to; a part
 * whose audio ends before its pictures makes players stop, or load it over and over. A cursor for each track
 * lets the pictures wait where they lie.
 */
export class MergedReader {
  /** When the audio goes on behind the frame that was given last; NaN if that isn't known. */
  nextAudioTicks = Number.NaN;
  readonly #video: RingReader;
  readonly #audio: RingReader;
  #hasVideo = false;
  #hasAudio = false;
  #ringId: number;
  #formatVersion = 0;
  /** Of the audio that pictures wait for; 0: there is none. */
  #audioClockHz = 0;

  constructor(ring: SharedArrayBuffer, nowMs: MonotonicMs) {
    this.#ringId = ringIdOf(ring);
    const video = new RingReader(ring, { start: 'latest-key' });
    const start = video.lagMs(nowMs) > MAX_START_AGE_MS ? 'next' : 'latest-key';
    this.#video = start === 'next' ? new RingReader(ring, { start }) : video;
    this.#audio = new RingReader(ring, { start, sound: 'kept' });
  }

  /** Video frames that were overwritten before they were read. */
  get droppedFrames(): number {
    return this.#video.droppedFrames;
  }

  /** The writer has closed the ring, and nothing is left to read. */
  get ended(): boolean {
    return !this.#hasVideo && this.#video.ended;
  }

  /** The reader that stands at the next frame, or null: there is none yet. */
  next(nowMs: MonotonicMs): RingReader | null {
    if (this.#isTooEarly()) return null;
    this.#hasVideo ||= seek(this.#video, true);
    this.#hasAudio ||= seek(this.#audio, false);
    const reader = this.#choose(nowMs);
    if (reader === this.#video) this.#hasVideo = false;
    else if (reader === this.#audio) this.#hasAudio = false;
    this.nextAudioTicks = this.#hasAudio ? this.#audio.ptsTicks : Number.NaN;
    return reader;
  }

  /** Whether this ring was put in the place of the one that is read, with the frames that wait there. */
  continuesIn(ring: SharedArrayBuffer): boolean {
    return ringIdOf(ring) === this.#ringId;
  }

  /** There is another ring. If it doesn't continue this one, a frame that was waiting must have been taken before. */
  moveTo(ring: SharedArrayBuffer): void {
    this.#ringId = ringIdOf(ring);
    const isSame = this.#video.moveTo(ring);
    this.#hasVideo &&= this.#video.isIntact();
    this.#audio.moveTo(ring);
    this.#hasAudio &&= this.#audio.isIntact();
    if (!isSame) this.#formatVersion = 0;
  }

  /** A playlist says at a format's start whether it has sound. What was read already can't wait for that. */
  #isTooEarly(): boolean {
    const video = this.#video;
    const isNew = video.awaitsSound && video.newestFormatVersion !== this.#formatVersion;
    return isNew && !this.#hasVideo && !this.#hasAudio;
  }

  #choose(nowMs: MonotonicMs): RingReader | null {
    const video = this.#video;
    const audio = this.#audio;
    if (!this.#hasVideo) return this.#hasAudio && isOverdue(audio, nowMs) ? audio : null;
    this.#describe(video);
    const clockHz = this.#audioClockHz;
    if (clockHz === 0) return video;
    if (!this.#hasAudio) return isOverdue(video, nowMs) ? video : null;
    return secondsOf(video.dtsTicks, VIDEO_CLOCK_HZ) <= secondsOf(audio.ptsTicks, clockHz) ? video : audio;
  }

  #describe(video: RingReader): void {
    if (video.formatVersion === this.#formatVersion) return;
    this.#formatVersion = video.formatVersion;
    this.#audioClockHz = keptSound(video.formatInfo()?.audio ?? null)?.clockRateHz ?? 0;
  }
}

/** Moves on to a frame of one track. */
const seek = (reader: RingReader, isVideo: boolean): boolean => {
  while (reader.next()) if (reader.isVideo === isVideo) return true;
  return false;
};

const isOverdue = (reader: RingReader, nowMs: MonotonicMs): boolean => nowMs - reader.arrivalMs > MAX_WAIT_MS;

const secondsOf = (ticks: Ticks, clockHz: number): number => ticks / clockHz;
