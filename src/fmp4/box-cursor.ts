const SIZE_TO_THE_END = 0;
const SIZE_IN_64_BITS = 1;
/** A box's head with a 32-bit size, and with a 64-bit one. */
export const BRIEF_HEAD_BYTES = 8;
export const LONG_HEAD_BYTES = 16;

/** What a box's head says (ISO 14496-12 §4.2). */
export type BoxHead = {
  readonly type: string;
  readonly headBytes: number;
  /** The whole box, head included; Infinity: to the end of what it is in. */
  readonly sizeBytes: number;
};

/**
 * Reads the head of a box at `at`. 'short': not all of it is before `end`; 'broken': no box has such a size or
 * type.
 */
export const readBoxHead = (bytes: Buffer, at: number, end: number): BoxHead | 'short' | 'broken' => {
  if (end - at < BRIEF_HEAD_BYTES) return 'short';
  const type = bytes.toString('latin1', at + 4, at + 8);
  // Registered types are printable; QuickTime's own begin with 0xa9. Zeros, as a power cut leaves them, are no box.
  if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return 'broken';
  const size = bytes.readUInt32BE(at);
  if (size === SIZE_TO_THE_END) {
    return { type, headBytes: BRIEF_HEAD_BYTES, sizeBytes: Number.POSITIVE_INFINITY };
  }
  if (size !== SIZE_IN_64_BITS) {
    return size < BRIEF_HEAD_BYTES ? 'broken' : { type, headBytes: BRIEF_HEAD_BYTES, sizeBytes: size };
  }
  if (end - at < LONG_HEAD_BYTES) return 'short';
  const sizeBytes = bytes.readUInt32BE(at + 8) * 0x1_0000_0000 + bytes.readUInt32BE(at + 12);
  if (sizeBytes < LONG_HEAD_BYTES || !Number.isSafeInteger(sizeBytes)) return 'broken';
  return { type, headBytes: LONG_HEAD_BYTES, sizeBytes };
};

/** Walks the boxes of `bytes[start, end)`, one level, in place. It stops at the first that isn't whole. */
export class BoxCursor {
  type = '';
  /** Where the box's content is, after `next` said true. */
  start = 0;
  end = 0;
  /** It stopped before the end of the range. */
  isBroken = false;
  readonly bytes: Buffer;
  readonly #limit: number;
  #next: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.#limit = Math.min(end, bytes.length);
    this.#next = Math.max(start, 0);
  }

  /** Goes to the next box; false: there is none, or it doesn't fit. */
  next(): boolean {
    if (this.#next >= this.#limit) return false;
    const head = readBoxHead(this.bytes, this.#next, this.#limit);
    const left = this.#limit - this.#next;
    if (typeof head === 'string' || (head.sizeBytes > left && Number.isFinite(head.sizeBytes))) {
      this.isBroken = true;
      this.#next = this.#limit;
      return false;
    }
    this.type = head.type;
    this.start = this.#next + head.headBytes;
    this.end = this.#next + Math.min(head.sizeBytes, left);
    this.#next = this.end;
    return true;
  }

  /** A cursor on the boxes in this one's content, behind its first `skipBytes`. */
  inside(skipBytes = 0): BoxCursor {
    return new BoxCursor(this.bytes, Math.min(this.start + skipBytes, this.end), this.end);
  }

  /** Moves on to the next box of this type; false: there is none. */
  find(type: string): boolean {
    while (this.next()) if (this.type === type) return true;
    return false;
  }
}
