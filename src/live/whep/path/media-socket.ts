import type { Remote } from './ice-lite.js';
import { isSameRemote, TiedSocket } from './tied-socket.js';

/** Addresses of one viewer that are listened to: each network it is in, by IPv4 and IPv6. */
const MAX_TIES = 8;

/** One viewer's way: a socket for each address that it checks from, and media by the one that was chosen. */
export class MediaSocket {
  readonly #port: number;
  readonly #onMessage: (message: Buffer, tie: TiedSocket) => void;
  #ties: TiedSocket[] = [];
  #path: TiedSocket | null = null;

  /** `port` is the one that all sessions share. */
  constructor(port: number, onMessage: (message: Buffer, tie: TiedSocket) => void) {
    this.#port = port;
    this.#onMessage = onMessage;
  }

  /** Where media and the handshake go; null: nowhere yet. */
  get path(): TiedSocket | null {
    return this.#path;
  }

  get isConnected(): boolean {
    return this.#path !== null;
  }

  /** Nothing can be sent just now: there is nobody, or the system takes no more. */
  get isBlocked(): boolean {
    return this.#path === null || this.#path.isBlocked;
  }

  /** Sends where the path leads. The system has the datagram when this returns, unless `isBlocked` says not. */
  send(datagram: Buffer): void {
    this.#path?.send(datagram);
  }

  /** The socket for an address that the viewer checks from; the oldest gives way, but not the path. */
  tie(remote: Remote): TiedSocket {
    const known = this.#ties.find((tie) => isSameRemote(tie.remote, remote));
    if (known !== undefined && !known.isClosed) return known;
    this.#drop(known);
    const tie = new TiedSocket(this.#port, remote, this.#onMessage);
    this.#ties.push(tie);
    if (this.#ties.length > MAX_TIES) this.#drop(this.#ties.find((other) => other !== this.#path));
    return tie;
  }

  choose(tie: TiedSocket): void {
    if (this.#ties.includes(tie)) this.#path = tie;
  }

  close(): void {
    this.#path = null;
    for (const tie of this.#ties.splice(0)) tie.close();
  }

  #drop(tie: TiedSocket | undefined): void {
    this.#ties = this.#ties.filter((other) => other !== tie);
    tie?.close();
  }
}
