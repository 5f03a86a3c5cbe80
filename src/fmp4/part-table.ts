const FIRST_CAPACITY = 64;

/** The keyframe that each part of a file begins with: when it is shown, and where its moof is. */
export class PartTable {
  count = 0;
  /** Composition time in the file, in ticks of the video track. */
  timeTicks = new Float64Array(FIRST_CAPACITY);
  moofOffset = new Float64Array(FIRST_CAPACITY);

  /** Parts are added in the order of the file. */
  add(timeTicks: number, moofOffset: number): void {
    if (this.count === this.timeTicks.length) this.#grow();
    this.timeTicks[this.count] = timeTicks;
    this.moofOffset[this.count] = moofOffset;
    this.count += 1;
  }

  #grow(): void {
    const [times, offsets] = [this.timeTicks, this.moofOffset];
    this.timeTicks = new Float64Array(times.length * 2);
    this.moofOffset = new Float64Array(times.length * 2);
    this.timeTicks.set(times);
    this.moofOffset.set(offsets);
  }
}
