import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { RtspCounters } from './counters.js';
import { fromSocketError, isRtspError, type RtspError, rtspError } from './errors.js';
import { type HeaderLines, type RtspRequest, type RtspResponse, writeRequest } from './message.js';
import { RtspParser, type RtspParserHandler } from './parser.js';
import { PendingRequests } from './pending-requests.js';
import type { CertificatePolicy } from './quirks.js';
import { WireBytes } from './wire-bytes.js';

export type ConnectionOptions = {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly certificate: CertificatePolicy;
};

/** What the owner of a connection hears of; nothing after `end`. */
export interface ConnectionHandlers {
  onInterleaved(channel: number, buffer: Buffer, start: number, end: number): void;
  onRequest(request: RtspRequest): void;
  /** The connection is gone. Requests under way were rejected with the same error. */
  onBroken(reason: RtspError): void;
}

export type ConnectionDeps = {
  readonly clock: Clock;
  /** The worker's one read buffer: each read of each of its sockets goes into it and is parsed at once. */
  readonly readBuffer: Buffer;
  readonly counters: RtspCounters;
  readonly handlers: ConnectionHandlers;
  /** The camera's certificate was taken although nobody we know has signed it. */
  readonly onUnverified: () => void;
};

const CONNECT_TIMEOUT_MS = 5_000;
/** What may wait in our send queue: a camera that doesn't read gets no more. */
const MAX_QUEUED_BYTES = 65_536;

/**
 * One RTSP connection: a socket, its parser, and the requests under way. However it ends, the socket is destroyed,
 * every request is rejected, and `onBroken` is called once, unless it was the owner who ended it.
 */
export class RtspConnection implements RtspParserHandler {
  readonly #options: ConnectionOptions;
  readonly #deps: ConnectionDeps;
  readonly #parser: RtspParser;
  readonly #pending: PendingRequests;
  readonly #where: string;
  #socket: Socket | null = null;
  /** Of a TLS connection. */
  #wire: WireBytes | null = null;
  #rejectConnect: ((error: RtspError) => void) | null = null;
  #closedBy: RtspError | null = null;

  constructor(options: ConnectionOptions, deps: ConnectionDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#where = `${isIP(options.host) === 6 ? `[${options.host}]` : options.host}:${options.port}`;
    this.#parser = new RtspParser(this, deps.counters);
    this.#pending = new PendingRequests(deps.clock, deps.counters);
  }

  /** `host:port`, for messages. */
  get where(): string {
    return this.#where;
  }

  get isOpen(): boolean {
    return this.#closedBy === null && this.#socket !== null;
  }

  /** Our own address in this connection, and the camera's; empty while there is none. */
  get localAddress(): string {
    return this.#socket?.localAddress ?? '';
  }

  get remoteAddress(): string {
    return this.#socket?.remoteAddress ?? '';
  }

