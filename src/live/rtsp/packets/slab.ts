/** Memory that several hold; when the last of them lets go it is written over. */
export class Slab {
  readonly bytes: Buffer;
  readonly #onFree: (slab: Slab) => void;
  #holders = 0;

  constructor(sizeBytes: number, onFree: (slab: Slab) => void) {
    this.bytes = Buffer.allocUnsafeSlow(sizeBytes);
    this.#onFree = onFree;
  }

  hold(): void {
    this.#holders += 1;
  }

  /** Once for each `hold`. A holder that never comes to it keeps the memory from being used again, no more. */
  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#onFree(this);
  }
}
