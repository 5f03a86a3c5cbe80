import type { Clock, MonotonicMs } from '../base/clock.js';

/** An answer is good for this long, so that many askers cost one probe a second. */
const KEEP_MS = 1_000;

/**
 * Asks something that may hang, such as a disk. One probe runs at a time, however many ask; who asks waits for
 * `timeoutMs` from its start at most, and gets `late` beyond that. A probe that hangs is not started again until
 * it ends: each would hold a thread of the pool that everything else on disk needs.
 */
export class BoundedProbe<Answer> {
  readonly #probe: () => Promise<Answer>;
  readonly #timeoutMs: number;
  readonly #late: Answer;
  readonly #clock: Clock;
  #running: Promise<Answer> | null = null;
  #last: { readonly answer: Answer; readonly atMs: MonotonicMs } | null = null;

  /** `probe` must not reject: what went wrong is an answer too. */
  constructor(
    options: { timeoutMs: number; late: Answer },
    deps: { clock: Clock; probe: () => Promise<Answer> },
  ) {
    this.#timeoutMs = options.timeoutMs;
    this.#late = options.late;
    this.#clock = deps.clock;
    this.#probe = deps.probe;
  }

  /** The answer as of the last second, or `late`. */
  read(): Promise<Answer> {
    if (this.#running !== null) return this.#running;
    const last = this.#last;
    if (last !== null && this.#clock.monotonicMs() - last.atMs < KEEP_MS) return Promise.resolve(last.answer);
    this.#running = this.#run();
    return this.#running;
  }

  #run(): Promise<Answer> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(this.#timeoutMs, () => resolve(this.#late));
      void this.#probe().then((answer) => {
        timer.cancel();
        this.#running = null;
        this.#last = { answer, atMs: this.#clock.monotonicMs() };
        resolve(answer);
      });
    });
  }
}
