import type { MonotonicMs } from '../../../base/clock.js';

/** Reports on their way at a time; a viewer answers each second, or each five. */
const REMEMBERED = 8;
/** The least round trip of a while counts: routes change. */
const LEAST_WINDOW_MS = 20_000;

/**
 * How long the way to a viewer and back is, by what it says of our sender reports (RFC 3550 §6.4.1, LSR and DLSR), and
 * how much of that is waiting: what it is longer than it was at its shortest.
 */
export class RoundTrips {
  /** 0: nobody knows. */
  smoothedMs = 0;
  leastMs = Number.POSITIVE_INFINITY;
  queueMs = 0;
  readonly #ntpMiddles = new Uint32Array(REMEMBERED);
  readonly #sentMs = new Float64Array(REMEMBERED);
  #next = 0;
  /** The least since the window began, which counts from its end on. */
  #nextLeastMs = Number.POSITIVE_INFINITY;
  #windowMs = 0;

  /** A report is sent whose NTP time has these bits in its middle. */
  onSent(ntpMiddle: number, nowMs: MonotonicMs): void {
    this.#ntpMiddles[this.#next] = ntpMiddle;
    this.#sentMs[this.#next] = nowMs;
    this.#next = (this.#next + 1) % REMEMBERED;
  }

  /** The viewer tells the last report of ours that it got, and how long ago that was in 1/65536 s. */
  onHeard(lastReport: number, delay: number, nowMs: MonotonicMs): void {
    const slot = this.#ntpMiddles.indexOf(lastReport);
    if (lastReport === 0 || slot < 0) return;
    const rttMs = Math.max(0, nowMs - this.#sentMs[slot]! - (delay * 1000) / 65_536);
    this.smoothedMs = this.smoothedMs === 0 ? rttMs : this.smoothedMs + (rttMs - this.smoothedMs) / 4;
    if (nowMs - this.#windowMs > LEAST_WINDOW_MS) {
      this.leastMs = this.#nextLeastMs;
      this.#nextLeastMs = Number.POSITIVE_INFINITY;
      this.#windowMs = nowMs;
    }
    this.leastMs = Math.min(this.leastMs, rttMs);
    this.#nextLeastMs = Math.min(this.#nextLeastMs, rttMs);
    this.queueMs = rttMs - this.leastMs;
  }
}
