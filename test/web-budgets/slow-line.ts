import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** One direction of a line that all connections share: so many bits a second, and half of the time that there and back takes. */
class Direction {
  #freeMs = 0;
  readonly #bytesPerMs: number;
  readonly #delayMs: number;

  constructor(bitsPerSec: number, delayMs: number) {
    this.#bytesPerMs = bitsPerSec / 8_000;
    this.#delayMs = delayMs;
  }

  /** When what is sent now is there. */
  send(bytes: number): number {
    this.#freeMs = Math.max(performance.now(), this.#freeMs) + bytes / this.#bytesPerMs;
    return this.#freeMs + this.#delayMs;
  }
}

const SLICE_BYTES = 8 * 1_024;
/** About what TCP lets be under way. */
const UNDER_WAY_BYTES = 256 * 1_024;

/** `fromMs`: nothing is there before. */
const carry = (from: Socket, to: Socket, direction: Direction, fromMs: number): void => {
  const underWay: { readonly dueMs: number; readonly bytes: Buffer | null }[] = [];
  let waitingBytes = 0;
  let isWaiting = false;
  const arrive = (): void => {
    isWaiting = false;
    while (underWay[0] !== undefined && underWay[0].dueMs <= performance.now()) {
      const { bytes } = underWay.shift()!;
      if (bytes === null) to.destroySoon();
      else if (to.writable) to.write(bytes);
      waitingBytes -= bytes?.length ?? 0;
    }
    if (waitingBytes < UNDER_WAY_BYTES) from.resume();
    wait();
  };
  const wait = (): void => {
    const [first] = underWay;
    if (first === undefined || isWaiting) return;
    isWaiting = true;
    setTimeout(arrive, Math.max(0, first.dueMs - performance.now()));
  };
  const send = (bytes: Buffer | null): void => {
    underWay.push({ dueMs: Math.max(fromMs, direction.send(bytes?.length ?? 0)), bytes });
    waitingBytes += bytes?.length ?? 0;
    wait();
  };
  from.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) send(chunk.subarray(at, at + SLICE_BYTES));
    if (waitingBytes >= UNDER_WAY_BYTES) from.pause();
  });
  from.on('error', () => undefined);
  from.on('close', () => send(null));
};

/** A line such as people have at home, between a browser and the service: for sockets and workers, too. */
export const startSlowLine = async (
  servicePort: number,
  { bitsPerSec, roundTripMs }: { readonly bitsPerSec: number; readonly roundTripMs: number },
): Promise<{ readonly port: number; close(): Promise<void> }> => {
  const up = new Direction(bitsPerSec, roundTripMs / 2);
  const down = new Direction(bitsPerSec, roundTripMs / 2);
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const service = connect({ port: servicePort, host: '127.0.0.1', noDelay: true });
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    // A connection is there after one turn, which loopback's isn't: its first bytes are later by that.
    const openMs = performance.now() + roundTripMs;
    carry(client, service, up, openMs + roundTripMs / 2);
    carry(service, client, down, 0);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};
