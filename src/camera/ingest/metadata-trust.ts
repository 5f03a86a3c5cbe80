import type { MonotonicMs } from '../../base/clock.js';

/** A session that lasted so long suffers the track. */
const LONG_MS = 30_000;
const MAX_SHORT = 2;
const HOLD_OFF_MS = 3_600_000;

/**
 * Whether a camera's metadata track is asked for. Some cameras never answer a SETUP of it, or hang up: when two sessions
 * in a row ended soon, the next ones of an hour go without, since the picture comes first.
 */
export class MetadataTrust {
  #short = 0;
  #heldOffUntilMs = Number.NEGATIVE_INFINITY;

  isAsked(nowMs: MonotonicMs): boolean {
    return nowMs >= this.#heldOffUntilMs;
  }

  /** A session in which it was asked for, and which nobody here wanted to end, was over. True: it is held off from now on. */
  onEnded(lastedMs: number, nowMs: MonotonicMs): boolean {
    this.#short = lastedMs >= LONG_MS ? 0 : this.#short + 1;
    if (this.#short < MAX_SHORT) return false;
    // After the hour one more such session is enough.
    this.#short = MAX_SHORT - 1;
    this.#heldOffUntilMs = nowMs + HOLD_OFF_MS;
    return true;
  }
}
