import type { Clock, Timer } from '../base/clock.js';
import { archiveError } from './archive-error.js';

export type TurnsOptions = {
  /** So many are at work at the same time. */
  readonly atOnce: number;
  /** Those who may wait, in all and in one lane; one more is refused. */
  readonly maxWaiting: number;
  readonly maxInLane: number;
  readonly patienceMs: number;
};

type Waiting = { readonly begin: () => void; readonly timer: Timer };

/**
 * Lets a few work at once, and the others wait: whoever came first in each lane, and the lanes in turns, so that a
 * crowd in one holds up nobody but itself.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #clock: Pick<Clock, 'after'>;
  /** Those who wait, by lane; the first lane's turn is next. */
  readonly #lanes = new Map<string, Waiting[]>();
  #waiting = 0;
  #running = 0;

  constructor(options: TurnsOptions, deps: { readonly clock: Pick<Clock, 'after'> }) {
    this.#options = options;
    this.#clock = deps.clock;
  }

  /** Does the work when it is its turn; throws `archive_busy` where that would take too long. */
  async run<Result>(lane: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#options.atOnce) this.#running += 1;
    else await this.#wait(lane);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #wait(lane: string): Promise<void> {
    const { maxWaiting, maxInLane, patienceMs } = this.#options;
    const queue = this.#lanes.get(lane) ?? [];
    if (this.#waiting >= maxWaiting || queue.length >= maxInLane) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        queue.splice(queue.indexOf(waiting), 1);
        this.#waiting -= 1;
        if (queue.length === 0) this.#lanes.delete(lane);
        reject(busy());
      };
      const waiting: Waiting = { begin: resolve, timer: this.#clock.after(patienceMs, giveUp) };
      queue.push(waiting);
      this.#lanes.set(lane, queue);
      this.#waiting += 1;
    });
  }

  /** The place goes to the next lane's first; that lane is the last one then. */
  #leave(): void {
    const [next] = this.#lanes;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [lane, queue] = next;
    const first = queue.shift();
    this.#lanes.delete(lane);
    if (queue.length > 0) this.#lanes.set(lane, queue);
    this.#waiting -= 1;
    first?.timer.cancel();
    first?.begin();
  }
}

const busy = () => archiveError('archive_busy', 'the archive has too much to do; try again');
