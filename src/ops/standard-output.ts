import { write, writeSync } from 'node:fs';
import type { LogSink } from './log-sink.js';

const STANDARD_OUTPUT = 1;

/** What waits for a reader that stalls; beyond it lines are lost, and the service goes on. */
const MAX_WAITING_BYTES = 4_194_304;
const RETRY_MS = 20;
/** How long an exit waits for a reader that stalls. */
const FLUSH_TIMEOUT_MS = 500;

const isFull = (fault: unknown): boolean => (fault as NodeJS.ErrnoException).code === 'EAGAIN';

/**
 * Standard output, written to in the background: neither a reader that stalls nor one that is gone ever holds up
 * the service, nor its end. (pino's own destination waits for both for ever when it is flushed.)
 */
export class StandardOutput implements LogSink {
  readonly #waiting: Buffer[] = [];
  readonly #sleeper = new Int32Array(new SharedArrayBuffer(4));
  #waitingBytes = 0;
  #isWriting = false;
  #isBroken = false;

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#isBroken || this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (!this.#isWriting) this.#writeNext();
  }

  flushSync(): void {
    const deadlineMs = performance.now() + FLUSH_TIMEOUT_MS;
    // A piece that is with the thread pool can't be waited for here; it needs no more than a moment.
    if (this.#isWriting) this.#sleep();
    while (this.#waiting.length > 0 && !this.#isBroken && performance.now() < deadlineMs) {
      const bytes = this.#take();
      try {
        this.#giveBack(bytes.subarray(writeSync(STANDARD_OUTPUT, bytes)));
      } catch (fault) {
        this.#onFault(fault, bytes);
        this.#sleep();
      }
    }
  }

  #writeNext(): void {
    if (this.#waiting.length === 0) return;
    this.#isWriting = true;
    const bytes = this.#take();
    write(STANDARD_OUTPUT, bytes, (fault, written) => {
      if (fault === null) this.#giveBack(bytes.subarray(written));
      else this.#onFault(fault, bytes);
      if (fault !== null && !this.#isBroken) {
        setTimeout(() => this.#goOn(), RETRY_MS);
        return;
      }
      this.#goOn();
    });
  }

  #goOn(): void {
    this.#isWriting = false;
    this.#writeNext();
  }

  /** All that waits, as one piece: a busy log costs few system calls. */
  #take(): Buffer {
    this.#waitingBytes = 0;
    return Buffer.concat(this.#waiting.splice(0));
  }

  #giveBack(rest: Buffer): void {
    if (rest.length === 0) return;
    this.#waiting.unshift(rest);
    this.#waitingBytes += rest.length;
  }

  #onFault(fault: unknown, bytes: Buffer): void {
    if (isFull(fault)) {
      this.#giveBack(bytes);
      return;
    }
    this.#isBroken = true;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
  }

  #sleep(): void {
    Atomics.wait(this.#sleeper, 0, 0, RETRY_MS);
  }
}
