import { createSocket, type Socket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import type { Remote } from './ice-lite.js';

/** A little more than a keyframe: what the system takes off our hands at once. */
const SEND_BUFFER_BYTES = 512 * 1024;
/** What waits for the socket to be tied: no more than an answer or two. */
const MAX_WAITING = 4;

/** Names that are addresses already need no looking up, and so no turn of the loop. */
export const lookupNothing = (
  name: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
): void => callback(null, name, isIPv4(name) ? 4 : 6);

/** A socket for a port that others have, too; only with connected ones do such share it without confusion. */
export const sharedSocket = (type: 'udp4' | 'udp6', sendBufferSize?: number): Socket =>
  createSocket({
    type,
    reuseAddr: true,
    ipv6Only: type === 'udp6',
    lookup: lookupNothing as never,
    ...(sendBufferSize === undefined ? {} : { sendBufferSize }),
  });

export const isSameRemote = (one: Remote, other: Remote): boolean =>
  one.port === other.port && one.address === other.address;

/**
 * A UDP socket on the port that all sessions share, connected to one address of a viewer. The system then gives it
 * what comes from there, and nothing else; and it sends at once, without looking an address up.
 */
export class TiedSocket {
  readonly remote: Remote;
  readonly #socket: Socket;
  #state: 'tying' | 'open' | 'closed' = 'tying';
  #waiting: Buffer[] = [];

  constructor(port: number, remote: Remote, onMessage: (message: Buffer, tie: TiedSocket) => void) {
    this.remote = remote;
    const isV4 = isIPv4(remote.address);
    const socket = sharedSocket(isV4 ? 'udp4' : 'udp6', SEND_BUFFER_BYTES);
    this.#socket = socket;
    socket.on('error', () => {
      // The system has no socket to spare: whoever sent from there asks again, and gets another one. Later it is ICMP
      // from a viewer that is gone, or a way there that is, which is noticed by its silence.
      if (this.#state === 'tying') this.close();
    });
    socket.on('message', (message, from) => {
      // Between binding and connecting it hears everybody; who isn't meant asks again.
      if (isSameRemote(from, remote)) onMessage(message, this);
    });
    socket.bind({ port, address: isV4 ? '0.0.0.0' : '::', exclusive: true }, () => this.#connect());
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Nothing can be sent just now: it isn't tied yet, or the system takes no more. */
  get isBlocked(): boolean {
    return this.#state !== 'open' || this.#socket.getSendQueueCount() > 0;
  }

  /** The system has the datagram when this returns, unless `isBlocked` says not. */
  send(datagram: Buffer): void {
    if (this.#state === 'open') this.#socket.send(datagram);
    else if (this.#state === 'tying' && this.#waiting.length < MAX_WAITING) this.#waiting.push(datagram);
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#waiting = [];
    this.#socket.close();
  }

  #connect(): void {
    if (this.#state !== 'tying') return;
    const { port, address } = this.remote;
    this.#socket.connect(port, address, (fault?: Error | null) => {
      if (this.#state !== 'tying') return;
      // No way to that address: whoever sent from there is none of ours, or comes again.
      if (fault != null) {
        this.close();
        return;
      }
      this.#state = 'open';
      for (const datagram of this.#waiting.splice(0)) this.#socket.send(datagram);
    });
  }
}
