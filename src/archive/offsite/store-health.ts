import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { isS3Error, s3Error } from '../../s3/errors.js';
import { faultWords } from './fault-words.js';

/** After the first fault of the store; then twice as long each time. */
const FIRST_REST_MS = 2_000;
const LONGEST_REST_MS = 120_000;

export const isOfStore = (fault: unknown): boolean =>
  fault instanceof AppError && fault.code.startsWith('s3_');

/** It may be what it was asked for that the store doesn't want, and nothing else. */
export const mayBeItsOwn = (fault: unknown): boolean =>
  isOfStore(fault) && !isS3Error(fault, 's3_unavailable') && !isS3Error(fault, 's3_clock');

/** What has trouble with one thing, but answers another question, refuses that one. */
export const judged = async (fault: unknown, ask: () => Promise<unknown>): Promise<unknown> => {
  if (!(fault instanceof AppError) || fault.code !== 's3_unavailable') return fault;
  try {
    await ask();
  } catch {
    return fault;
  }
  return s3Error('s3_refused', fault.message, { cause: fault, details: fault.details });
};

/** Whether the store does what it is asked, and what is told of that. */
export class StoreHealth {
  readonly #log: Logger;
  readonly #onUp: () => void;
  /** Why nothing can be copied now; null: it can. */
  fault: string | null = null;
  /** It did what it was asked since the last fault, or since it was asked first. */
  isUp = false;
  /** It can't be reached, as far as the last fault tells. */
  isAway = false;
  failed = 0;
  /** It has done something since `goneWrong`. */
  hasGoneOn = true;
  #restMs = FIRST_REST_MS;
  /** As the log has it. */
  #said: string | null = null;

  constructor(log: Logger, onUp: () => void) {
    this.#log = log;
    this.#onUp = onUp;
  }

  /** How long nothing is tried for that; not the same for all boxes. */
  onFault(fault: unknown): number {
    this.failed += 1;
    const reason = messageOf(fault);
    if (this.#said !== reason) this.#log.warn('recordings are not copied to the store now', { reason });
    this.#said = reason;
    this.fault = faultWords(fault);
    this.isUp = false;
    this.isAway = isOfStore(fault) && !mayBeItsOwn(fault);
    const restMs = this.#restMs * (0.75 + Math.random() / 2);
    this.#restMs = Math.min(this.#restMs * 2, LONGEST_REST_MS);
    return restMs;
  }

  /** Whether it does is to be seen. */
  doubt(): void {
    this.isUp = false;
  }

  recover(): void {
    this.#restMs = FIRST_REST_MS;
    this.hasGoneOn = true;
    if (this.isUp) return;
    this.isUp = true;
    this.isAway = false;
    if (this.fault !== null) this.#log.info('recordings are copied to the store again');
    this.fault = null;
    this.#said = null;
    this.#onUp();
  }
}
