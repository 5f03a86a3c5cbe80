import { Writable } from 'node:stream';

/** A client that takes what it is sent only when it is told to. */
export class SlowClient extends Writable {
  text = '';
  #take: (() => void) | null = null;
  #isOpen = false;

  constructor() {
    super({ highWaterMark: 1_000 });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    if (this.#isOpen) setImmediate(done);
    else this.#take = done;
  }

  open(): void {
    this.#isOpen = true;
    this.#take?.();
  }

  shut(): void {
    this.#isOpen = false;
  }
}

/** Until what is written has arrived, and what follows from that is done. */
export const settled = async (...clients: SlowClient[]): Promise<void> => {
  for (let turns = 0; turns < 3; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (clients.some((client) => client.writableLength > 0)) turns = 0;
  }
};
