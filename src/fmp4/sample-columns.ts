const FIRST_CAPACITY = 128;

/** Samples in the order they were added, a typed array a field: growing allocates, adding doesn't. */
export class SampleColumns {
  count = 0;
  track = new Uint8Array(FIRST_CAPACITY);
  dtsTicks = new Float64Array(FIRST_CAPACITY);
  compositionTicks = new Int32Array(FIRST_CAPACITY);
  durationTicks = new Uint32Array(FIRST_CAPACITY);
  sizeBytes = new Uint32Array(FIRST_CAPACITY);
  isKey = new Uint8Array(FIRST_CAPACITY);
  offsetBytes = new Float64Array(FIRST_CAPACITY);

  /** Makes room for one more and returns its index; the caller fills the fields. */
  push(): number {
    if (this.count === this.track.length) this.#grow();
    this.count += 1;
    return this.count - 1;
  }

  #grow(): void {
    const capacity = this.track.length * 2;
    const larger = <Column extends { set(from: Column): void }>(column: Column, empty: Column): Column => {
      empty.set(column);
      return empty;
    };
    this.track = larger<Uint8Array<ArrayBuffer>>(this.track, new Uint8Array(capacity));
    this.dtsTicks = larger<Float64Array<ArrayBuffer>>(this.dtsTicks, new Float64Array(capacity));
    this.compositionTicks = larger<Int32Array<ArrayBuffer>>(this.compositionTicks, new Int32Array(capacity));
    this.durationTicks = larger<Uint32Array<ArrayBuffer>>(this.durationTicks, new Uint32Array(capacity));
    this.sizeBytes = larger<Uint32Array<ArrayBuffer>>(this.sizeBytes, new Uint32Array(capacity));
    this.isKey = larger<Uint8Array<ArrayBuffer>>(this.isKey, new Uint8Array(capacity));
    this.offsetBytes = larger<Float64Array<ArrayBuffer>>(this.offsetBytes, new Float64Array(capacity));
  }
}
