import { authError } from './auth-error.js';

/**
 * Lets a few costly jobs run at a time and a bounded number wait. Password hashes take a thread of the pool and
 * 32 MiB each: a flood of logins must leave threads to the recordings.
 */
export class WorkGate {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: { maxRunning: number; maxWaiting: number }) {
    this.#maxRunning = options.maxRunning;
    this.#maxWaiting = options.maxWaiting;
  }

  /** Runs `job` when it is its turn; throws `login_busy` at once if too many wait. */
  async run<T>(job: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await job();
    } finally {
      const next = this.#waiting.shift();
      // The place goes from hand to hand: nobody who comes just now gets in between.
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #enter(): Promise<void> {
    if (this.#running < this.#maxRunning) {
      this.#running++;
      return Promise.resolve();
    }
    if (this.#waiting.length >= this.#maxWaiting)
      throw authError('login_busy', 'too many logins at once', { retryAfterSec: 2 });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
