import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.js';
import { PacketGuard } from './packet-guard.js';

type Written = { readonly chunk: Buffer };
type Done = (fault?: Error | null) => void;

/** Looked at in one turn of the event loop: hundreds of packets of the smallest kind. */
const SLICE_BYTES = 1_024;

/**
 * A connection to a broker that breaks where a packet comes that nobody wants to hold, or more of them than anybody
 * asked for. However much comes at once, others have their turn after some of it.
 */
export class GuardedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #guard: PacketGuard;
  /** What came, and was not passed on. */
  #left: Buffer = Buffer.alloc(0);
  #isWanted = false;
  /** What is to be done when nothing is left. */
  readonly #ends: (() => void)[] = [];
  #turn: NodeJS.Immediate | null = null;

  constructor(socket: Socket, maxPacketBytes: number, clock: Pick<Clock, 'monotonicMs'>) {
    super();
    this.#socket = socket;
    this.#guard = new PacketGuard(maxPacketBytes, clock);
    socket.on('data', (chunk: Buffer) => {
      // No more comes until that is passed on.
      socket.pause();
      this.#left = chunk;
      this.#passSoon();
    });
    // Either may come while the last of it is passed on.
    socket.on('end', () => this.#end(() => this.push(null)));
    socket.on('error', (fault) => this.destroy(fault));
    socket.on('close', () => this.#end(() => this.destroy()));
    socket.pause();
  }

  /** So many packets are to come, since something was sent that is answered. */
  expect(count: number): void {
    this.#guard.expect(count);
  }

  override _read(): void {
    this.#isWanted = true;
    this.#passSoon();
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
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#socket.destroy();
    done(fault);
  }

  #end(done: () => void): void {
    if (this.#left.length === 0) done();
    else this.#ends.push(done);
  }

  #passSoon(): void {
    if (!this.#isWanted || this.destroyed) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = null;
      if (this.#left.length === 0) this.#socket.resume();
      else this.#pass();
    });
  }

  #pass(): void {
    const slice = this.#left.subarray(0, SLICE_BYTES);
    this.#left = this.#left.subarray(SLICE_BYTES);
    const fault = this.#guard.fault(slice);
    if (fault !== null) {
      this.destroy(new Error(fault));
      return;
    }
    this.#isWanted = false;
    if (this.push(slice)) this.#isWanted = true;
    if (this.#left.length === 0) for (const done of this.#ends.splice(0)) done();
    this.#passSoon();
  }
}
