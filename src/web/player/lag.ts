const SLOT_MS = 10_000;
const SLOTS = 6;
const MAX_SAMPLES = 256;

/** The value below which the share of the values lies; 0 where there are none. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};

/**
 * How much later than it might a stream's frames come: (now - timestamp) less the least of that in the last minute.
 * Clocks of the camera and of this page need not agree, and may drift.
 */
export class LagMeter {
  readonly #slots: { readonly startMs: number; leastMs: number }[] = [];
  #samples: number[] = [];
  #at = 0;

  /** Notes a frame; returns how much it was late. */
  note(nowMs: number, timestampMs: number): number {
    const delayMs = nowMs - timestampMs;
    const last = this.#slots.at(-1);
    if (last === undefined || nowMs - last.startMs >= SLOT_MS) {
      this.#slots.push({ startMs: nowMs, leastMs: delayMs });
      if (this.#slots.length > SLOTS) this.#slots.shift();
    } else last.leastMs = Math.min(last.leastMs, delayMs);
    const addedMs = delayMs - Math.min(...this.#slots.map(({ leastMs }) => leastMs));
    this.#samples[this.#at] = addedMs;
    this.#at = (this.#at + 1) % MAX_SAMPLES;
    return addedMs;
  }

  quantile(share: number): number {
    return quantile(this.#samples, share);
  }

  /** Another source, or the same one from anew: what was before says nothing of it. */
  reset(): void {
    this.#slots.length = 0;
    this.#samples = [];
    this.#at = 0;
  }
}

const SLEPT_MS = 1_000;

/** The clock that nobody sets may stand still while the machine sleeps; the other one goes on, and tells how long that was. */
export class Sleeps {
  #aheadMs: number | null = null;
  #awakeMs = Number.NEGATIVE_INFINITY;
  #sleptMs = 0;

  /** Called several times a second. */
  note(nowMs: number, wallMs: number): void {
    const aheadMs = wallMs - nowMs;
    const sleptMs = aheadMs - (this.#aheadMs ?? aheadMs);
    this.#aheadMs = aheadMs;
    if (sleptMs < SLEPT_MS) return;
    this.#awakeMs = nowMs;
    this.#sleptMs = sleptMs;
  }

  /** How much older is what came then than its clock says. */
  since(ms: number): number {
    return ms < this.#awakeMs ? this.#sleptMs : 0;
  }
}

const STALLED_MS = 1_000;
const OLD_MS = 5_000;

export type Freshness = 'live' | 'stalled' | 'old';

/**
 * Whether what is shown is live, by the age of the last picture and the usual distance between two: `old` is never
 * shown as if it were live.
 */
export const freshnessOf = (ageMs: number, intervalMs: number): Freshness => {
  const stalledMs = STALLED_MS + 2 * intervalMs;
  if (ageMs <= stalledMs) return 'live';
  return ageMs <= Math.max(OLD_MS, stalledMs) ? 'stalled' : 'old';
};

/** Further apart no keyframes are that somebody waits for: then the camera was away. */
const MAX_KEY_DISTANCE_MS = 15_000;

/** How far apart keyframes are. */
export class KeyDistance {
  distanceMs = 0;
  #lastMs: number | null = null;

  note(decodeMs: number): void {
    const sinceMs = decodeMs - (this.#lastMs ?? decodeMs);
    this.#lastMs = decodeMs;
    if (sinceMs > 0) this.distanceMs = Math.min(MAX_KEY_DISTANCE_MS, sinceMs);
  }

  /** The source broke off: how long it was away is no distance. */
  reset(): void {
    this.#lastMs = null;
  }
}

/** The usual distance between two pictures: rises at once, falls slowly. */
export class IntervalMeter {
  intervalMs = 0;
  #lastMs: number | null = null;

  note(nowMs: number): void {
    const sinceMs = this.#lastMs === null ? 0 : nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    this.intervalMs = Math.min(OLD_MS, Math.max(sinceMs, this.intervalMs * 0.9 + sinceMs * 0.1));
  }

  reset(): void {
    this.#lastMs = null;
    this.intervalMs = 0;
  }
}
