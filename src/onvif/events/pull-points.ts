import type { Answer } from '../device.js';
import { isOnvifError } from '../errors.js';
import { WAIT_SEC } from './lifetime.js';
import type { Subscription } from './subscription.js';

/** So long the old one is asked for what it still has: the new one keeps all meanwhile. */
const REST_SEC = 1;

/** `isLast`: of a pull point from which the next one takes over; null: it had none. */
export type Pulled =
  | { readonly answer: Answer; readonly isLast: boolean }
  | { readonly answer: null; readonly isLast: true };

/** A camera's pull points, one after another: where one takes no renewal the next one is there before it ends. */
export class PullPoints {
  #current: Subscription;
  /** It told all, and is yet to be given back. */
  #old: Subscription | null = null;

  constructor(first: Subscription) {
    this.#current = first;
  }

  /** What there is, or comes soon. Throws what `../errors.ts` lists. */
  async pull(signal: AbortSignal): Promise<Pulled> {
    await this.#endOld();
    const current = this.#current;
    await current.renewIfDue(signal);
    const next = current.endsSoon ? await current.next(signal) : null;
    if (next === null) return { answer: await current.pull(WAIT_SEC, signal), isLast: false };
    [this.#current, this.#old] = [next, current];
    try {
      return { answer: await current.pull(REST_SEC, signal), isLast: true };
    } catch (fault) {
      if (signal.aborted || !isOnvifError(fault)) throw fault;
      return { answer: null, isLast: true };
    }
  }

  /** Gives back all of them. */
  async end(): Promise<void> {
    await this.#endOld();
    await this.#current.end();
  }

  async #endOld(): Promise<void> {
    const old = this.#old;
    this.#old = null;
    // It ends by itself soon.
    await old?.end();
  }
}
