/**
 * The latest samples of some series, one in each slot of time. All memory is there from the start, and putting a sample
 * in makes nothing new. A slot that was passed over is empty.
 */
export class SampleRing {
  readonly #values: Float64Array;
  readonly #slots: number;
  #first = 0;
  /** Behind the newest. */
  #end = 0;

  constructor(seriesCount: number, slots: number) {
    this.#values = new Float64Array(seriesCount * slots);
    this.#slots = slots;
  }

  /** Number of the oldest slot that is kept. */
  get first(): number {
    return Math.max(this.#first, this.#end - this.#slots);
  }

  /** Number of the slot behind the newest. */
  get end(): number {
    return this.#end;
  }

  /** A value for each series; NaN: it isn't known. Slots only rise. */
  put(slot: number, values: Float64Array): void {
    if (this.#end === 0) {
      this.#first = slot;
      this.#end = slot;
    }
    if (slot < this.#end) return;
    for (let passed = Math.max(this.#end, slot - this.#slots); passed < slot; passed++)
      this.#write(passed, null);
    this.#write(slot, values);
    this.#end = slot + 1;
  }

  /** Those of one series from a slot on, which is kept; null where there is none. */
  read(series: number, from: number): (number | null)[] {
    const found: (number | null)[] = [];
    for (let slot = from; slot < this.#end; slot++) {
      const value = this.#values[series * this.#slots + (slot % this.#slots)]!;
      found.push(Number.isNaN(value) ? null : value);
    }
    return found;
  }

  #write(slot: number, values: Float64Array | null): void {
    const at = slot % this.#slots;
    for (let series = 0; series * this.#slots < this.#values.length; series++)
      this.#values[series * this.#slots + at] = values === null ? Number.NaN : values[series]!;
  }
}
