import type { Clock } from '../../base/clock.js';

/** So much of a turn of the event loop at most: frames and connections that come meanwhile wait no longer. */
const BUDGET_MS = 2;

/** Work that may wait, in order, in small pieces between what may not. */
export class SpareTurns {
  readonly #clock: Clock;
  readonly #pieces: (() => void)[] = [];
  #isScheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `piece` once in a later turn; it must not throw. */
  add(piece: () => void): void {
    this.#pieces.push(piece);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#work);
  }

  readonly #work = (): void => {
    this.#isScheduled = false;
    const untilMs = this.#clock.monotonicMs() + BUDGET_MS;
    let done = 0;
    // Pieces that ask for another turn come after those that wait already.
    for (const asked = this.#pieces.length; done < asked; done += 1) {
      if (done > 0 && this.#clock.monotonicMs() >= untilMs) break;
      this.#pieces[done]?.();
    }
    this.#pieces.splice(0, done);
    if (this.#pieces.length > 0) this.#schedule();
  };
}
