import type { Message } from './link.js';

type Entry = { readonly message: Message; readonly bytes: number };

const MAX_MESSAGES = 10_000;
const MAX_BYTES = 8_000_000;

const bytesOf = ({ topic, payload }: Message): number =>
  Buffer.byteLength(topic) + Buffer.byteLength(payload);

/** What is to be sent in order, each of it until the broker has it; bounded, the oldest are given up. */
export class Backlog {
  readonly #entries: Entry[] = [];
  /** The first so many are on their way. */
  #sent = 0;
  #bytes = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** How many were given up for it. */
  add(message: Message): number {
    const entry = { message, bytes: bytesOf(message) };
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
    let dropped = 0;
    // What is on its way is not given up any more.
    while (this.#isFull && this.#entries.length > this.#sent + 1) {
      const [oldest] = this.#entries.splice(this.#sent, 1);
      this.#bytes -= oldest!.bytes;
      dropped += 1;
    }
    return dropped;
  }

  /** The next one that isn't on its way, and now is; null: there is none. */
  take(): { readonly message: Message; readonly onDone: () => void } | null {
    const entry = this.#entries[this.#sent];
    if (entry === undefined) return null;
    this.#sent += 1;
    return { message: entry.message, onDone: () => this.#finish(entry) };
  }

  /** Nobody knows what became of those that were on their way: they go again, in order. */
  rewind(): void {
    this.#sent = 0;
  }

  get #isFull(): boolean {
    return this.#entries.length > MAX_MESSAGES || this.#bytes > MAX_BYTES;
  }

  /** In any order: a broker may acknowledge otherwise than it was sent to. */
  #finish(entry: Entry): void {
    const at = this.#entries.indexOf(entry);
    if (at === -1) return;
    this.#entries.splice(at, 1);
    this.#bytes -= entry.bytes;
    if (at < this.#sent) this.#sent -= 1;
  }
}
