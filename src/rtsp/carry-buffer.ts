const FIRST_BYTES = 2048;
/** The largest interleaved frame: what the buffer may keep for the life of a connection. */
const KEPT_BYTES = 65_540;

/** Holds what a read left unfinished until the next one brings the rest: small, grown on demand. */
export class CarryBuffer {
  bytes: Buffer = Buffer.alloc(0);
  length = 0;

  /** Makes room for `totalBytes` in one step, where the need is known. */
  reserve(totalBytes: number): void {
    if (totalBytes <= this.bytes.length) return;
    let size = Math.max(FIRST_BYTES, this.bytes.length);
    while (size < totalBytes) size *= 2;
    const grown = Buffer.allocUnsafeSlow(size);
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  append(source: Buffer, start: number, end: number): void {
    this.reserve(this.length + end - start);
    source.copy(this.bytes, this.length, start, end);
    this.length += end - start;
  }

  /** Drops the first `count` bytes. */
  shift(count: number): void {
    this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }

  /** Empties it; what a large message made it grow to is given back. */
  clear(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES * 2) this.bytes = Buffer.alloc(0);
  }
}
