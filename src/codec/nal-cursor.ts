import { endWithoutZeros } from './nal.js';

/** Index of the next `00 00 01` in `buffer[start, end)`, or -1. */
export const findStartCode = (buffer: Uint8Array, start: number, end: number): number => {
  // Looks at every third byte: only a byte of 0 or 1 can belong to a start code that ends here or later.
  let at = start + 2;
  while (at < end) {
    const byte = buffer[at]!;
    if (byte > 1) at += 3;
    else if (byte === 1) {
      if (buffer[at - 1] === 0 && buffer[at - 2] === 0) return at - 2;
      at += 3;
    } else at += 1;
  }
  return -1;
};

const nothing = new Uint8Array(0);

/**
 * Walks the NAL units of an Annex B stream in place (H.264 §B.1, H.265 §B.1): start codes of 3 or 4 bytes,
 * trailing zeros and empty units skipped. One cursor serves any number of buffers.
 */
export class AnnexBCursor {
  /** Where the NAL unit's header is, after `next` said true. */
  offset = 0;
  /** Its size, start code and trailing zeros left out. */
  length = 0;
  #buffer: Uint8Array = nothing;
  #next = -1;
  #end = 0;

  /** Starts over on `buffer[start, end)`. What stands before the first start code is passed over. */
  open(buffer: Uint8Array, start: number, end: number): void {
    this.#buffer = buffer;
    this.#end = Math.min(end, buffer.length);
    this.#next = findStartCode(buffer, start, this.#end);
  }

  /** Goes to the next NAL unit; false: there is none. */
  next(): boolean {
    while (this.#next >= 0) {
      const offset = this.#next + 3;
      this.#next = findStartCode(this.#buffer, offset, this.#end);
      const limit = this.#next < 0 ? this.#end : this.#next;
      this.offset = offset;
      this.length = endWithoutZeros(this.#buffer, offset, limit) - offset;
      if (this.length > 0) return true;
    }
    return false;
  }
}

/** Walks NAL units behind 4-byte big-endian lengths in place, as the ring and MP4 hold them. */
export class LengthPrefixedCursor {
  /** Where the NAL unit's header is, after `next` said true. */
  offset = 0;
  /** Its size, without the prefix. */
  length = 0;
  /** A length pointed past the end, or bytes were left over: the walk stopped early. */
  isBroken = false;
  #buffer: Uint8Array = nothing;
  #next = 0;
  #end = 0;

  /** Starts over on `buffer[start, end)`. */
  open(buffer: Uint8Array, start: number, end: number): void {
    this.#buffer = buffer;
    this.#next = start;
    this.#end = Math.min(end, buffer.length);
    this.isBroken = false;
  }

  /** Goes to the next NAL unit; false: there is none, or the data is broken here. */
  next(): boolean {
    while (this.#next + 4 <= this.#end) {
      const at = this.#next;
      const bytes = this.#buffer;
      const length =
        bytes[at]! * 0x1000000 + ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!);
      if (length > this.#end - at - 4) {
        this.isBroken = true;
        this.#next = this.#end;
        return false;
      }
      this.offset = at + 4;
      this.length = length;
      this.#next = at + 4 + length;
      if (length > 0) return true;
    }
    if (this.#next < this.#end) this.isBroken = true;
    return false;
  }
}
