import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError, messageOf } from '../base/errors.js';
import { Pipelines } from './pipelines.js';
import { problemOfStatus } from './problem.js';
import type { ServedCertificate } from './tls/served-certificate.js';
import type { UpgradeListener } from './upgrade.js';
import { UpgradedSockets } from './upgraded-sockets.js';

export type ListenOptions = {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** The variables that say so, for whoever must mend them. */
  readonly hostVariable: string;
  readonly portVariable: string;
  readonly tls: ServedCertificate | null;
};

/** Sees to it that clients don't take too much. */
export type ServerGuard = { attach(server: Server, pipelines: Pick<Pipelines, 'current'>): void };

/** Bounds for clients that dawdle: a request's head and whole must arrive in this time. */
const bounds: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16_384,
};
const MAX_HEADERS = 100;
/** TLS has its own limit, of two minutes where nobody says otherwise. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How long a client that was told of its fault may take to fetch that. */
const FAULT_LINGER_MS = 5_000;

/** What requests still have to end by themselves before their sockets are cut. */
const CLOSE_GRACE_MS = 2_000;
const IDLE_CHECK_MS = 50;

const clientFaults: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
};

/** Answers what isn't HTTP, or not in time, in the same shape as everything else. */
const onClientError = (fault: NodeJS.ErrnoException, socket: Duplex, isAnswering: boolean): void => {
  // Into an answer that is under way nothing else may be written.
  if (isAnswering || fault.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = clientFaults[fault.code ?? ''] ?? [400, 'the request is not valid HTTP'];
  const problem = problemOfStatus(status, 'bad_request', detail);
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${status} ${problem.title}\r\nContent-Type: application/problem+json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  // Node looks at it no more: a client that never closes its own side would stay for ever.
  const linger = setTimeout(() => socket.destroy(), FAULT_LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
};

/** All connections of a server: Node ends only those that speak HTTP, and not those amid a TLS handshake. */
const socketsOf = (server: Server): ReadonlySet<Socket> => {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    // A server may be given the same connection again.
    if (open.has(socket)) return;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
};

const createSecureServer = (tls: ServedCertificate): Server => {
  try {
    const options = { ...bounds, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, ...tls.pair };
    const server = createTlsServer(options);
    // Connections that are open go on with the one that they were shown.
    tls.renewed.on((pair) => server.setSecureContext(pair));
    return server;
  } catch (cause) {
    const message = `TLS_CERT and TLS_KEY can't be used together: ${messageOf(cause)}`;
    throw new AppError('bad_config', message, { cause });
  }
};

/** A listener that is up: its address, and its orderly end. */
export class HttpServer {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: ReadonlySet<Socket>;
  readonly #upgraded: UpgradedSockets;
  #closing: Promise<void> | null = null;

  private constructor(server: Server, sockets: ReadonlySet<Socket>, upgraded: UpgradedSockets, url: string) {
    this.#server = server;
    this.#sockets = sockets;
    this.#upgraded = upgraded;
    this.url = url;
  }

  /** Resolves when the port is open; throws `bad_config` with a message for people. */
  static async listen(
    options: ListenOptions,
    app: RequestListener,
    onUpgrade: UpgradeListener | null = null,
    guards: readonly ServerGuard[] = [],
  ): Promise<HttpServer> {
    const { host, hostVariable, port, portVariable, tls } = options;
    const server = tls === null ? createServer(bounds) : createSecureServer(tls);
    server.maxHeadersCount = MAX_HEADERS;
    const pipelines = new Pipelines();
    pipelines.attach(server);
    for (const guard of guards) guard.attach(server, pipelines);
    const sockets = socketsOf(server);
    // Node reads on in what has come in, though the connection was cut meanwhile: what it asks for there nobody would get.
    server.on('request', (request, response) => {
      if (!request.socket.destroyed) app(request, response);
    });
    server.on('clientError', (fault, socket) => {
      const response = pipelines.current(socket);
      onClientError(fault, socket, response?.headersSent === true && !response.writableFinished);
    });
    const upgraded = new UpgradedSockets(pipelines);
    if (onUpgrade !== null) upgraded.attach(server, tls !== null, onUpgrade);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, resolve);
    }).catch((cause: unknown) => {
      const message = `${portVariable}=${port} can't be used with ${hostVariable}=${host}: ${messageOf(cause)}`;
      throw new AppError('bad_config', message, { cause });
    });
    const { address, family, port: realPort } = server.address() as AddressInfo;
    const isAny = address === '0.0.0.0' || address === '::';
    const shown = isAny ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
    const url = `${tls === null ? 'http' : 'https'}://${shown}:${realPort}`;
    return new HttpServer(server, sockets, upgraded, url);
  }

  /** Takes no new connection, lets running requests end for a moment, then cuts what is left. */
  close(): Promise<void> {
    this.#closing ??= this.#closeOnce();
    return this.#closing;
  }

  async #closeOnce(): Promise<void> {
    this.#upgraded.close();
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    // A connection that was busy when the server closed would otherwise idle until its keep-alive ends.
    const idleCheck = setInterval(() => this.#server.closeIdleConnections(), IDLE_CHECK_MS);
    const deadline = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, CLOSE_GRACE_MS);
    await closed;
    clearInterval(idleCheck);
    clearTimeout(deadline);
  }
}
