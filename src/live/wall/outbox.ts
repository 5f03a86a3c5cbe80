import type { Duplex } from 'node:stream';

/** What goes to one page in this turn, in order: pieces of memory that others may send, too. */
export class Outbox {
  readonly #socket: Duplex;
  readonly #pieces: Buffer[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  /** Bytes that the kernel hasn't taken yet. */
  get pendingBytes(): number {
    return this.#socket.writableLength;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Adds whole messages. */
  add(bytes: Buffer, start: number, end: number): void {
    const last = this.#pieces.length - 1;
    if (last >= 0 && this.#pieces[last] === bytes && this.#ends[last] === start) {
      this.#ends[last] = end;
      return;
    }
    this.#pieces.push(bytes);
    this.#starts.push(start);
    this.#ends.push(end);
  }

  /** Writes all of it with one system call. */
  flush(): void {
    const count = this.#pieces.length;
    if (count === 0) return;
    if (count > 1) this.#socket.cork();
    for (let at = 0; at < count; at += 1) {
      this.#socket.write(this.#pieces[at]!.subarray(this.#starts[at]!, this.#ends[at]!));
    }
    if (count > 1) this.#socket.uncork();
    this.clear();
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#starts.length = 0;
    this.#ends.length = 0;
  }
}
