const PUBLISH = 3;
/** MQTT 3.1.1, section 2.2.3: seven bits a byte, four bytes at most. */
const CONTINUES = 0x80;
const MAX_LENGTH_BYTES = 4;

/**
 * Looks at how long packets say that they are before anybody holds them: the library would keep one of 256 MB. Packets are
 * read as MQTT 3.1.1, section 2.2, frames them.
 */
export class PacketGuard {
  readonly #maxBytes: number;
  /** What is yet to come of the packet that is read. */
  #leftBytes = 0;
  #lengthBytes = 0;
  #length = 0;
  #isInLength = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What is wrong with what came; null: nothing. After a fault nothing more may be given. */
  fault(chunk: Uint8Array): string | null {
    let at = 0;
    while (at < chunk.length) {
      if (this.#leftBytes > 0) {
        const taken = Math.min(this.#leftBytes, chunk.length - at);
        this.#leftBytes -= taken;
        at += taken;
        continue;
      }
      const fault = this.#isInLength ? this.#takeLength(chunk[at]!) : this.#takeFirst(chunk[at]!);
      if (fault !== null) return fault;
      at += 1;
    }
    return null;
  }

  #takeFirst(byte: number): string | null {
    this.#isInLength = true;
    this.#lengthBytes = 0;
    this.#length = 0;
    // What came twice would have to be remembered; nobody asked for that.
    const qos = (byte >> 1) & 3;
    return byte >> 4 === PUBLISH && qos > 1
      ? 'the broker sent a message of a quality nobody asked for'
      : null;
  }

  #takeLength(byte: number): string | null {
    this.#length += (byte & ~CONTINUES) * 2 ** (7 * this.#lengthBytes);
    this.#lengthBytes += 1;
    if (this.#length > this.#maxBytes) return `the broker sent a packet of more than ${this.#maxBytes} bytes`;
    if ((byte & CONTINUES) !== 0)
      return this.#lengthBytes < MAX_LENGTH_BYTES ? null : 'the broker sent what is no MQTT';
    this.#isInLength = false;
    this.#leftBytes = this.#length;
    return null;
  }
}
