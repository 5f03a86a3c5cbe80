import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** Steps of RTP time below this are those of pictures that are shown once more (src/live/whep/send/send-history.ts). */
const OLD_PICTURE_STEP_TICKS = 1_000;

/** What went to the viewer; of it, what went for the second time: packets, and pictures under new numbers. */
export type Carried = {
  bytes: number;
  packets: number;
  repeatBytes: number;
  oldPictureBytes: number;
};

/** Counts RTP by what is readable of it: sequence numbers and times. */
class Counter {
  readonly carried: Carried = { bytes: 0, packets: 0, repeatBytes: 0, oldPictureBytes: 0 };
  readonly #seen = new Map<number, number>();
  #highest = -1;
  #frameTimestamp = -1;
  #isOldPicture = false;

  count(message: Buffer): void {
    const { carried } = this;
    const first = message[0] ?? 0;
    const type = message[1] ?? 0;
    if (first < 128 || (type >= 192 && type < 224)) return;
    carried.bytes += message.length;
    carried.packets += 1;
    const sequence = message.readUInt16BE(2);
    const timestamp = message.readUInt32BE(4);
    if (this.#seen.get(sequence) === timestamp) carried.repeatBytes += message.length;
    else this.#countFirst(sequence, timestamp, message.length);
    this.#seen.set(sequence, timestamp);
  }

  #countFirst(sequence: number, timestamp: number, lengthBytes: number): void {
    if (timestamp !== this.#frameTimestamp) {
      const step = (timestamp - this.#frameTimestamp) | 0;
      this.#isOldPicture = this.#highest >= 0 && step < OLD_PICTURE_STEP_TICKS;
      this.#frameTimestamp = timestamp;
    }
    this.#highest = sequence;
    if (this.#isOldPicture) this.carried.oldPictureBytes += lengthBytes;
  }
}

/** Stands between the viewer and the service: delays what goes by, and counts it. */
export class Relay {
  readonly #address: string;
  readonly #delayMs: number;
  readonly #viewerSide: Socket = createSocket('udp4');
  readonly #serviceSide: Socket = createSocket('udp4');
  readonly #counter = new Counter();
  #viewer: AddressInfo | null = null;
  #servicePort = 0;
  #isClosed = false;

  private constructor(address: string, delayMs: number) {
    this.#address = address;
    this.#delayMs = delayMs;
  }

  static async open(address: string, delayMs: number): Promise<Relay> {
    const relay = new Relay(address, delayMs);
    for (const socket of [relay.#viewerSide, relay.#serviceSide]) {
      socket.bind(0, address);
      await once(socket, 'listening');
      socket.setRecvBufferSize(4 << 20);
    }
    relay.#viewerSide.on('message', (message, from) => {
      relay.#viewer = from as unknown as AddressInfo;
      relay.#later(() => relay.#serviceSide.send(message, relay.#servicePort, address));
    });
    relay.#serviceSide.on('message', (message) => {
      relay.#later(() => relay.#toViewer(message));
    });
    return relay;
  }

  get carried(): Carried {
    return this.#counter.carried;
  }

  /** The answer, with this relay in the service's place. */
  standIn(answer: string): string {
    const lines = answer.split('\r\n');
    const candidate = lines.find((line) => line.startsWith('a=candidate:') && line.includes(this.#address));
    if (candidate === undefined) throw new Error(`the service doesn't announce ${this.#address}`);
    const fields = candidate.split(' ');
    this.#servicePort = Number(fields[5]);
    fields[5] = String(this.#viewerSide.address().port);
    return lines
      .map((line) => (line === candidate ? fields.join(' ') : line))
      .filter((line) => !line.startsWith('a=candidate:') || line === fields.join(' '))
      .join('\r\n');
  }

  close(): void {
    this.#isClosed = true;
    this.#viewerSide.close();
    this.#serviceSide.close();
  }

  #later(send: () => void): void {
    if (this.#delayMs === 0) send();
    else setTimeout(() => this.#isClosed || send(), this.#delayMs / 2);
  }

  #toViewer(message: Buffer): void {
    if (this.#viewer === null) return;
    this.#counter.count(message);
    this.#viewerSide.send(message, this.#viewer.port, this.#viewer.address);
  }
}
