import type { Clock, MonotonicMs } from '../base/clock.js';

const HOUR_MS = 3_600_000;
/** By so much the clock may be set at once: NTP after a night without a network, or a person. */
const MAX_STEP_MS = 2 * HOUR_MS;
/** Of the time that recordings are kept, for each hour that the clock is ahead: that much of an archive may go. */
const SHARE_AN_HOUR = 0.05;

/** A clock that goes on being ahead so long, as the machine's monotonic clock counts, is right. */
const BELIEVED_AFTER_MS = HOUR_MS / SHARE_AN_HOUR;

/**
 * What time it is, for those who delete by age. A wall clock that leaps ahead (a dead battery, a wrong time server)
 * would make everything old at once. So time is taken to pass as the monotonic clock tells; one that is ahead of that is
 * followed by a small share of each recording's time to live an hour, and believed after 20 hours, which would be the
 * end of the archive anyway. A clock that is set back is believed at once: that deletes nothing.
 */
export class TrustedTime {
  readonly #clock: Clock;
  #atMs: number;
  #atMonotonicMs: MonotonicMs;
  #aheadSinceMs: MonotonicMs | null = null;

  /** `lastKnownMs`: when the service last trusted a clock, or the archive was last written to; null: never. */
  constructor(clock: Clock, lastKnownMs: number | null) {
    this.#clock = clock;
    this.#atMs = lastKnownMs ?? clock.wallMs();
    this.#atMonotonicMs = clock.monotonicMs();
    this.look();
  }

  /** Compares the clocks. To be called every few minutes: a step is one only if it is seen between two looks. */
  look(): { readonly nowMs: number; readonly aheadMs: number } {
    const wallMs = this.#clock.wallMs();
    const nowMs = this.#passedMs;
    const monotonicMs = this.#clock.monotonicMs();
    if (wallMs <= nowMs + MAX_STEP_MS) {
      this.#believe(wallMs);
      return { nowMs: wallMs, aheadMs: 0 };
    }
    this.#aheadSinceMs ??= monotonicMs;
    if (monotonicMs - this.#aheadSinceMs >= BELIEVED_AFTER_MS) {
      this.#believe(wallMs);
      return { nowMs: wallMs, aheadMs: 0 };
    }
    return { nowMs, aheadMs: wallMs - nowMs };
  }

  /** Recordings that ended before this are older than they are kept. */
  limitMs(keptMs: number): number {
    const { nowMs, aheadMs } = this.look();
    const aheadHours =
      this.#aheadSinceMs === null ? 0 : (this.#clock.monotonicMs() - this.#aheadSinceMs) / HOUR_MS;
    return nowMs + Math.min(aheadMs, aheadHours * SHARE_AN_HOUR * keptMs) - keptMs;
  }

  get #passedMs(): number {
    return this.#atMs + (this.#clock.monotonicMs() - this.#atMonotonicMs);
  }

  #believe(wallMs: number): void {
    this.#atMs = wallMs;
    this.#atMonotonicMs = this.#clock.monotonicMs();
    this.#aheadSinceMs = null;
  }
}
