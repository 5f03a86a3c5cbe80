import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { PacketGuard } from './packet-guard.js';

type Written = { readonly chunk: Buffer };
type Done = (fault?: Error | null) => void;

/** A connection to a broker that breaks where a packet comes that nobody wants to hold. */
export class GuardedSocket extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket, maxPacketBytes: number) {
    super();
    this.#socket = socket;
    const guard = new PacketGuard(maxPacketBytes);
    socket.on('data', (chunk: Buffer) => {
      const fault = guard.fault(chunk);
      if (fault !== null) this.destroy(new Error(fault));
      else if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (fault) => this.destroy(fault));
    socket.on('close', () => this.destroy());
    socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#socket.write(chunk, done);
  }

  /** A packet is written in many small parts. */
  override _writev(parts: Written[], done: Done): void {
    this.#socket.write(Buffer.concat(parts.map(({ chunk }) => chunk)), done);
  }

  override _final(done: Done): void {
    this.#socket.end(() => done());
  }

  override _destroy(fault: Error | null, done: Done): void {
    this.#socket.destroy();
    done(fault);
  }
}
