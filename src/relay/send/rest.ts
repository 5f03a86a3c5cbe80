import type { Clock, MonotonicMs } from '../../base/clock.js';

/** Frames of many cameras come one by one, and each wakes the thread: from so many writes a second on it rests between. */
const BUSY_WRITES_PER_SEC = 400;
/** What a frame waits for that, at most; while the thread sleeps bells wake nobody. */
const REST_MS = 2;
const WINDOW_MS = 100;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Lets a busy thread sleep a moment at the end of each turn in which it wrote: it finds several frames then. */
export class Rest {
  readonly #clock: Clock;
  #writes = 0;
  #windowStartMs: MonotonicMs;
  #isBusy = false;
  #isScheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#windowStartMs = clock.monotonicMs();
  }

  onWrite(): void {
    this.#writes += 1;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isScheduled = false;
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#windowStartMs;
    if (elapsedMs >= WINDOW_MS) {
      this.#isBusy = (this.#writes * 1000) / elapsedMs >= BUSY_WRITES_PER_SEC;
      this.#writes = 0;
      this.#windowStartMs = nowMs;
    }
    if (this.#isBusy) Atomics.wait(sleeper, 0, 0, REST_MS);
  };
}
