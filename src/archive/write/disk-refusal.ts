import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { codeOf, isDiskFull } from '../files/disk-fault.js';
import { ROOT_LOST } from '../root-state.js';

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 10_000;

/** For people who see no more than this: what a disk's refusal comes down to. */
const textOf = (fault: unknown): string => {
  const code = codeOf(fault) || 'unknown error';
  if (code === ROOT_LOST || code === 'ENOTDIR') return messageOf(fault);
  return isDiskFull(fault) ? 'the disk is full' : `recordings can't be written (${code})`;
};

/** That the disk refused, until it took something again, and how long it is left alone. Both ends are logged. */
export class DiskRefusal {
  readonly #log: Logger;
  #text: string | null = null;
  #retryMs = FIRST_RETRY_MS;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Why; null: it doesn't refuse. */
  get text(): string | null {
    return this.#text;
  }

  begin(fault: unknown, fileName: string): void {
    if (this.#text === null) {
      const fields = { file: fileName, reason: messageOf(fault) };
      this.#log.error('recording is paused: the disk refused', fields);
    }
    this.#text = textOf(fault);
  }

  /** How long it is left alone now: each time longer, as long as it refuses. */
  nextRetryMs(): number {
    const retryMs = this.#retryMs;
    this.#retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
    return retryMs;
  }

  /** The disk took something. */
  end(fileName: string): void {
    if (this.#text !== null) this.#log.info('recording again', { file: fileName });
    this.#text = null;
    this.forgetRetries();
  }

  /** The disk is another one, perhaps. */
  forgetRetries(): void {
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** Nothing comes that the disk could refuse, and it isn't asked any more. Returns whether it refused. */
  forget(): boolean {
    if (this.#text === null) return false;
    this.#text = null;
    return true;
  }
}
