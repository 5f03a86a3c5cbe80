import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a client and a server and counts what the server sends: on the wire, TLS and all. */
export class ByteRelay {
  readonly port: number;
  sentBytes = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isStill = false;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(serverPort: number): Promise<ByteRelay> {
    const server = createServer((client) => relay.#accept(client, connect(serverPort, '127.0.0.1')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const relay: ByteRelay = new ByteRelay(server, port);
    return relay;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  /** Nothing goes through, either way, for as long as that is so. */
  set isStill(isStill: boolean) {
    this.#isStill = isStill;
    for (const socket of this.#sockets) if (isStill) socket.pause();
    if (!isStill) for (const socket of this.#sockets) socket.resume();
  }

  /** Breaks every connection that there is; new ones go through. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(client: Socket, server: Socket): void {
    this.#connect(client, server);
    this.#connect(server, client);
    server.on('data', (chunk) => {
      this.sentBytes += chunk.length;
    });
  }

  #connect(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('data', (chunk) => {
      if (to.writable) to.write(chunk);
    });
    if (this.#isStill) from.pause();
    from.on('error', () => undefined);
    from.on('end', () => to.end());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroySoon();
    });
  }
}
