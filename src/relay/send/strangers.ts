import type { Socket } from 'node:net';
import type { Clock, MonotonicMs } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';

/** Of one address, and of all: a box that watches hundreds of cameras of another one begins as many links at once. */
const MAX_PER_ADDRESS = 256;
const MAX_WAITING = 1_024;
/** So often an address is told of, and so many of them. */
const TELL_EVERY_MS = 60_000;
const MAX_TOLD = 16;

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort' | 'destroy'>;

/**
 * Who has connected and not shown yet to have the key: anybody can, so there are few of them, the newest, and the log says so now and
 * then.
 */
export class Strangers {
  readonly #deps: { readonly clock: Clock; readonly log: Logger };
  /** By address and port; the oldest of each address first. */
  readonly #waiting = new Map<string, Map<number, Socket>>();
  #count = 0;
  readonly #told = new Set<string>();
  #tellingMs: MonotonicMs;
  #untold = 0;

  constructor(deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#deps = deps;
    this.#tellingMs = deps.clock.monotonicMs();
  }

  add(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) {
      // It was reset before anybody looked.
      socket.destroy();
      return;
    }
    const ofIt = this.#waiting.get(remoteAddress) ?? new Map<number, Socket>();
    this.#waiting.set(remoteAddress, ofIt);
    // The last one from there is over, and its end is still to come.
    if (!ofIt.has(remotePort)) this.#count += 1;
    ofIt.set(remotePort, socket);
    socket.once('close', () => {
      if (ofIt.get(remotePort) === socket) this.#forget(remoteAddress, remotePort);
    });
    if (ofIt.size > MAX_PER_ADDRESS) this.#refuseOldest(ofIt);
    else if (this.#count > MAX_WAITING)
      this.#refuseOldest(
        [...this.#waiting.values()].reduce((most, one) => (one.size > most.size ? one : most)),
      );
  }

  /** It has the key. */
  remove({ remoteAddress = '', remotePort = 0 }: Peer): void {
    this.#forget(remoteAddress, remotePort);
  }

  /** It doesn't have it, or says nothing. */
  refuse(peer: Peer, reason: string): void {
    const client = peer.remoteAddress;
    this.remove(peer);
    peer.destroy();
    if (client === undefined || this.#told.has(client) || this.#told.size >= MAX_TOLD) {
      this.#untold += 1;
      return;
    }
    this.#told.add(client);
    this.#deps.log.warn('somebody without the key of the cluster asked for cameras', { client, reason });
  }

  /** To be called now and then. */
  tick(nowMs: MonotonicMs): void {
    if (nowMs - this.#tellingMs < TELL_EVERY_MS) return;
    this.#tellingMs = nowMs;
    this.#told.clear();
    if (this.#untold > 0)
      this.#deps.log.warn('others without the key of the cluster asked for cameras', {
        times: this.#untold,
      });
    this.#untold = 0;
  }

  #refuseOldest(ofAddress: ReadonlyMap<number, Socket>): void {
    const [oldest] = ofAddress.values();
    if (oldest !== undefined) this.refuse(oldest, 'too many say nothing');
  }

  #forget(address: string, port: number): void {
    const ofIt = this.#waiting.get(address);
    if (ofIt?.delete(port) !== true) return;
    this.#count -= 1;
    if (ofIt.size === 0) this.#waiting.delete(address);
  }
}
