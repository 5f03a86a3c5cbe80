import { type AddressInfo, createServer, type Server, type ServerOpts, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { RtspAccess } from './admission.js';
import { ClientConnection } from './client-connection.js';
import { Dialogue } from './dialogue/dialogue.js';
import { Sessions } from './dialogue/sessions.js';
import { UdpPorts } from './send/udp-ports.js';
import type { RtspViews } from './views.js';

type TlsPair = { readonly cert: Buffer | string; readonly key: Buffer | string };

export type RtspListenOptions = {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** The variable that says so, for whoever must mend it. */
  readonly portVariable: string;
  /** The certificate of now, and of later. */
  readonly tls: {
    readonly pair: TlsPair;
    readonly renewed: { on(listener: (pair: TlsPair) => void): unknown };
  } | null;
};

export type RtspServerDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly views: RtspViews;
  readonly access: RtspAccess;
  /** Sees to it that clients don't take too many connections. */
  readonly guard: { attach(server: Server): void };
};

const HANDSHAKE_TIMEOUT_MS = 10_000;
const TICK_MS = 1_000;
/** For what clients were told last to go out. */
const CLOSE_GRACE_MS = 1_000;

const createSecureServer = (
  options: ServerOpts,
  { pair, renewed }: NonNullable<RtspListenOptions['tls']>,
): Server => {
  const server = createTlsServer({ ...options, ...pair, handshakeTimeout: HANDSHAKE_TIMEOUT_MS });
  renewed.on((next) => server.setSecureContext(next));
  return server;
};

/** A listener for RTSP players, with or without TLS. */
export class RtspServer {
  readonly url: string;
  readonly #server: Server;
  readonly #deps: RtspServerDeps;
  readonly #sessions: Sessions;
  readonly #udp: UdpPorts | null;
  readonly #connections = new Set<ClientConnection>();
  readonly #sockets = new Set<Socket>();
  readonly #ticker: Timer;
  #closing: Promise<void> | null = null;

  private constructor(server: Server, isTls: boolean, deps: RtspServerDeps) {
    const { address, family, port } = server.address() as AddressInfo;
    const isAny = address === '0.0.0.0' || address === '::';
    const shown = isAny ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
    this.url = `${isTls ? 'rtsps' : 'rtsp'}://${shown}:${port}`;
    this.#server = server;
    this.#deps = deps;
    this.#sessions = new Sessions(deps.clock);
    const onRtcp = this.#sessions.onRtcp.bind(this.#sessions);
    this.#udp = isTls ? null : new UdpPorts(port, onRtcp);
    this.#ticker = deps.clock.every(TICK_MS, () => this.#tick());
    // Connections amid a TLS handshake are seen here alone.
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => this.#accept(socket));
  }

  /** Resolves when the port is open; throws `bad_config` with a message for people. */
  static async listen(
    { host, port, portVariable, tls }: RtspListenOptions,
    deps: RtspServerDeps,
  ): Promise<RtspServer> {
    const options = { noDelay: true, allowHalfOpen: false };
    const server = tls === null ? createServer(options) : createSecureServer(options, tls);
    // A handshake that fails is the client's affair.
    server.on('tlsClientError', (_fault: Error, socket: Socket) => socket.destroy());
    deps.guard.attach(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, resolve);
    }).catch((cause: unknown) => {
      const message = `${portVariable}=${port} can't be used with HOST=${host}: ${messageOf(cause)}`;
      throw new AppError('bad_config', message, { cause });
    });
    return new RtspServer(server, tls !== null, deps);
  }

  /** Takes no new connection, ends all sessions, and cuts what is left. */
  close(): Promise<void> {
    this.#closing ??= this.#closeOnce();
    return this.#closing;
  }

  async #closeOnce(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#ticker.cancel();
    this.#sessions.stop();
    for (const connection of [...this.#connections]) connection.end();
    const cutOff = this.#deps.clock.after(CLOSE_GRACE_MS, () => {
      for (const socket of this.#sockets) socket.destroy();
    });
    await closed;
    cutOff.cancel();
    await this.#udp?.close();
  }

  #accept(socket: Socket): void {
    // One over the limit is gone already.
    if (socket.destroyed) return;
    const { clock, log, views, access } = this.#deps;
    const connection = new ClientConnection(socket, {
      clock,
      log,
      dialogue: (of) =>
        new Dialogue(socket, {
          ...{ clock, views, access, sessions: this.#sessions, udp: this.#udp },
          onChannels: (pair) => of.expectFrames(pair),
          onEnd: () => of.end(),
        }),
    });
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
  }

  #tick(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#sessions.tick();
    for (const connection of this.#connections) connection.tick(nowMs);
  }
}
