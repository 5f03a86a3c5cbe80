/**
 * A bounded cursor over big-endian bytes. It never reads outside `[start, end)`: past the end it yields zeros
 * and says so in `isPastEnd`, once for all, so that a parser asks where it matters and not at every field.
 */
export class ByteReader {
  isPastEnd = false;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #next: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#end = Math.min(end, bytes.length);
    this.#next = Math.max(start, 0);
  }

  get remaining(): number {
    return Math.max(this.#end - this.#next, 0);
  }

  u8(): number {
    return this.#unsigned(1);
  }

  u16(): number {
    return this.#unsigned(2);
  }

  u32(): number {
    return this.#unsigned(4);
  }

  /** The next `count` bytes in place; empty where there aren't as many. */
  view(count: number): Uint8Array {
    const at = this.#take(count);
    return at < 0 ? this.#bytes.subarray(0, 0) : this.#bytes.subarray(at, at + count);
  }

  skip(count: number): void {
    this.#take(count);
  }

  /** Moves on by `count`; -1: there are fewer left, and the reader is at its end. */
  #take(count: number): number {
    if (this.isPastEnd || count < 0 || count > this.remaining) {
      this.isPastEnd = true;
      this.#next = this.#end;
      return -1;
    }
    const at = this.#next;
    this.#next += count;
    return at;
  }

  #unsigned(count: number): number {
    const at = this.#take(count);
    if (at < 0) return 0;
    let value = 0;
    for (let index = at; index < at + count; index += 1) value = value * 256 + this.#bytes[index]!;
    return value;
  }
}
