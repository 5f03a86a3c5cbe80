import { clientNetwork } from '../../../base/client-address.js';
import { whepError } from '../errors.js';

/** A page with a wall of cameras asks for all of them at once, and each is connected half a second later. */
const MAX_WAITING_PER_ADDRESS = 50;
const MAX_WAITING = 500;
/** So long one waits at most. */
const RETRY_SEC = 5;

/**
 * Sessions that aren't connected yet. Whoever asks again and again without ever connecting is held off, and takes
 * nobody else's place.
 */
export class WaitingRoom {
  /** Who came first is first. */
  readonly #subscribers = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** Lets a session in; the one that has to go for it, if any. Throws `too_many_waiting`. */
  enter(sessionId: string, address: string): string | null {
    const subscriber = clientNetwork(address);
    const count = this.#counts.get(subscriber) ?? 0;
    if (count >= MAX_WAITING_PER_ADDRESS)
      throw whepError('too_many_waiting', 'too many sessions of this address wait to be connected', {
        retryAfterSec: RETRY_SEC,
      });
    this.#counts.set(subscriber, count + 1);
    this.#subscribers.set(sessionId, subscriber);
    if (this.#subscribers.size <= MAX_WAITING) return null;
    const [oldest = null] = this.#subscribers.keys();
    return oldest;
  }

  /** The session is connected, or over. */
  leave(sessionId: string): void {
    const subscriber = this.#subscribers.get(sessionId);
    if (subscriber === undefined) return;
    this.#subscribers.delete(sessionId);
    const count = this.#counts.get(subscriber) ?? 0;
    if (count > 1) this.#counts.set(subscriber, count - 1);
    else this.#counts.delete(subscriber);
  }
}
