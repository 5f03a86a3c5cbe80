import type { Clock, MonotonicMs } from '../../base/clock.js';
import { TRIM_SHARE } from '../../ring/capacity.js';
import { fairCeiling, RingCeiling, ringDemandOf } from '../../ring/ceiling.js';

/** The memory of all rings, in figures. */
export type RingFigures = {
  readonly budgetBytes: number;
  readonly usedBytes: number;
  /** How large one ring may be now. */
  readonly ceilingBytes: number;
};

/** So much memory of rings that nobody uses any more is worth a collection of all threads, which takes each 5 to 50 ms. */
const WORTHWHILE_BYTES = 32 << 20;
/** Readers need a moment to go on in the next ring; and collections are not to follow on each other. */
const SETTLE_MS = 2_000;
const COLLECT_PERIOD_MS = 10_000;
/** Less than that waits so long. */
const PATIENCE_MS = 5 * 60_000;

/**
 * Keeps all rings together within their budget, on the main thread, which knows them all: once a second it looks at
 * what they hold and want, and sets the ceiling that their writers go by.
 */
export class RingBudget {
  readonly ceiling = new RingCeiling();
  readonly #budgetBytes: number;
  readonly #clock: Clock;
  readonly #collectGarbage: () => void;
  #usedBytes = 0;
  #releasedBytes = 0;
  #releasedMs: MonotonicMs;
  #collectedMs: MonotonicMs;

  constructor(budgetBytes: number, deps: { clock: Clock; collectGarbage: () => void }) {
    this.#budgetBytes = budgetBytes;
    this.#clock = deps.clock;
    this.#collectGarbage = deps.collectGarbage;
    this.#releasedMs = deps.clock.monotonicMs();
    this.#collectedMs = this.#releasedMs;
  }

  get figures(): RingFigures {
    return {
      budgetBytes: this.#budgetBytes,
      usedBytes: this.#usedBytes,
      ceilingBytes: this.ceiling.bytes,
    };
  }

  /**
   * A ring was replaced, or its camera needs none. Its memory is free when every thread that knew it has collected
   * its garbage, and none has a reason to: V8 doesn't count shared memory as any thread's own.
   */
  release(ring: SharedArrayBuffer): void {
    this.#releasedBytes += ring.byteLength;
    this.#releasedMs = this.#clock.monotonicMs();
  }

  /** Once a second, with all rings that there are. */
  round(rings: readonly SharedArrayBuffer[]): void {
    const demands: number[] = [];
    let fixedBytes = 0;
    this.#usedBytes = 0;
    for (const ring of rings) {
      const demand = ringDemandOf(ring);
      this.#usedBytes += demand.totalBytes;
      fixedBytes += demand.fixedBytes;
      demands.push(demand.demandBytes);
    }
    this.ceiling.set(fairCeiling(demands, this.#budgetBytes * (1 - TRIM_SHARE) - fixedBytes));
    this.#collect();
  }

  #collect(): void {
    const nowMs = this.#clock.monotonicMs();
    const isWorthwhile = this.#releasedBytes >= WORTHWHILE_BYTES || nowMs - this.#collectedMs >= PATIENCE_MS;
    const isSettled = nowMs - this.#releasedMs >= SETTLE_MS && nowMs - this.#collectedMs >= COLLECT_PERIOD_MS;
    if (this.#releasedBytes === 0 || !isWorthwhile || !isSettled) return;
    this.#releasedBytes = 0;
    this.#collectedMs = nowMs;
    this.#collectGarbage();
  }
}
