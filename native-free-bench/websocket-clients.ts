/** WebSocket viewers in a process of their own: they look at heads and send times, and cost little beside that. */
import { connect, type Socket } from 'node:net';
import { systemClock } from '../src/base/clock.js';
import { STAMP_BYTES } from '../test/support/frame-generator.js';
import { answer } from './child.js';
import { WALL_PATH } from './wall-path.js';

export type ClientsQuestion =
  | {
      readonly type: 'connect';
      readonly port: number;
      readonly cameraIds: readonly string[];
      readonly isStalled: boolean;
    }
  /** So many pages, each with a tile for each camera. */
  | {
      readonly type: 'connect-walls';
      readonly port: number;
      readonly cameraIds: readonly string[];
      readonly count: number;
    }
  | { readonly type: 'measure'; readonly seconds: number };

export type ClientsAnswer = {
  /** From the connection's start to the first whole picture. */
  readonly firstPictureMs: readonly number[];
  /** From the last packet that a camera sent to the whole frame at a viewer. */
  readonly latenciesMs: readonly number[];
};

const READ_BYTES = 256 << 10;
const BINARY = 2;
const VIDEO = 0x02;
/** Of a wall. */
const FRAME = 0x12;
const TAKEN = 0x21;
const TAKEN_EVERY_MS = 250;

const firstPictureMs: number[] = [];
let latenciesMs: number[] = [];
let isMeasuring = false;
/** Once there are walls, their frames alone are measured. */
let hasWalls = false;

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
  #messages = 0;
  #bytes = 0;

  constructor(port: number, cameraId: string, isStalled: boolean) {
    const onread = { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback: this.#onRead };
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    this.#socket.write(
      `GET /${cameraId} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    if (isStalled) this.#socket.pause();
  }

  /** Wants a tile for each of these cameras, and says how much it took from now on. */
  showWall(cameraIds: readonly string[]): void {
    const tiles = cameraIds.map((camera, tile) => ({ tile, camera, stream: 'main', mode: 'all' }));
    this.#say(0x81, Buffer.from(JSON.stringify({ op: 'tiles', rev: 1, tiles })));
    setInterval(() => {
      const taken = Buffer.alloc(12);
      taken[0] = TAKEN;
      taken.writeUInt32BE(this.#messages, 4);
      taken.writeUInt32BE(this.#bytes >>> 0, 8);
      this.#say(0x82, taken);
    }, TAKEN_EVERY_MS);
  }

  /** A message that is masked with zeros: the payload stays as it is. */
  #say(opcode: number, payload: Buffer): void {
    const head = Buffer.of(opcode, 0x80 | 126, payload.length >> 8, payload.length & 0xff, 0, 0, 0, 0);
    this.#socket.write(Buffer.concat([head, payload]));
  }

  get isUpgraded(): boolean {
    return this.#isUpgraded;
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
      if (this.#opcode === BINARY) this.#messages += 1;
      if (this.#opcode === BINARY) this.#bytes += this.#restBytes;
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
    if (this.#opcode !== BINARY || (this.#type !== VIDEO && this.#type !== FRAME)) return;
    const nowMs = systemClock.monotonicMs();
    if (!this.#hasPicture) {
      this.#hasPicture = true;
      firstPictureMs.push(nowMs - this.#startMs);
    }
    if (isMeasuring && (this.#type === FRAME) === hasWalls)
      latenciesMs.push(nowMs - this.#tail.readDoubleBE());
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

answer(async (question: ClientsQuestion): Promise<ClientsAnswer> => {
  if (question.type === 'connect-walls') {
    hasWalls = true;
    const made = Array.from({ length: question.count }, () => new Client(question.port, WALL_PATH, false));
    while (made.some((client) => !client.isUpgraded)) await sleep(5);
    for (const client of made) client.showWall(question.cameraIds);
    while (made.some((client) => !client.hasPicture)) await sleep(5);
    return { firstPictureMs: [], latenciesMs: [] };
  }
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
