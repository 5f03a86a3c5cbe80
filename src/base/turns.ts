import type { Clock, Timer } from './clock.js';

export type TurnsOptions = {
  /** So many are at work at the same time. */
  readonly atOnce: number;
  /** And so many of one lane; nothing: as many. */
  readonly atOnceInLane?: number;
  /** Those who may wait, in all and in one lane; one more is refused. */
  readonly maxWaiting: number;
  readonly maxInLane: number;
  readonly patienceMs: number;
};

export type TurnsDeps = {
  readonly clock: Pick<Clock, 'after'>;
  /** What those are told whose turn would come too late. */
  readonly busy: () => Error;
};

type Waiting = { readonly begin: () => void; readonly timer: Timer };

/**
 * Lets a few work at once, and the others wait: whoever came first in each lane, and the lanes in turns, so that a
 * crowd in one holds up nobody but itself.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #deps: TurnsDeps;
  /** Those who wait, by lane; the first lane's turn is next. */
  readonly #lanes = new Map<string, Waiting[]>();
  #waiting = 0;
  #running = 0;
  readonly #runningIn = new Map<string, number>();

  constructor(options: TurnsOptions, deps: TurnsDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** Those who wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Does the work when it is its turn; throws what `busy` says where that would take too long, and the signal's reason
   * where nobody wants it any more before it has begun.
   */
  async run<Result>(lane: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#running < this.#options.atOnce && this.#hasRoom(lane)) this.#enter(lane);
    else await this.#wait(lane, signal);
    try {
      return await work();
    } finally {
      this.#leave(lane);
    }
  }

  #hasRoom(lane: string): boolean {
    const { atOnce, atOnceInLane = atOnce } = this.#options;
    return (this.#runningIn.get(lane) ?? 0) < atOnceInLane;
  }

  #enter(lane: string): void {
    this.#running += 1;
    this.#runningIn.set(lane, (this.#runningIn.get(lane) ?? 0) + 1);
  }

  #wait(lane: string, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaiting, maxInLane, patienceMs } = this.#options;
    const { clock, busy } = this.#deps;
    const queue = this.#lanes.get(lane) ?? [];
    if (this.#waiting >= maxWaiting || queue.length >= maxInLane) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const giveUp = (reason: unknown): void => {
        queue.splice(queue.indexOf(waiting), 1);
        this.#waiting -= 1;
        if (queue.length === 0) this.#lanes.delete(lane);
        waiting.timer.cancel();
        signal?.removeEventListener('abort', onAbort);
        reject(reason);
      };
      const onAbort = (): void => giveUp(signal?.reason);
      const begin = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const waiting: Waiting = { begin, timer: clock.after(patienceMs, () => giveUp(busy())) };
      signal?.addEventListener('abort', onAbort);
      queue.push(waiting);
      this.#lanes.set(lane, queue);
      this.#waiting += 1;
    });
  }

  /** The place goes to the next lane's first; that lane is the last one then. */
  #leave(left: string): void {
    this.#running -= 1;
    const others = this.#runningIn.get(left)! - 1;
    if (others > 0) this.#runningIn.set(left, others);
    else this.#runningIn.delete(left);
    for (const [lane, queue] of this.#lanes) {
      if (!this.#hasRoom(lane)) continue;
      const first = queue.shift();
      this.#lanes.delete(lane);
      if (queue.length > 0) this.#lanes.set(lane, queue);
      this.#waiting -= 1;
      this.#enter(lane);
      first?.timer.cancel();
      first?.begin();
      return;
    }
  }
}
