/** Exp-Golomb codes longer than this can't occur: all syntax elements fit 32 bits (H.264 §9.1). */
const MAX_GOLOMB_ZEROS = 32;

/**
 * Reads the bits of one NAL unit, or of plain bytes, and never outside `[start, end)`. Past the end it yields
 * zeros and says so in `isPastEnd`, once for all: a parser reads on and asks where it matters, so that a
 * truncated tail costs the tail alone. Reused by `open`.
 */
export class BitReader {
  /** More was asked for than there was, or an Exp-Golomb code was too long: what came since is worthless. */
  isPastEnd = false;
  #buffer: Uint8Array = new Uint8Array(0);
  #next = 0;
  #end = 0;
  #byte = 0;
  #bitsLeft = 0;
  #zeros = 0;
  #isNal = true;

  /** Starts over at a NAL unit, whose emulation prevention bytes are left out (H.264 §7.4.1.1). */
  openNal(buffer: Uint8Array, start: number, end: number): void {
    this.#open(buffer, start, end, true);
  }

  /** Starts over at bytes that are as they are. */
  openPlain(buffer: Uint8Array, start: number, end: number): void {
    this.#open(buffer, start, end, false);
  }

  /** The next `count` bits (0 to 32) as an unsigned number. */
  bits(count: number): number {
    let value = 0;
    let wanted = count;
    while (wanted > 0) {
      if (this.#bitsLeft === 0 && !this.#load()) return 0;
      const taken = Math.min(wanted, this.#bitsLeft);
      this.#bitsLeft -= taken;
      const part = (this.#byte >> this.#bitsLeft) & ((1 << taken) - 1);
      // A multiplication, because a shift would be signed at 32 bits.
      value = value * (1 << taken) + part;
      wanted -= taken;
    }
    return value;
  }

  /** The next bit. */
  flag(): boolean {
    return this.bits(1) === 1;
  }

  /** Passes over `count` bits. */
  skip(count: number): void {
    for (let left = count; left > 0 && !this.isPastEnd; left -= 32) this.bits(Math.min(left, 32));
  }

  /** ue(v): an unsigned Exp-Golomb code (H.264 §9.1). */
  ue(): number {
    let zeros = 0;
    while (!this.flag()) {
      zeros += 1;
      if (this.isPastEnd || zeros > MAX_GOLOMB_ZEROS) {
        this.isPastEnd = true;
        return 0;
      }
    }
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** se(v): a signed Exp-Golomb code (H.264 §9.1.1). */
  se(): number {
    const code = this.ue();
    const magnitude = Math.ceil(code / 2);
    return code % 2 === 1 ? magnitude : 0 - magnitude;
  }

  #open(buffer: Uint8Array, start: number, end: number, isNal: boolean): void {
    this.#buffer = buffer;
    this.#next = Math.max(start, 0);
    this.#end = Math.min(end, buffer.length);
    this.#byte = 0;
    this.#bitsLeft = 0;
    this.#zeros = 0;
    this.#isNal = isNal;
    this.isPastEnd = false;
  }

  #load(): boolean {
    if (this.#isNal && this.#zeros >= 2 && this.#next < this.#end && this.#buffer[this.#next] === 3) {
      this.#next += 1;
      this.#zeros = 0;
    }
    if (this.isPastEnd || this.#next >= this.#end) {
      this.isPastEnd = true;
      return false;
    }
    this.#byte = this.#buffer[this.#next]!;
    this.#next += 1;
    this.#bitsLeft = 8;
    this.#zeros = this.#byte === 0 ? this.#zeros + 1 : 0;
    return true;
  }
}
