/** About the frames of a turn of many cameras. */
const BLOCK_BYTES = 256 << 10;
/** A message above this has memory of its own. */
const MAX_SHARED_BYTES = BLOCK_BYTES / 4;

/**
 * Where messages are put together, one behind the other: those of a turn that all go to one page are then one piece,
 * and one write. What every socket took whole needn't be kept, so one block serves nearly always.
 */
export class MessageMemory {
  /** Where the room lies that was given last. */
  bytes: Buffer;
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #usedBytes = 0;

  constructor() {
    this.bytes = this.#block;
  }

  /** Gives room for so many bytes: in `bytes`, from the returned place on. */
  take(lengthBytes: number): number {
    if (lengthBytes > MAX_SHARED_BYTES) {
      this.bytes = Buffer.allocUnsafeSlow(lengthBytes);
      return 0;
    }
    if (this.#usedBytes + lengthBytes > BLOCK_BYTES) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#usedBytes = 0;
    }
    this.bytes = this.#block;
    const start = this.#usedBytes;
    this.#usedBytes += lengthBytes;
    return start;
  }

  /** Nobody reads any of it any more: it is written over. */
  rewind(): void {
    this.#usedBytes = 0;
  }
}
