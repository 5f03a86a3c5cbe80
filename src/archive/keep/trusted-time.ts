import type { Clock, MonotonicMs } from '../../base/clock.js';

const HOUR_MS = 3_600_000;
/** By so much the clock may be set at once: NTP after a night without a network, or a person. */
const MAX_STEP_MS = 2 * HOUR_MS;
/** Of the time that recordings are kept, for each hour that the clock is ahead: that much of an archive may go. */
const SHARE_AN_HOUR = 0.05;

/** A clock that goes on being ahead so long, as the machine's monotonic clock counts, is right. */
const BELIEVED_AFTER_MS = HOUR_MS / SHARE_AN_HOUR;

/**
 * What time it is, for those who delete. A wall clock that leaps ahead (a dead battery, a wrong time server)
 * would make everything old at once. So time is taken to pass as the monotonic clock tells. A wall clock that is ahead of
 * that is followed by a small share of each recording's time to live an hour, and believed after 20 hours, which would be
 * the end of the archive anyway. One that is behind deletes nothing, and is what it was when it comes back: many machines
 * start in 1970 and ask the network then.
 */
export class TrustedTime {
  readonly #clock: Clock;
  #atMs: number;
  #atMonotonicMs: MonotonicMs;
  /** Since when the clocks differ, and which way. */
  #apart: { readonly sinceMs: MonotonicMs; readonly isAhead: boolean } | null = null;

  /** `lastKnownMs`: when the service last trusted a clock, or the archive was last written to; null: never. */
  constructor(clock: Clock, lastKnownMs: number | null) {
    this.#clock = clock;
    this.#atMs = lastKnownMs ?? clock.wallMs();
    this.#atMonotonicMs = clock.monotonicMs();
    this.look();
  }

  /** For the next start of the service. */
  get trustedMs(): number {
    return this.#atMs + (this.#clock.monotonicMs() - this.#atMonotonicMs);
  }

  /** Compares the clocks. To be called every few minutes: a step is one only if it is seen between two looks. */
  look(): { readonly nowMs: number; readonly aheadMs: number; readonly behindMs: number } {
    const wallMs = this.#clock.wallMs();
    const trustedMs = this.trustedMs;
    const isAhead = wallMs > trustedMs;
    if (Math.abs(wallMs - trustedMs) <= MAX_STEP_MS || this.#isCertain(isAhead)) {
      this.#atMs = wallMs;
      this.#atMonotonicMs = this.#clock.monotonicMs();
      this.#apart = null;
      return { nowMs: wallMs, aheadMs: 0, behindMs: 0 };
    }
    return isAhead
      ? { nowMs: trustedMs, aheadMs: wallMs - trustedMs, behindMs: 0 }
      : { nowMs: wallMs, aheadMs: 0, behindMs: trustedMs - wallMs };
  }

  /** Recordings that ended before this are older than they are kept. */
  limitMs(keptMs: number): number {
    const { nowMs, aheadMs } = this.look();
    return nowMs + Math.min(aheadMs, this.#apartHours * SHARE_AN_HOUR * keptMs) - keptMs;
  }

  get #apartHours(): number {
    return this.#apart === null ? 0 : (this.#clock.monotonicMs() - this.#apart.sinceMs) / HOUR_MS;
  }

  #isCertain(isAhead: boolean): boolean {
    if (this.#apart?.isAhead !== isAhead) this.#apart = { sinceMs: this.#clock.monotonicMs(), isAhead };
    return this.#apartHours * HOUR_MS >= BELIEVED_AFTER_MS;
  }
}
