import { connect, type Socket } from 'node:net';
import { STAMP_BYTES } from '../../test/support/frame-generator.js';

const READ_BYTES = 256 << 10;
const BINARY = 2;
const PING = 9;
/** The service's pings carry a time, and nothing else. */
const PING_BYTES = 8;
/** What comes of one camera's socket, and of a wall. */
const VIDEO = 0x02;
const FRAME = 0x12;
/** A wall's stream is behind the first 4 bytes of its message. */
const PAYLOAD_HEAD_BYTES = 8;
const TAKEN = 0x21;
const TAKEN_EVERY_MS = 250;

export type WebSocketStreamEvents = {
  onUpgraded?(): void;
  /** A whole frame is there; `stamp` is its end, and `stream` the wall's number for its camera, else 0. */
  onFrame(stamp: Buffer, stream: number, isOfWall: boolean): void;
  onEnd?(): void;
};

/** One WebSocket: walks through messages as bytes come, and keeps nothing but the first and last ones of each. */
export class WebSocketStream {
  readonly #socket: Socket;
  readonly #events: WebSocketStreamEvents;
  /** Of a message, while it is gathered. */
  readonly #head = Buffer.alloc(11);
  #headBytes = 0;
  #opcode = 0;
  #restBytes = 0;
  readonly #payloadHead = Buffer.alloc(PAYLOAD_HEAD_BYTES);
  #payloadHeadBytes = 0;
  readonly #tail = Buffer.alloc(STAMP_BYTES);
  #isUpgraded = false;
  #messages = 0;
  #bytes = 0;
  #taken: NodeJS.Timeout | undefined;

  constructor(port: number, path: string, events: WebSocketStreamEvents, isStalled = false) {
    this.#events = events;
    const onread = { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback: this.#onRead };
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    this.#socket.on('error', () => {});
    this.#socket.once('close', () => {
      clearInterval(this.#taken);
      events.onEnd?.();
    });
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    if (isStalled) this.#socket.pause();
  }

  /** Wants a tile for each of these cameras, and says how much it took from now on. */
  showWall(cameraIds: readonly string[]): void {
    const tiles = cameraIds.map((camera, tile) => ({ tile, camera, stream: 'main', mode: 'all' }));
    this.#say(0x81, Buffer.from(JSON.stringify({ op: 'tiles', rev: 1, tiles })));
    this.#taken = setInterval(() => {
      const taken = Buffer.alloc(12);
      taken[0] = TAKEN;
      taken.writeUInt32BE(this.#messages, 4);
      taken.writeUInt32BE(this.#bytes >>> 0, 8);
      this.#say(0x82, taken);
    }, TAKEN_EVERY_MS);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** A message that is masked with zeros: the payload stays as it is. */
  #say(opcode: number, payload: Buffer): void {
    const head = Buffer.of(opcode, 0x80 | 126, payload.length >> 8, payload.length & 0xff, 0, 0, 0, 0);
    this.#socket.write(Buffer.concat([head, payload]));
  }

  readonly #onRead = (lengthBytes: number, buffer: Uint8Array): boolean => {
    const bytes = buffer as Buffer;
    let at = 0;
    if (!this.#isUpgraded) {
      if (!bytes.toString('latin1', 0, lengthBytes).startsWith('HTTP/1.1 101 ')) {
        this.#socket.destroy();
        return false;
      }
      at = bytes.indexOf('\r\n\r\n') + 4;
      this.#isUpgraded = true;
      this.#events.onUpgraded?.();
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
      this.#payloadHeadBytes = 0;
      if (this.#opcode === BINARY) this.#messages += 1;
      if (this.#opcode === BINARY) this.#bytes += this.#restBytes;
      return at;
    }
    return at;
  }

  #readPayload(bytes: Buffer, start: number, end: number): number {
    const taken = Math.min(this.#restBytes, end - start);
    for (let at = start; this.#payloadHeadBytes < PAYLOAD_HEAD_BYTES && at < start + taken; at += 1)
      this.#payloadHead[this.#payloadHeadBytes++] = bytes[at]!;
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
    if (this.#opcode === PING) {
      const echo = this.#tail.subarray(STAMP_BYTES - PING_BYTES);
      this.#socket.write(Buffer.concat([Buffer.of(0x8a, 0x80 | PING_BYTES, 0, 0, 0, 0), echo]));
      return;
    }
    if (this.#opcode !== BINARY) return;
    const type = this.#payloadHead[0]!;
    if (type === VIDEO) this.#events.onFrame(this.#tail, 0, false);
    else if (type === FRAME) this.#events.onFrame(this.#tail, this.#payloadHead.readUInt32BE(4), true);
  }
}
