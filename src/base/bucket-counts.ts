/** How values are spread: counted by buckets, so that any number of them takes no more room. */
export class BucketCounts {
  /** Upper bounds, rising; one more bucket takes the rest. */
  readonly bounds: readonly number[];
  /** Per bucket, not cumulated. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  add(value: number): void {
    const found = this.bounds.findIndex((bound) => value <= bound);
    const bucket = found < 0 ? this.bounds.length : found;
    this.counts[bucket] = this.counts[bucket]! + 1;
    this.sum += value;
  }
}
