import { Duplex } from 'node:stream';

/** A socket whose kernel takes nothing while it is held: what was written stays where it is, as with a real one. */
export class HeldSocket extends Duplex {
  readonly #socket: Duplex;
  #isHeld = false;
  #waiting: (() => void) | null = null;

  constructor(socket: Duplex) {
    super({ autoDestroy: true });
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.push(bytes));
    socket.on('end', () => this.push(null));
    socket.on('close', () => this.destroy());
  }

  hold(): void {
    this.#isHeld = true;
  }

  letGo(): void {
    this.#isHeld = false;
    this.#waiting?.();
    this.#waiting = null;
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    const write = (): void => {
      // A copy, as a kernel has it.
      this.#socket.write(Buffer.from(bytes));
      done();
    };
    if (this.#isHeld) this.#waiting = write;
    else write();
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }

  override _destroy(fault: Error | null, done: (fault: Error | null) => void): void {
    this.#socket.destroy();
    done(fault);
  }
}
