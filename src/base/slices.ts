import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.js';

/** So much of a turn of the event loop at most: frames and requests that come meanwhile wait no longer. */
const SLICE_MS = 3;

/** Long work of a thread that has others to serve: goes on in the next turn when its slice of this one is used up. */
export class Slices {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #endMs: number;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#endMs = clock.monotonicMs() + SLICE_MS;
  }

  /** To be asked before each piece, which is short; then `next` is to be waited for. */
  get isUsedUp(): boolean {
    return this.#clock.monotonicMs() >= this.#endMs;
  }

  /** Lets everybody else have a turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.#endMs = this.#clock.monotonicMs() + SLICE_MS;
  }
}
