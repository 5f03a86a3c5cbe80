import type { Clock } from '../../base/clock.js';

/**
 * What may come at once: all that a broker keeps of 500 cameras with 32 labels each is 17,500 messages, and comes after
 * each connecting. What we send ourselves has its answers beside that.
 */
export const PACKET_BURST = 20_000;
/** Of what is heard beside that, there is one in some seconds. */
export const PACKETS_A_SEC = 200;

const PUBLISH = 3;
/** MQTT 3.1.1, section 2.2.3: seven bits a byte, four bytes at most. */
const CONTINUES = 0x80;
const MAX_LENGTH_BYTES = 4;

/**
 * Looks at how long packets say that they are before anybody holds them (the library would keep one of 256 MB), and at
 * how many they are: a broker, or whoever may tell it something that we listen to, could keep the thread busy for ever.
 * Packets are read as MQTT 3.1.1, section 2.2, frames them.
 */
export class PacketGuard {
  readonly #maxBytes: number;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** How many may come now. */
  #allowance = PACKET_BURST;
  #allowedMs: number;
  /** What is yet to come of the packet that is read. */
  #leftBytes = 0;
  #lengthBytes = 0;
  #length = 0;
  #isInLength = false;

  constructor(maxBytes: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#maxBytes = maxBytes;
    this.#clock = clock;
    this.#allowedMs = clock.monotonicMs();
  }

  /** So many more are to come, since something was sent that is answered. */
  expect(count: number): void {
    this.#allowance = Math.min(PACKET_BURST, this.#allowance + count);
  }

  /** What is wrong with what came; null: nothing. After a fault nothing more may be given. */
  fault(chunk: Uint8Array): string | null {
    const nowMs = this.#clock.monotonicMs();
    this.expect(((nowMs - this.#allowedMs) * PACKETS_A_SEC) / 1000);
    this.#allowedMs = nowMs;
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
    if (this.#allowance < 1) return 'the broker sent more packets than anybody asked for';
    this.#allowance -= 1;
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
