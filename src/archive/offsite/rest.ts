import type { Clock } from '../../base/clock.js';

/** Waits of a loop, which may be told that there is more to do. */
export class Rest {
  readonly #clock: Pick<Clock, 'after'>;
  #wake: (isEnd: boolean) => void = () => {};
  #isWoken = false;
  #isOver = false;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** There may be more to do: the wait that goes on ends, if it may, or the next one. */
  wake(): void {
    this.#isWoken = true;
    this.#wake(false);
  }

  /** No wait lasts any more. */
  end(): void {
    this.#isOver = true;
    this.#wake(true);
  }

  for(ms: number, { mayBeWoken }: { readonly mayBeWoken: boolean }): Promise<void> {
    if (this.#isOver || (mayBeWoken && this.#isWoken)) {
      this.#isWoken = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const timer = this.#clock.after(ms, () => end());
      const end = (): void => {
        timer.cancel();
        this.#isWoken = false;
        this.#wake = () => {};
        resolve();
      };
      this.#wake = (isEnd) => {
        if (mayBeWoken || isEnd) end();
      };
    });
  }
}
