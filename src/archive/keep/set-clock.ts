import type { Clock } from '../../base/clock.js';
import { TrustedTime } from './trusted-time.js';

/** One that was set back by less is soon where it was; what is named by a later time was named by one that was ahead. */
export const MOST_SET_BACK_MS = 86_400_000;
/** Between two looks clocks part by less, unless one is set. */
const LEAP_MS = 60_000;

export type ClockLook = {
  readonly nowMs: number;
  /** By more than a day, and not yet so long that it is believed: nobody knows whether it is behind, or was ahead before. */
  readonly isBehind: boolean;
  /** It was set ahead since the last look. */
  readonly hasLeapt: boolean;
};

/** A wall clock that may be set while things are decided on by the times that it named. */
export class SetClock {
  readonly #clock: Clock;
  readonly #trusted: TrustedTime;
  /** How far the clocks are apart. */
  #apartMs: number;

  /** `lastKnownMs`: the latest time that anything was remembered by; null: nothing was. */
  constructor(clock: Clock, lastKnownMs: number | null) {
    this.#clock = clock;
    this.#trusted = new TrustedTime(clock, lastKnownMs);
    this.#apartMs = clock.wallMs() - clock.monotonicMs();
  }

  look(): ClockLook {
    const { behindMs } = this.#trusted.look();
    const nowMs = this.#clock.wallMs();
    const apartMs = nowMs - this.#clock.monotonicMs();
    const hasLeapt = apartMs > this.#apartMs + LEAP_MS;
    this.#apartMs = apartMs;
    return { nowMs, isBehind: behindMs > MOST_SET_BACK_MS, hasLeapt };
  }
}
