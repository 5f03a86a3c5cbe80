import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Pipelines } from './pipelines.js';
import type { UpgradeListener } from './upgrade.js';

/**
 * Gives a request back to the server as if it had not asked to change the protocol (RFC 9110, section 7.8, leaves
 * us that choice): some HTTP clients offer `h2c` with every first request. Node itself hands over everything that
 * asks, and stops reading it.
 */
const serveUnchanged = (
  server: Server,
  isTls: boolean,
  request: IncomingMessage,
  socket: Duplex,
  body: Buffer,
): void => {
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at] ?? '';
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${request.rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]));
  // The only listener that Node leaves behind, and adds again.
  socket.removeAllListeners('timeout');
  server.emit(isTls ? 'secureConnection' : 'connection', socket);
};

/** Node leaves out headers beyond this number: without a Content-Length the body would become a request of its own. */
const isHeadWhole = ({ maxHeadersCount }: Server, { rawHeaders }: IncomingMessage): boolean =>
  maxHeadersCount === null || rawHeaders.length < 2 * maxHeadersCount;

/** Gives the sockets away that don't speak HTTP any more. */
export class UpgradedSockets {
  readonly #pipelines: Pick<Pipelines, 'current'>;
  #isClosing = false;

  constructor(pipelines: Pick<Pipelines, 'current'>) {
    this.#pipelines = pipelines;
  }

  /** Hands those who ask for a WebSocket to `onUpgrade`. */
  attach(server: Server, isTls: boolean, onUpgrade: UpgradeListener): void {
    server.on('upgrade', (request, socket, head) => {
      // Behind an answer that isn't out yet nobody can change the protocol.
      if (this.#isClosing || this.#pipelines.current(socket) !== undefined || !isHeadWhole(server, request)) {
        socket.on('error', () => {}).destroy();
        return;
      }
      if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
        serveUnchanged(server, isTls, request, socket, head);
        return;
      }
      socket.on('error', () => {});
      onUpgrade(request, socket, head);
    });
  }

  /** Takes no more. */
  close(): void {
    this.#isClosing = true;
  }
}
