import { once } from 'node:events';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { systemClock } from '../../../src/base/clock.js';
import { until } from '../until.js';
import { type AuthOptions, Gatekeeper } from './auth.js';
import { selfSignedCertificate } from './certificate.js';
import { Connection, type ConnectionServer } from './connection.js';
import { type Faults, faultsOver, noFaults } from './faults.js';
import type { Feed } from './feed.js';
import { Mount } from './mount.js';
import type { RtspRequest } from './request-reader.js';
import type { Session } from './session.js';
import { type SentFrame, StreamFeed, type StreamFeedOptions } from './stream-feed.js';

export type FakeCameraOptions = {
  /** By path; the first one is what `camera.sendFrame` and its like speak of. */
  readonly mounts: Readonly<Record<string, StreamFeedOptions | Feed>>;
  readonly faults?: Partial<Faults>;
  readonly auth?: AuthOptions;
  /** rtsps, with a certificate of its own making. */
  readonly isTls?: boolean;
  readonly transports?: readonly ('tcp' | 'udp')[];
  /** 0 picks a free one. */
  readonly port?: number;
  readonly host?: string;
};

/** A request that came, and on which of the connections. */
export type SeenRequest = RtspRequest & { readonly connection: number };

const isFeed = (value: StreamFeedOptions | Feed): value is Feed => 'join' in value;

/** An RTSP server with any number of cameras on one port, as right or as wrong as its faults say. */
export class FakeCamera implements ConnectionServer {
  readonly port: number;
  /** Of all mounts; a mount's own win over them. */
  readonly faults: Faults;
  readonly mounts: readonly Mount[];
  /** Everything clients asked for, in order. */
  readonly requests: SeenRequest[] = [];
  connectionsSeen = 0;
  sessionsTornDown = 0;
  /** Payloads of UDP packets to clients. */
  udpBytesSent = 0;
  /** Sessions whose connection went away before a TEARDOWN. */
  sessionsAbandoned = 0;
  readonly acceptsTcp: boolean;
  readonly acceptsUdp: boolean;
  readonly gatekeeper: Gatekeeper | null;
  readonly #options: FakeCameraOptions;
  readonly #connections = new Set<Connection>();
  /** Those below TLS too. */
  readonly #sockets = new Set<Socket>();
  readonly #mountByPath: ReadonlyMap<string, Mount>;
  #server: Server;
  readonly #others: Server[] = [];

  private constructor(options: FakeCameraOptions, server: Server, port: number) {
    this.#options = options;
    this.#server = server;
    this.port = port;
    this.faults = { ...noFaults(), ...options.faults };
    this.acceptsTcp = options.transports?.includes('tcp') ?? true;
    this.acceptsUdp = options.transports?.includes('udp') ?? true;
    this.gatekeeper = options.auth === undefined ? null : new Gatekeeper(options.auth);
    this.mounts = Object.entries(options.mounts).map(([path, given]) => {
      const feed = isFeed(given) ? given : new StreamFeed(given);
      return new Mount(path, `${this.#scheme}://${this.#host}:${port}${path}`, feed, faultsOver(this.faults));
    });
    this.#mountByPath = new Map(this.mounts.map((mount) => [mount.path, mount]));
  }

  static async start(options: FakeCameraOptions): Promise<FakeCamera> {
    const server = listenerFor(options);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
    await once(server, 'listening');
    const camera = new FakeCamera(options, server, portOf(server));
    camera.#accept(server);
    return camera;
  }

  /** Takes connections at another address, too, on the same port; false where this machine has no such address. */
  async listenAt(host: string): Promise<boolean> {
    const server = listenerFor(this.#options);
    try {
      server.listen(this.port, host);
      await once(server, 'listening');
    } catch {
      return false;
    }
    this.#accept(server);
    this.#others.push(server);
    return true;
  }

  /** Where a client finds a mount. */
  url(path = this.#first.path, login?: { readonly user: string; readonly password: string }): string {
    const at =
      login === undefined ? '' : `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}@`;
    return `${this.#scheme}://${at}${this.#host}:${this.port}${path}`;
  }

  mount(path: string): Mount {
    const mount = this.#mountByPath.get(path);
    if (mount === undefined) throw new Error(`no mount ${path}`);
    return mount;
  }

  /** What the first mount has sent. */
  get sent(): readonly SentFrame[] {
    return this.#first.stream.sent;
  }

  /** Of the first mount, in step mode. */
  sendFrame(): void {
    this.#first.stream.sendFrame();
  }

  /** Of the first mount, in step mode. */
  sendFrames(count: number): void {
    this.#first.stream.sendFrames(count);
  }

  /**
   * Sends a document to all who have set its track up, in packets of so many bytes, stamped for the picture of that wall
   * time. Its RTP time has nothing in common with that of the video but what the sender reports say.
   */
  sendMetadata(
    xml: string | Buffer,
    { wallMs = Date.now(), packetBytes = 1_000 }: { wallMs?: number; packetBytes?: number } = {},
  ): void {
    const bytes = Buffer.from(xml);
    const payloads: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += packetBytes)
      payloads.push(bytes.subarray(at, at + packetBytes));
    const ticksAt = (ms: number): number => Math.round(ms * 90 + 777_777_777) % 0x100000000;
    const nowMs = systemClock.wallMs();
    const present = { wallMs: nowMs, ticks: ticksAt(nowMs) };
    for (const session of this.sessions) session.sendMetadata(payloads, ticksAt(wallMs), present);
  }

