/** The most bits that one `write` takes: with what is left of a byte they are 32. */
const MAX_BITS = 24;
/** Zeros that are written at once where one write doesn't do. */
const MAX_UNARY = 8;

/** Bits into bytes, the highest first, in memory that is used again and again. */
export class BitWriter {
  readonly bytes: Buffer;
  /** Whole bytes that are written. */
  lengthBytes = 0;
  #bits = 0;
  #count = 0;

  constructor(maxBytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(maxBytes);
  }

  clear(): void {
    this.lengthBytes = 0;
    this.#bits = 0;
    this.#count = 0;
  }

  /** The lowest `count` bits of `value`, 24 at most. */
  write(value: number, count: number): void {
    this.#bits = (this.#bits << count) | (value & ((1 << count) - 1));
    this.#count += count;
    while (this.#count >= 8) {
      this.#count -= 8;
      this.bytes[this.lengthBytes] = this.#bits >>> this.#count;
      this.lengthBytes += 1;
    }
  }

  /** So many zeros and a one. */
  unary(zeros: number): void {
    this.rice(zeros, 0);
  }

  /** The upper bits of `value` in unary, its lowest `parameter` ones as they are. */
  rice(value: number, parameter: number): void {
    let zeros = value >>> parameter;
    for (; zeros + parameter >= MAX_BITS; zeros -= MAX_UNARY) this.write(0, MAX_UNARY);
    this.write((1 << parameter) | (value & ((1 << parameter) - 1)), zeros + 1 + parameter);
  }

  /** Fills the last byte up with zeros. */
  align(): void {
    if (this.#count > 0) this.write(0, 8 - this.#count);
  }
}
