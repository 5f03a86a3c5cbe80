import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { until } from './until.js';

export type RawAnswer = { readonly status: number; readonly text: string; readonly body: string };
export type RawPacket = { readonly channel: number; readonly bytes: Buffer };

/** An RTSP client that understands as little as it can: it shows what really came over the wire. */
export class RawClient {
  readonly packets: RawPacket[] = [];
  readonly answers: RawAnswer[] = [];
  /** Bytes that were neither an answer nor a packet. */
  strayBytes = 0;
  isEnded = false;
  readonly #socket: Socket;
  readonly #url: string;
  #rest = Buffer.alloc(0);
  #cseq = 0;
  #session = '';

  private constructor(socket: Socket, url: string) {
    this.#socket = socket;
    this.#url = url;
    socket.on('data', (chunk: Buffer) => this.#push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isEnded = true;
    });
    socket.on('end', () => {
      this.isEnded = true;
    });
  }

  static async open(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    await once(socket, 'connect');
    return new RawClient(socket, url);
  }

  /** The same over TLS, with whatever certificate. */
  static async openTls(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    return new RawClient(socket, url);
  }

  /** Writes a request and doesn't wait. */
  send(method: string, path = '', headers = ''): void {
    this.#cseq += 1;
    const session = this.#session === '' ? '' : `Session: ${this.#session}\r\n`;
    this.#socket.write(
      `${method} ${this.#url}${path} RTSP/1.0\r\nCSeq: ${this.#cseq}\r\n${session}${headers}\r\n`,
    );
  }

  /** Writes a request and waits for its answer. */
  async ask(method: string, path = '', headers = ''): Promise<RawAnswer> {
    const count = this.answers.length;
    this.send(method, path, headers);
    return await until(`${method} is answered`, () => this.answers[count]);
  }

  /** SETUP of track 0 over TCP, then PLAY; both answers. */
  async play(): Promise<readonly [RawAnswer, RawAnswer]> {
    const setup = await this.ask('SETUP', '/trackID=0', 'Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n');
    return [setup, await this.ask('PLAY')];
  }

  /** Writes these very bytes. */
  write(bytes: string | Buffer): void {
    this.#socket.write(bytes);
  }

  /** Reads nothing more until `resume`. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** RTP packets of a channel. */
  rtp(channel = 0): Buffer[] {
    return this.packets.filter((packet) => packet.channel === channel).map((packet) => packet.bytes);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length > 0 && this.#takeOne());
  }

  #takeOne(): boolean {
    const rest = this.#rest;
    if (rest[0] === 0x24) {
      if (rest.length < 4 || rest.length < 4 + rest.readUInt16BE(2)) return false;
      const end = 4 + rest.readUInt16BE(2);
      this.packets.push({ channel: rest[1]!, bytes: rest.subarray(4, end) });
      this.#rest = rest.subarray(end);
      return true;
    }
    if (!rest.toString('latin1', 0, 5).startsWith('RTSP/'.slice(0, Math.min(5, rest.length)))) {
      this.strayBytes += 1;
      this.#rest = rest.subarray(1);
      return true;
    }
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return false;
    const text = rest.toString('latin1', 0, headEnd);
    const end = headEnd + 4 + Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? 0);
    if (rest.length < end) return false;
    this.#session = /\r\nSession: (\w+)/.exec(text)?.[1] ?? this.#session;
    this.answers.push({
      status: Number(text.slice(9, 12)),
      text,
      body: rest.toString('utf8', headEnd + 4, end),
    });
    this.#rest = rest.subarray(end);
    return true;
  }
}
