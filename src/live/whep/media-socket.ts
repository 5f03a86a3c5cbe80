import { createSocket, type Socket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { whepError } from './errors.js';
import type { Remote } from './ice-lite.js';

export type PortRange = { readonly first: number; readonly last: number };

/** A little more than a keyframe: what the system takes off our hands at once. */
const SEND_BUFFER_BYTES = 512 * 1024;

/** Binding is told by events, whatever the system says at once. */
const bind = (socket: Socket, port: number, address: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const onError = (fault: NodeJS.ErrnoException): void => {
      if (fault.code === 'EADDRINUSE' || fault.code === 'EACCES') resolve(false);
      else reject(fault);
    };
    socket.once('error', onError);
    socket.bind({ port, address, exclusive: true }, () => {
      socket.off('error', onError);
      resolve(true);
    });
  });

/** Names that are addresses already need no looking up, and so no turn of the loop. */
const lookup = (
  name: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
): void => callback(null, name, isIPv4(name) ? 4 : 6);

/** Once per thread: a machine without IPv6 refuses every such socket. */
let hasIPv6 = true;

const tryPort = async (port: number, wantsIPv6: boolean): Promise<Socket | null> => {
  for (const type of hasIPv6 && wantsIPv6 ? (['udp6', 'udp4'] as const) : (['udp4'] as const)) {
    const socket = createSocket({ type, lookup: lookup as never, sendBufferSize: SEND_BUFFER_BYTES });
    try {
      if (await bind(socket, port, type === 'udp6' ? '::' : '0.0.0.0')) return socket;
      socket.close();
      return null;
    } catch (fault) {
      socket.close();
      if (type === 'udp4') throw fault;
      hasIPv6 = false;
    }
  }
  return null;
};

/** IPv4 addresses as a socket for both families writes them. */
const MAPPED = '::ffff:';

/**
 * One viewer's UDP socket on all addresses of the machine. Connected to the viewer once it is known:
 * the system then sends at once and without looking an address up, and keeps everybody else's datagrams out.
 */
export class MediaSocket {
  readonly port: number;
  readonly #socket: Socket;
  readonly #isMapped: boolean;
  #isClosed = false;
  #connectedTo: Remote | null = null;
  #isConnecting = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const { port, family } = socket.address();
    this.port = port;
    this.#isMapped = family === 'IPv6';
    // ICMP from a viewer that is gone: it is noticed by its silence.
    socket.on('error', () => {});
  }

  /**
   * Binds a port of the range, searching from `start` on; throws `no_free_port`. Where nobody is told an IPv6 address,
   * the socket is IPv4's alone: what is sent by one for both is looked up again each time, which costs a tenth more.
   */
  static async open(range: PortRange, start: number, wantsIPv6: boolean): Promise<MediaSocket> {
    const count = range.last - range.first + 1;
    for (let i = 0; i < count; i += 1) {
      const socket = await tryPort(range.first + ((start + i) % count), wantsIPv6);
      if (socket !== null) return new MediaSocket(socket);
    }
    throw whepError('no_free_port', 'all UDP ports for WebRTC are in use');
  }

  onMessage(handle: (message: Buffer, from: Remote) => void): void {
    this.#socket.on('message', (message, { address, port }) => {
      handle(message, { address: address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address, port });
    });
  }

  get isConnected(): boolean {
    return this.#connectedTo !== null;
  }

  /** Nothing can be sent just now: there is nobody, or the system takes no more. */
  get isBlocked(): boolean {
    return this.#connectedTo === null || this.#socket.getSendQueueCount() > 0;
  }

  /** Sends to the connected viewer. The system has the datagram when this returns, unless `isBlocked` says not. */
  send(datagram: Buffer): void {
    if (this.#connectedTo !== null) this.#socket.send(datagram);
  }

  /** Sends to anybody, connected or not. */
  sendTo(datagram: Buffer, to: Remote): void {
    if (this.#isClosed || this.#isConnecting) return;
    if (this.#connectedTo !== null) this.#socket.send(datagram);
    else this.#socket.send(datagram, to.port, this.#named(to.address));
  }

  /** Ties the socket to a viewer's address; calls back when it may be sent to, unless it is tied already. */
  connect(to: Remote, onConnected: () => void): void {
    if (this.#isClosed || this.#isConnecting || this.#connectedTo !== null) return;
    this.#isConnecting = true;
    this.#socket.connect(to.port, this.#named(to.address), () => {
      this.#isConnecting = false;
      if (this.#isClosed) return;
      this.#connectedTo = to;
      onConnected();
    });
  }

  /** Hears everybody again: the viewer may have moved to another address. */
  disconnect(): void {
    if (this.#connectedTo === null) return;
    this.#connectedTo = null;
    this.#socket.disconnect();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connectedTo = null;
    this.#socket.close();
  }

  #named(address: string): string {
    return this.#isMapped && isIPv4(address) ? MAPPED + address : address;
  }
}
