import type { Answer } from '../device.js';
import { isOnvifError } from '../errors.js';
import { WAIT_SEC } from './lifetime.js';
import type { Subscription } from './subscription.js';
import { isToldUntil } from './told-until.js';

/** So long the old one is asked for what it still has: the new one keeps all meanwhile. */
const REST_SEC = 1;
/** So many answers are waited for until all is told that it has: it ends soon. */
const MOST_RESTS = 8;

/**
 * `new`: of the pull point that is there. Of one from which the next one takes over: `more` is to come, this was its `last`, or
 * it was `cut` short, and may have had more that nobody will hear of.
 */
export type Pulled =
  | { readonly what: 'new' | 'more' | 'last'; readonly answer: Answer }
  | { readonly what: 'cut'; readonly answer: Answer | null };

/** A camera's pull points, one after another: where one takes no renewal the next one is there before it ends. */
export class PullPoints {
  #current: Subscription;
  #isAskedHowAllIs = false;
  /** It took over from one with the same address, and wasn't asked yet. */
  #isUnheard = false;
  /** It is yet to be given back. */
  #old: Subscription | null = null;
  /** Answers that it may still give. */
  #rests = 0;

  constructor(first: Subscription) {
    this.#current = first;
  }

  /** What there is, or comes soon. Throws what `../errors.ts` lists. */
  async pull(signal: AbortSignal): Promise<Pulled> {
    if (this.#old !== null && this.#rests > 0) return this.#pullRest(this.#old, signal);
    await this.#endOld();
    const current = this.#current;
    await this.#askHowAllIs(signal);
    await current.renewIfDue(signal);
    // However short it lasts, it is asked before there is another one.
    const next = current.endsSoon && !this.#isUnheard ? await current.next(signal) : null;
    this.#isUnheard = false;
    if (next === null) return { what: 'new', answer: await current.pull(WAIT_SEC, signal) };
    this.#current = next;
    this.#isAskedHowAllIs = false;
    if (!next.isSameAs(current)) {
      this.#old = current;
      this.#rests = MOST_RESTS;
      return this.#pullRest(current, signal);
    }
    // What it had to tell may be gone.
    this.#isUnheard = true;
    return { what: 'cut', answer: null };
  }

  async #askHowAllIs(signal: AbortSignal): Promise<void> {
    if (!this.#isAskedHowAllIs) await this.#current.synchronize(signal);
    this.#isAskedHowAllIs = true;
  }

  /** Until it tells what the new one has, too, or has no more, is gone, or has more than anybody waits for. */
  async #pullRest(old: Subscription, signal: AbortSignal): Promise<Pulled> {
    this.#rests -= 1;
    try {
      const answer = await old.pull(REST_SEC, signal);
      if (!isToldUntil(answer.element, this.#current.madeUtcMs))
        return { what: this.#rests > 0 ? 'more' : 'cut', answer };
      this.#rests = 0;
      return { what: 'last', answer };
    } catch (fault) {
      if (signal.aborted || !isOnvifError(fault)) throw fault;
      this.#rests = 0;
      return { what: 'cut', answer: null };
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
