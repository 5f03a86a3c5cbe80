/** Neighbouring bounds differ by this factor: no quantile is further off than half a percent. */
const STEP = 1.01;
const LOG_STEP = Math.log(STEP);
const LEAST_MS = 0.01;
/** Up to half a minute; what is longer is counted with the last ones, and `maxMs` tells it. */
const BUCKETS = Math.ceil(Math.log(30_000 / LEAST_MS) / LOG_STEP) + 2;

/** What goes to another process, or into a file. */
export type LatencyCounts = { readonly counts: readonly (readonly [bucket: number, count: number])[] } & {
  readonly maxMs: number;
};

export type LatencySummary = {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
};

/** How long things took, counted in buckets: an hour of a hundred viewers takes no more memory than a second of one. */
export class Latencies {
  readonly #counts = new Uint32Array(BUCKETS);
  #count = 0;
  #maxMs = 0;

  static of(...parts: readonly LatencyCounts[]): Latencies {
    const all = new Latencies();
    for (const { counts, maxMs } of parts) {
      for (const [bucket, count] of counts) {
        all.#counts[bucket]! += count;
        all.#count += count;
      }
      all.#maxMs = Math.max(all.#maxMs, maxMs);
    }
    return all;
  }

  get count(): number {
    return this.#count;
  }

  get maxMs(): number {
    return this.#maxMs;
  }

  add(ms: number): void {
    const bucket = ms <= LEAST_MS ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / LEAST_MS) / LOG_STEP));
    this.#counts[bucket]! += 1;
    this.#count += 1;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#count = 0;
    this.#maxMs = 0;
  }

  /** The value below which `share` of all lie, as `quantile` of a table has it; 0 if there are none. */
  quantileMs(share: number): number {
    if (this.#count === 0) return 0;
    const rank = Math.min(this.#count - 1, Math.floor(this.#count * share));
    let below = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      below += this.#counts[bucket]!;
      // The middle of the bucket, which can't lie beyond the largest of all.
      if (below > rank)
        return Math.min(this.#maxMs, bucket === 0 ? LEAST_MS : LEAST_MS * STEP ** (bucket - 0.5));
    }
    return this.#maxMs;
  }

  summary(): LatencySummary {
    return {
      count: this.#count,
      p50Ms: this.quantileMs(0.5),
      p99Ms: this.quantileMs(0.99),
      maxMs: this.#maxMs,
    };
  }

  toCounts(): LatencyCounts {
    const counts: [number, number][] = [];
    for (const [bucket, count] of this.#counts.entries()) if (count > 0) counts.push([bucket, count]);
    return { counts, maxMs: this.#maxMs };
  }
}