  get openSockets(): number {
    return this.#connections.size;
  }

  get sessions(): readonly Session[] {
    return [...this.#connections].flatMap(({ session }) => (session === null ? [] : [session]));
  }

  get playing(): number {
    return this.sessions.filter((session) => session.isPlaying).length;
  }

  /** The methods that were asked for, in order. */
  get methods(): readonly string[] {
    return this.requests.map((request) => request.method);
  }

  /** Waits until `condition` holds of this camera. */
  async until(condition: (camera: FakeCamera) => boolean, deadlineMs = 30_000): Promise<void> {
    await until(condition.toString(), () => condition(this), {
      deadlineMs,
      describe: () =>
        `${this.playing} playing, ${this.openSockets} sockets, ${this.sessionsTornDown} torn down; ${this.methods.slice(-20).join(' ')}`,
    });
  }

  /** Ends the sending side of all connections; what clients send is still read. */
  halfClose(): void {
    for (const { socket } of this.#connections) socket.end();
  }

  /** All connections end with a reset, as when a camera restarts. */
  resetConnections(): void {
    for (const { socket } of this.#connections) socket.resetAndDestroy();
  }

  /** New connections are refused from now on; those that are there stay. */
  async stopListening(): Promise<void> {
    const server = this.#server;
    if (!server.listening) return;
    // Its promise would wait for the open connections too; the port is free at once.
    server.close();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Takes connections again, on the same port. */
  async listenAgain(): Promise<void> {
    this.#server = listenerFor(this.#options);
    this.#accept(this.#server);
    this.#server.listen(this.port, this.#host);
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : null;
    for (const server of [this.#server, ...this.#others]) server.close();
    for (const { feed } of this.mounts) feed.close();
    for (const { socket } of this.#connections) socket.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    await until('all sockets are closed', () => this.#connections.size === 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  mountAt(url: string): Mount | null {
    const path = url.replace(/^[a-z]+:\/\/[^/?]*/i, '');
    for (
      let end = path.length;
      end > 0;
      end = Math.max(path.lastIndexOf('/', end - 1), path.lastIndexOf('?', end - 1))
    ) {
      const mount = this.#mountByPath.get(path.slice(0, end));
      if (mount !== undefined) return mount;
    }
    return this.#mountByPath.get('/') ?? null;
  }

  onRequest(request: RtspRequest, connection: Connection): void {
    this.requests.push({ ...request, connection: connection.number });
  }

  challenge(request: RtspRequest): (readonly [string, string])[] | null {
    return this.gatekeeper === null ? null : this.gatekeeper.challenge(request);
  }

  onSessionClosed(_session: Session, isTornDown: boolean): void {
    if (isTornDown) this.sessionsTornDown += 1;
    else this.sessionsAbandoned += 1;
  }

  get #first(): Mount {
    const first = this.mounts[0];
    if (first === undefined) throw new Error('the camera has no mount');
    return first;
  }

  get #host(): string {
    return this.#options.host ?? '127.0.0.1';
  }

  get #scheme(): string {
    return this.#options.isTls === true ? 'rtsps' : 'rtsp';
  }

  #accept(server: Server): void {
    // A client that doesn't like the certificate leaves a socket of which nobody else hears.
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on(this.#options.isTls === true ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.connectionsSeen += 1;
      const connection = new Connection(this.connectionsSeen, socket, this);
      this.#connections.add(connection);
      socket.once('close', () => this.#connections.delete(connection));
    });
  }
}

const listenerFor = (options: FakeCameraOptions): Server =>
  // A client that ends its side still gets what is under way.
  options.isTls === true
    ? createTlsServer({ ...selfSignedCertificate(), allowHalfOpen: true })
    : createTcpServer({ allowHalfOpen: true });

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP listener');
  return address.port;
};
