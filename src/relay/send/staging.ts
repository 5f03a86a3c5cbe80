const FIRST_BYTES = 512 << 10;
/** What was needed for a large frame is kept up to this. */
const KEPT_BYTES = 2 << 20;

/** What is written next, to any of a thread's links: one at a time fills it. */
export class Staging {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #usedBytes = 0;

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get filled(): Buffer {
    return this.#bytes.subarray(0, this.#usedBytes);
  }

  clear(): void {
    this.#usedBytes = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  /** Takes what was added since then out again. */
  cutTo(usedBytes: number): void {
    this.#usedBytes = usedBytes;
  }

  add(bytes: Buffer): void {
    const at = this.#usedBytes;
    bytes.copy(this.room(bytes.length), at);
  }

  /** Adds so many bytes, to be filled in from where `usedBytes` was on. */
  room(lengthBytes: number): Buffer {
    const neededBytes = this.#usedBytes + lengthBytes;
    if (neededBytes > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(neededBytes + FIRST_BYTES);
      this.#bytes.copy(grown, 0, 0, this.#usedBytes);
      this.#bytes = grown;
    }
    this.#usedBytes = neededBytes;
    return this.#bytes;
  }
}
