import type { Clock, Timer } from '../base/clock.js';
import type { RtspCounters } from './counters.js';
import type { RtspError } from './errors.js';
import { cseqOf, type RtspResponse } from './message.js';

type Pending = {
  readonly resolve: (response: RtspResponse) => void;
  readonly reject: (error: RtspError) => void;
  readonly timer: Timer;
};

const RESPONSE_TIMEOUT_MS = 10_000;
/** A camera that answers twice has answered the next request by then. */
const DOUBT_MS = 1_000;

/**
 * The requests of one connection that wait for their answers, told apart by CSeq (RFC 2326 §12.17). A camera that
 * doesn't repeat it, or makes up its own, answers the oldest one. A number from before is an answer that came
 * twice, or too late; unless nothing else comes: then the camera writes the same number into all of them.
 */
export class PendingRequests {
  readonly #clock: Clock;
  readonly #counters: RtspCounters;
  readonly #byCseq = new Map<number, Pending>();
  #lastCseq = 0;
  /** Runs while an answer waits for a better one. */
  #doubt: Timer | null = null;
  #repeatsCseq = false;

  constructor(clock: Clock, counters: RtspCounters) {
    this.#clock = clock;
    this.#counters = counters;
  }

  get size(): number {
    return this.#byCseq.size;
  }

  /** The CSeq of the next request. */
  get nextCseq(): number {
    return this.#lastCseq + 1;
  }

  /** Waits for the answer to the request `nextCseq`, which has just been sent; `silence` is for none in 10 s. */
  add(
    resolve: (response: RtspResponse) => void,
    reject: (error: RtspError) => void,
    silence: () => RtspError,
  ): void {
    const cseq = this.nextCseq;
    this.#lastCseq = cseq;
    const timer = this.#clock.after(RESPONSE_TIMEOUT_MS, () => {
      this.#byCseq.delete(cseq);
      reject(silence());
    });
    this.#byCseq.set(cseq, { resolve, reject, timer });
  }

  /** Hands an answer to the request that it belongs to. */
  answer(response: RtspResponse): void {
    const told = cseqOf(response.headers);
    const oldest = this.#byCseq.keys().next().value ?? 0;
    const isUsable = told !== null && told >= 1 && told <= this.#lastCseq;
    if (!isUsable || this.#byCseq.has(told)) this.#settle(isUsable ? told : oldest, response);
    else if (this.#repeatsCseq) this.#settle(oldest, response);
    else if (this.#byCseq.size === 1 && this.#doubt === null) this.#hold(oldest, response);
    else this.#counters.strayResponses += 1;
  }

  /** Nothing more is waited for. */
  rejectAll(error: RtspError): void {
    this.#endDoubt();
    for (const pending of this.#byCseq.values()) {
      pending.timer.cancel();
      pending.reject(error);
    }
    this.#byCseq.clear();
  }

  #settle(cseq: number, response: RtspResponse): void {
    const pending = this.#byCseq.get(cseq);
    if (pending === undefined) {
      this.#counters.strayResponses += 1;
      return;
    }
    if (this.#endDoubt()) this.#counters.strayResponses += 1;
    this.#byCseq.delete(cseq);
    pending.timer.cancel();
    pending.resolve(response);
  }

  #hold(cseq: number, response: RtspResponse): void {
    this.#doubt = this.#clock.after(DOUBT_MS, () => {
      this.#doubt = null;
      this.#repeatsCseq = this.#byCseq.has(cseq);
      this.#settle(cseq, response);
    });
  }

  /** Whether there was one. */
  #endDoubt(): boolean {
    const wasHeld = this.#doubt !== null;
    this.#doubt?.cancel();
    this.#doubt = null;
    return wasHeld;
  }
}
