import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export type Published = { readonly topic: string; readonly payload: Buffer; readonly retain: boolean };

type Packet = { readonly type: number; readonly flags: number; readonly body: Buffer };

const CONNACK = Buffer.from([0x20, 2, 0, 0]);
const PINGRESP = Buffer.from([0xd0, 0]);

/** MQTT 3.1.1, section 2.2; null: there is yet more to come. */
const packetOf = (bytes: Buffer): { readonly packet: Packet; readonly rest: Buffer } | null => {
  let length = 0;
  for (let at = 1; at < bytes.length; at++) {
    length += (bytes[at]! & 0x7f) * 2 ** (7 * (at - 1));
    if (bytes[at]! >= 0x80) continue;
    const end = at + 1 + length;
    if (bytes.length < end) return null;
    const packet = { type: bytes[0]! >> 4, flags: bytes[0]! & 15, body: bytes.subarray(at + 1, end) };
    return { packet, rest: bytes.subarray(end) };
  }
  return null;
};

/** A message of QoS 0. */
export const messagePacket = (topic: string, payload: string): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(topic));
  const body = Buffer.concat([length, Buffer.from(topic), Buffer.from(payload)]);
  if (body.length > 127) throw new Error(`${topic} is too long for a test`);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
};

/** A broker that does what the test says: what it is told is here in the order in which it came. */
export class FakeBroker {
  readonly url: string;
  readonly published: Published[] = [];
  /** Whether it has what it is told at once; else when the test says so. */
  isAcknowledging = true;
  readonly #held: Buffer[] = [];
  #socket: Socket | null = null;

  private constructor(port: number) {
    this.url = `mqtt://127.0.0.1:${port}`;
  }

  static async start(t: TestContext): Promise<FakeBroker> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const broker = new FakeBroker((server.address() as AddressInfo).port);
    server.on('connection', (socket) => broker.#serve(socket));
    t.after(() => void server.close());
    return broker;
  }

  get topics(): string[] {
    return this.published.map(({ topic }) => topic);
  }

  /** Once it says so, of all that came meanwhile. */
  acknowledge(): void {
    for (const packet of this.#held.splice(0)) this.#socket!.write(packet);
  }

  send(bytes: Buffer): void {
    this.#socket!.write(bytes);
  }

  #serve(socket: Socket): void {
    this.#socket = socket;
    this.#held.length = 0;
    let left: Buffer = Buffer.alloc(0);
    socket.on('error', () => {}).on('close', () => socket.destroy());
    socket.on('data', (bytes) => {
      left = Buffer.concat([left, bytes]);
      for (let next = packetOf(left); next !== null; next = packetOf(left)) {
        left = next.rest;
        this.#take(next.packet, socket);
      }
    });
  }

  #take({ type, flags, body }: Packet, socket: Socket): void {
    if (type === 1) socket.write(CONNACK);
    else if (type === 3) this.#hear(flags, body, socket);
    else if (type === 8) socket.write(subackOf(body));
    else if (type === 10) socket.write(Buffer.concat([Buffer.from([0xb0, 2]), body.subarray(0, 2)]));
    else if (type === 12) socket.write(PINGRESP);
  }

  #hear(flags: number, body: Buffer, socket: Socket): void {
    const topicEnd = 2 + body.readUInt16BE(0);
    const hasId = (flags & 6) !== 0;
    const topic = body.toString('utf8', 2, topicEnd);
    const payload = body.subarray(topicEnd + (hasId ? 2 : 0));
    this.published.push({ topic, payload, retain: (flags & 1) === 1 });
    if (!hasId) return;
    const answer = Buffer.concat([Buffer.from([0x40, 2]), body.subarray(topicEnd, topicEnd + 2)]);
    if (this.isAcknowledging) socket.write(answer);
    else this.#held.push(answer);
  }
}

/** All that was asked for is given, at QoS 0. */
const subackOf = (body: Buffer): Buffer => {
  let count = 0;
  for (let at = 2; at < body.length; at += 3 + body.readUInt16BE(at)) count += 1;
  return Buffer.concat([Buffer.from([0x90, 2 + count]), body.subarray(0, 2), Buffer.alloc(count)]);
};
