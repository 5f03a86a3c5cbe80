/** WebSocket viewers in a process of their own: they look at heads and send times, and cost little beside that. */
import { connect, type Socket } from 'node:net';
import { systemClock } from '../src/base/clock.js';
import { STAMP_BYTES } from '../test/support/frame-generator.js';
import { answer } from './child.js';

export type ClientsQuestion =
  | {
      readonly type: 'connect';
      readonly port: number;
      readonly cameraIds: readonly string[];
      readonly isStalled: boolean;
    }
  | { readonly type: 'measure'; readonly seconds: number };

export type ClientsAnswer = {
  /** From the connection's start to the first whole picture. */
  readonly firstPictureMs: readonly number[];
  /** From the last packet that a camera sent to the whole frame at a viewer. */
  readonly latenciesMs: readonly number[];
};

const READ_BYTES = 256 << 10;
const VIDEO = 0x02;

const firstPictureMs: number[] = [];
let latenciesMs: number[] = [];
let isMeasuring = false;

/** One viewer: walks through messages as bytes come, and keeps nothing but the last ones of each. */
class Client {
  readonly #startMs = systemClock.monotonicMs();
  readonly #socket: Socket;
  /** Head and first byte of a message, while they are gathered. */
  readonly #head = Buffer.alloc(11);
  #headBytes = 0;
  #opcode = 0;
  #type = 0;
  #restBytes = 0;
  readonly #tail = Buffer.alloc(STAMP_BYTES);
  #isUpgraded = false;
  #hasPicture = false;

  constructor(port: number, cameraId: string, isStalled: boolean) {
    const onread = { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback: this.#onRead };
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    this.#socket.write(
      `GET /${cameraId} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    if (isStalled) this.#socket.pause();
  }

  get hasPicture(): boolean {
    return this.#hasPicture;
  }

  readonly #onRead = (lengthBytes: number, buffer: Uint8Array): boolean => {
    const bytes = buffer as Buffer;
    let at = 0;
    if (!this.#isUpgraded) {
      at = bytes.indexOf('\r\n\r\n') + 4;
      this.#isUpgraded = true;
    }
    while (at < lengthBytes) {
      if (this.#restBytes === 0) at = this.#readHead(bytes, at, lengthBytes);
      else at = this.#readPayload(bytes, at, lengthBytes);
    }
    return true;
  };

  #readHead(bytes: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      this.#head[this.#headBytes++] = bytes[at++]!;
      const short = this.#headBytes < 2 ? 0 : this.#head[1]!;
      const wanted = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (this.#headBytes < wanted || this.#headBytes < 2) continue;
      this.#opcode = this.#head[0]! & 0x0f;
      this.#restBytes =
        short === 126 ? this.#head.readUInt16BE(2) : short === 127 ? this.#head.readUInt32BE(6) : short;
      this.#headBytes = 0;
      this.#type = -1;
      return at;
    }
    return at;
  }

  #readPayload(bytes: Buffer, start: number, end: number): number {
    const taken = Math.min(this.#restBytes, end - start);
    if (this.#type === -1) this.#type = bytes[start]!;
    const stop = start + taken;
    if (taken >= STAMP_BYTES) {
      bytes.copy(this.#tail, 0, stop - STAMP_BYTES, stop);
    } else {
      this.#tail.copyWithin(0, taken);
      bytes.copy(this.#tail, STAMP_BYTES - taken, start, stop);
    }
    this.#restBytes -= taken;
    if (this.#restBytes === 0) this.#onMessage();
    return stop;
  }

  #onMessage(): void {
    if (this.#opcode === 9) {
      // A pong that is masked with zeros: the payload stays as it is.
      this.#socket.write(Buffer.concat([Buffer.of(0x8a, 0x88, 0, 0, 0, 0), this.#tail]));
      return;
    }
    if (this.#type !== VIDEO) return;
    const nowMs = systemClock.monotonicMs();
    if (!this.#hasPicture) {
      this.#hasPicture = true;
      firstPictureMs.push(nowMs - this.#startMs);
    }
    if (isMeasuring) latenciesMs.push(nowMs - this.#tail.readDoubleBE());
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

answer(async (question: ClientsQuestion): Promise<ClientsAnswer> => {
  if (question.type === 'connect') {
    const made = question.cameraIds.map((id) => new Client(question.port, id, question.isStalled));
    while (!question.isStalled && made.some((client) => !client.hasPicture)) await sleep(5);
    return { firstPictureMs, latenciesMs: [] };
  }
  latenciesMs = [];
  isMeasuring = true;
  await sleep(question.seconds * 1000);
  isMeasuring = false;
  return { firstPictureMs, latenciesMs };
});
