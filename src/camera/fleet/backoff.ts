import type { MonotonicMs } from '../../base/clock.js';

const FIRST_DELAY_MS = 250;
const MAX_DELAY_EARLY_MS = 2_000;
const MAX_DELAY_LATE_MS = 15_000;
const EARLY_PHASE_MS = 60_000;
const REFUSED_FIRST_DELAY_MS = 5_000;
const REFUSED_MAX_DELAY_MS = 60_000;
/** Each delay is spread over ±20 %, so that cameras lost together don't come back in lockstep. */
const JITTER_SHARE = 0.2;

/**
 * When to try a camera again. A camera that is away is asked often at first (0.25 s, doubling to 2 s within the
 * first minute) and patiently later (15 s); one that refuses us (credentials, no such stream) is asked slowly,
 * since many cameras lock an account after a few wrong tries.
 */
export class Backoff {
  readonly #random: () => number;
  #failures = 0;
  #refusals = 0;
  #awaySinceMs: MonotonicMs | null = null;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** The camera answered and frames flowed long enough: the next loss starts from the shortest delay. */
  reset(): void {
    this.#failures = 0;
    this.#refusals = 0;
    this.#awaySinceMs = null;
  }

  /** The delay before the next try, after a failure at `nowMs`. */
  nextDelayMs(nowMs: MonotonicMs, wasRefused: boolean): number {
    this.#awaySinceMs ??= nowMs;
    if (wasRefused) {
      return this.#jittered(Math.min(REFUSED_MAX_DELAY_MS, REFUSED_FIRST_DELAY_MS * 2 ** this.#refusals++));
    }
    const isEarly = nowMs - this.#awaySinceMs < EARLY_PHASE_MS;
    const cap = isEarly ? MAX_DELAY_EARLY_MS : MAX_DELAY_LATE_MS;
    return this.#jittered(Math.min(cap, FIRST_DELAY_MS * 2 ** Math.min(this.#failures++, 10)));
  }

  #jittered(delayMs: number): number {
    return delayMs * (1 - JITTER_SHARE + 2 * JITTER_SHARE * this.#random());
  }
}
