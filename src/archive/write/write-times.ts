const BOUNDS_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 8] as const;
/** A sum of microseconds needs more than 32 bits; the counts of the buckets stand behind it. */
const SUM_BYTES = 8;
const BUCKETS = BOUNDS_SECONDS.length + 1;

/** How long the writes of all recorders took, in memory that their threads share. */
export class WriteTimes {
  static readonly BYTES = SUM_BYTES + BUCKETS * 4;
  readonly #sumMicros: BigInt64Array;
  readonly #counts: Int32Array;

  /** `offset`: a multiple of 8. */
  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#sumMicros = new BigInt64Array(memory, offset, 1);
    this.#counts = new Int32Array(memory, offset + SUM_BYTES, BUCKETS);
  }

  add(seconds: number): void {
    const found = BOUNDS_SECONDS.findIndex((bound) => seconds <= bound);
    Atomics.add(this.#counts, found < 0 ? BOUNDS_SECONDS.length : found, 1);
    Atomics.add(this.#sumMicros, 0, BigInt(Math.round(seconds * 1e6)));
  }

  /** Upper bounds in seconds, how many in each bucket, and all of them together. */
  get spread(): {
    readonly bounds: readonly number[];
    readonly counts: readonly number[];
    readonly sum: number;
  } {
    // The counts go round after 2^32, as counters may.
    const counts = Array.from(this.#counts, (_, bucket) => Atomics.load(this.#counts, bucket) >>> 0);
    return { bounds: BOUNDS_SECONDS, counts, sum: Number(Atomics.load(this.#sumMicros, 0)) / 1e6 };
  }
}