  /** Resolves when the connection stands, TLS included. */
  connect(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closedBy !== null) {
        reject(this.#closedBy);
        return;
      }
      const timer = this.#deps.clock.after(CONNECT_TIMEOUT_MS, () => {
        this.#fail(rtspError('timeout', `${this.#where} doesn't answer: check address and port`));
      });
      this.#rejectConnect = (error) => {
        timer.cancel();
        reject(error);
      };
      const socket = this.#open(() => {
        timer.cancel();
        this.#rejectConnect = null;
        resolve();
      });
      this.#socket = socket;
      if (this.#options.isSecure) this.#wire = new WireBytes(socket);
      socket.setNoDelay(true);
      socket.on('error', (error) => this.#fail(fromSocketError(error, this.#where)));
      socket.on('end', () => this.#onClosed());
      socket.on('close', () => this.#onClosed());
    });
  }

  /** Sends a request; resolves with its answer, whatever its status. */
  request(method: string, uri: string, headers: HeaderLines): Promise<RtspResponse> {
    return new Promise((resolve, reject) => {
      const socket = this.#socket;
      if (this.#closedBy !== null || socket === null) {
        reject(this.#closedBy ?? rtspError('internal_error', 'the connection was never opened'));
        return;
      }
      if (socket.writableLength > MAX_QUEUED_BYTES) {
        reject(rtspError('timeout', `${this.#where} reads nothing of what it is sent`));
        return;
      }
      const text = writeRequest(method, uri, [['CSeq', String(this.#pending.nextCseq)], ...headers]);
      this.#pending.add(resolve, reject, () =>
        rtspError('timeout', `${this.#where} doesn't answer ${method}`, { details: { method } }),
      );
      socket.write(text, 'latin1');
    });
  }

  /** Sends an answer to a request of the camera. */
  respond(text: string): void {
    if (this.#canWrite()) this.#socket?.write(text, 'latin1');
  }

  /** Sends one interleaved frame. */
  writeInterleaved(channel: number, packet: Buffer): void {
    if (!this.#canWrite() || packet.length > 0xffff) return;
    const frame = Buffer.allocUnsafe(4 + packet.length);
    frame[0] = 0x24;
    frame[1] = channel;
    frame.writeUInt16BE(packet.length, 2);
    packet.copy(frame, 4);
    this.#socket?.write(frame);
  }

  allowChannel(channel: number): void {
    this.#parser.allowChannel(channel);
  }

  /** For the parser. */
  onInterleaved(channel: number, buffer: Buffer, start: number, end: number): void {
    this.#deps.handlers.onInterleaved(channel, buffer, start, end);
  }

  /** For the parser. */
  onRequest(request: RtspRequest): void {
    this.#deps.handlers.onRequest(request);
  }

  /** For the parser. */
  onResponse(response: RtspResponse): void {
    this.#pending.answer(response);
  }

  /** Rejects the requests under way; the connection stays, for a TEARDOWN. */
  rejectRequests(reason: RtspError): void {
    this.#pending.rejectAll(reason);
  }

  /** Closes at once, without a word to the handlers. */
  end(reason: RtspError): void {
    if (this.#closedBy !== null) return;
    this.#closedBy = reason;
    this.#count(0);
    this.#parser.stop();
    this.#socket?.destroy();
    this.#rejectConnect?.(reason);
    this.#rejectConnect = null;
    this.rejectRequests(reason);
  }

  #open(onConnected: () => void): Socket {
    const { host, port, isSecure, certificate } = this.#options;
    const { readBuffer } = this.#deps;
    const onread: OnReadOpts = {
      buffer: readBuffer,
      callback: (length) => {
        this.#onRead(readBuffer, length);
        return true;
      },
    };
    if (!isSecure) return connectTcp({ host, port, onread }, onConnected);
    // TLS sockets take `onread` too, which their types don't say.
    const options: TlsOptions & { onread: OnReadOpts } = {
      host,
      port,
      onread,
      rejectUnauthorized: certificate === 'verify',
      // A name only: an address may not be sent (RFC 6066 §3).
      ...(isIP(host) === 0 ? { servername: host } : {}),
    };
    const socket = connectTls(options, () => {
      if (!socket.authorized) this.#deps.onUnverified();
      onConnected();
    });
    return socket;
  }

  /** The border that an exception of one camera doesn't cross: other cameras live in this thread. */
  #onRead(buffer: Buffer, length: number): void {
    if (this.#closedBy !== null) return;
    this.#count(length);
    try {
      this.#parser.feed(buffer, 0, length);
    } catch (error) {
      this.#fail(
        isRtspError(error)
          ? error
          : rtspError('internal_error', `handling the camera's data failed: ${messageOf(error)}`, {
              cause: error,
              details: { bytePosition: this.#parser.fedBytes },
            }),
      );
    }
  }

  #count(bytes: number): void {
    this.#deps.counters.receivedBytes += this.#wire === null ? bytes : this.#wire.take(bytes);
  }

  #canWrite(): boolean {
    if (!this.isOpen) return false;
    if ((this.#socket?.writableLength ?? 0) <= MAX_QUEUED_BYTES) return true;
    this.#deps.counters.droppedWrites += 1;
    return false;
  }

  #onClosed(): void {
    const what = this.#pending.size > 0 || this.#rejectConnect !== null ? ' without an answer' : '';
    this.#fail(rtspError('closed_by_camera', `${this.#where} closed the connection${what}`));
  }

  #fail(error: RtspError): void {
    if (this.#closedBy !== null) return;
    const located = rtspError(error.code, error.message, {
      cause: error.cause,
      details: { ...error.details, camera: this.#where, receivedBytes: this.#parser.fedBytes },
    });
    this.end(located);
    this.#deps.handlers.onBroken(located);
  }
}
