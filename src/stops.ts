import type { Logger } from './base/log.js';

/** What is built, in the order in which it is built; each step may push what undoes it. */
export class Stops {
  readonly #stops: (() => void | Promise<void>)[] = [];

  push(stop: () => void | Promise<void>): void {
    this.#stops.push(stop);
  }

  /** Undoes everything, last first; a fault in one step doesn't keep the others from theirs. */
  async run(log: Logger): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (fault) {
        log.error('a part of the service did not stop', { fault: String(fault) });
      }
    }
  }
}
