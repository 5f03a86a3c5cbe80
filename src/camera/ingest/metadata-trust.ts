import type { MonotonicMs } from '../../base/clock.js';

/** A session that lasted so long suffers the track. */
const LONG_MS = 30_000;
/** What a shorter one counts, without a picture and with one; so much in a row is too much. */
const WITHOUT_PICTURE = 3;
const WITH_PICTURE = 1;
const TOO_MUCH = 5;
const HOLD_OFF_MS = 3_600_000;

/**
 * Whether a camera's metadata track is asked for. Some cameras never answer a SETUP of it, or hang up: when two sessions
 * in a row ended without a picture, or five soon after it, the next ones of an hour go without: the picture comes first.
 */
export class MetadataTrust {
  #doubt = 0;
  #heldOffUntilMs = Number.NEGATIVE_INFINITY;

  isAsked(nowMs: MonotonicMs): boolean {
    return nowMs >= this.#heldOffUntilMs;
  }

  /** A session in which it was asked for, and which nobody here wanted to end, was over. True: it is held off from now on. */
  onEnded(lastedMs: number, hadPicture: boolean, nowMs: MonotonicMs): boolean {
    if (lastedMs >= LONG_MS && hadPicture) this.#doubt = 0;
    else this.#doubt += hadPicture ? WITH_PICTURE : WITHOUT_PICTURE;
    if (this.#doubt < TOO_MUCH) return false;
    // After the hour one more such session is enough.
    this.#doubt = TOO_MUCH - 1;
    this.#heldOffUntilMs = nowMs + HOLD_OFF_MS;
    return true;
  }
}
