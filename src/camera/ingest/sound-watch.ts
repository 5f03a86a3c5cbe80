import type { MonotonicMs } from '../../base/clock.js';
import { type AudioTrackInfo, isSameSound } from '../../codec/track.js';

/** The sound that a session was promised. */
export type PromisedSound = {
  readonly info: AudioTrackInfo;
  /** When its newest frame came; null before the first. */
  readonly lastFrameMs: MonotonicMs | null;
};

/** Sound comes within tens of milliseconds of the first picture, if it comes. */
const AWAITED_MS = 500;
/** Players that were told of sound stand still without it. */
const SILENT_AFTER_MS = 3_000;

/** Says which sound a stream has: that of an SDP may be refused at SETUP, never come, come late, or fall silent. */
export class SoundWatch {
  readonly #sound: PromisedSound | null;
  /** The picture from which on it is waited for. */
  #sinceMs: MonotonicMs | null = null;
  /** A session before this one had it. */
  #isPresumed = false;

  constructor(sound: PromisedSound | null) {
    this.#sound = sound;
  }

  /** The first picture came; `before` is the sound that was described until now. */
  begin(nowMs: MonotonicMs, before: AudioTrackInfo | null): void {
    this.#sinceMs = nowMs;
    this.#isPresumed = this.#sound !== null && isSameSound(before, this.#sound.info);
  }

  /** The sound that flows, or null. */
  flowing(nowMs: MonotonicMs): AudioTrackInfo | null {
    const sound = this.#sound;
    if (sound === null) return null;
    const lastMs = sound.lastFrameMs ?? (this.#isPresumed ? this.#sinceMs : null);
    return lastMs !== null && nowMs - lastMs < SILENT_AFTER_MS ? sound.info : null;
  }

  /** Whether it may still come with the first pictures. */
  isAwaited(nowMs: MonotonicMs): boolean {
    const sound = this.#sound;
    if (sound === null || sound.lastFrameMs !== null || this.#sinceMs === null) return false;
    return nowMs - this.#sinceMs < AWAITED_MS;
  }
}
