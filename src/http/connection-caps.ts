import type { Server, Socket } from 'node:net';
import { clientNetwork } from '../base/client-address.js';
import type { Clock, MonotonicMs } from '../base/clock.js';
import type { Logger } from '../base/log.js';

export type ConnectionCapsOptions = {
  readonly maxConnections: number;
  /** Of one IPv4 address, or one /64 of IPv6. */
  readonly maxConnectionsPerAddress: number;
  /** Addresses that many clients stand behind: a proxy, or this machine. */
  readonly isShared: (address: string) => boolean;
};

/** Of the files that the process may have open, so much for each listener: recordings need some, however many come. */
const FILE_SHARES = { service: 1 / 2, monitoring: 1 / 8, rtsp: 1 / 8, rtsps: 1 / 8 } as const;

/** How many connections a listener may have, of those that are wanted. */
export const connectionLimit = (
  wanted: number,
  openFiles: number | null,
  listener: keyof typeof FILE_SHARES,
): number => (openFiles === null ? wanted : Math.min(wanted, Math.floor(openFiles * FILE_SHARES[listener])));

/** A flood is told of no more often than this. */
const TELL_EVERY_MS = 60_000;

/** Refuses connections beyond a number in all, and beyond a number from one address. */
export class ConnectionCaps {
  readonly #options: ConnectionCapsOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #open = new Set<Socket>();
  readonly #counts = new Map<string, number>();
  #refused = 0;
  #toldMs = Number.NEGATIVE_INFINITY as MonotonicMs;

  constructor(options: ConnectionCapsOptions, deps: { clock: Clock; log: Logger }) {
    this.#options = options;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Counts the connections of a server, before TLS and after an upgrade, too. */
  attach(server: Server): void {
    server.on('connection', (socket: Socket) => this.#take(socket));
  }

  #take(socket: Socket): void {
    // A server may be given the same connection again.
    if (this.#open.has(socket)) return;
    const { maxConnections, maxConnectionsPerAddress, isShared } = this.#options;
    const address = socket.remoteAddress ?? '';
    const network = clientNetwork(address);
    const count = this.#counts.get(network) ?? 0;
    const isOver = this.#open.size >= maxConnections;
    if (isOver || (count >= maxConnectionsPerAddress && !isShared(address))) {
      socket.destroy();
      this.#tell(isOver, address);
      return;
    }
    this.#open.add(socket);
    this.#counts.set(network, count + 1);
    socket.once('close', () => this.#release(socket, network));
  }

  #release(socket: Socket, network: string): void {
    this.#open.delete(socket);
    const left = (this.#counts.get(network) ?? 1) - 1;
    if (left === 0) this.#counts.delete(network);
    else this.#counts.set(network, left);
  }

  #tell(isOver: boolean, ip: string): void {
    this.#refused += 1;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#toldMs < TELL_EVERY_MS) return;
    this.#toldMs = nowMs;
    const variable = isOver ? 'MAX_CONNECTIONS' : 'MAX_CONNECTIONS_PER_IP';
    this.#log.warn('connections were refused', { ip, limit: variable, refused: this.#refused });
    this.#refused = 0;
  }
}
