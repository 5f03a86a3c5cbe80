import type { Socket } from 'node:net';

/** Counts what came over the network on one TLS connection: records and handshake, not only what they hold. */
export class WireBytes {
  readonly #handle: { readonly bytesRead?: unknown } | null;
  #counted = 0;

  /**
   * The TCP handle below TLS. Node has no documented way to it where it makes both sockets, and only then reads into
   * our own buffer.
   */
  constructor(socket: Socket) {
    const tls: unknown = Reflect.get(socket, '_handle');
    const tcp: unknown = typeof tls === 'object' && tls !== null ? Reflect.get(tls, '_parent') : null;
    this.#handle = typeof tcp === 'object' ? tcp : null;
  }

  /** Bytes since the last call; `plainBytes`, which have just been read from TLS, where there is no telling. */
  take(plainBytes: number): number {
    const total = this.#handle?.bytesRead;
    if (typeof total !== 'number') return plainBytes;
    // A closed handle says 0.
    const added = Math.max(0, total - this.#counted);
    this.#counted += added;
    return added;
  }
}
