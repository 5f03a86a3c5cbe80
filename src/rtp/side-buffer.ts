/** What comes in fragments and is no slice is tens of bytes; cameras that send Annex B put whole frames here. */
export const SIDE_BUFFER_LIMIT_BYTES = 4 * 1024 * 1024;

/** Collects pieces into one stretch of memory that grows by doubling, up to a limit, and is kept for reuse. */
export class SideBuffer {
  bytes: Buffer = Buffer.alloc(4096);
  lengthBytes = 0;
  readonly #limitBytes: number;

  constructor(limitBytes = SIDE_BUFFER_LIMIT_BYTES) {
    this.#limitBytes = limitBytes;
  }

  clear(): void {
    this.lengthBytes = 0;
  }

  /** False: it would outgrow the limit, and nothing was added. */
  append(source: Buffer, start: number, end: number): boolean {
    const needed = this.lengthBytes + end - start;
    if (needed > this.#limitBytes) return false;
    if (needed > this.bytes.length) {
      const grown = Buffer.alloc(Math.min(this.#limitBytes, Math.max(needed, this.bytes.length * 2)));
      this.bytes.copy(grown, 0, 0, this.lengthBytes);
      this.bytes = grown;
    }
    source.copy(this.bytes, this.lengthBytes, start, end);
    this.lengthBytes = needed;
    return true;
  }
}
