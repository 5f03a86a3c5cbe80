import type { Clock, Timer } from '../../base/clock.js';

type Waiter = {
  readonly isMet: () => boolean;
  readonly resolve: (isMet: boolean) => void;
  readonly timer: Timer;
};

/** Requests that wait for something to be there. */
export class Waiting {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#waiters.size;
  }

  /** True as soon as it is met; false after `timeoutMs`, or if it can't be met any more. */
  until(isMet: () => boolean, timeoutMs: number): Promise<boolean> {
    if (isMet()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = this.#clock.after(timeoutMs, () => this.#end(waiter, false));
      const waiter = { isMet, resolve, timer };
      this.#waiters.add(waiter);
    });
  }

  /** Something has changed. */
  check(): void {
    for (const waiter of this.#waiters) if (waiter.isMet()) this.#end(waiter, true);
  }

  /** Nothing will come any more. */
  end(): void {
    for (const waiter of this.#waiters) this.#end(waiter, false);
  }

  #end(waiter: Waiter, isMet: boolean): void {
    waiter.timer.cancel();
    this.#waiters.delete(waiter);
    waiter.resolve(isMet);
  }
}
