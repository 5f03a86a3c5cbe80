import type { Clock } from '../../base/clock.js';

/** Lets bytes go at so much a second, whoever sends them. */
export class Pacer {
  readonly #bytesPerMs: number | null;
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs'>;
  #freeMs = 0;

  /** `mbit` a second; null: as fast as it goes. */
  constructor(mbit: number | null, clock: Pick<Clock, 'after' | 'monotonicMs'>) {
    this.#bytesPerMs = mbit === null ? null : (mbit * 1_000_000) / 8 / 1_000;
    this.#clock = clock;
  }

  /** Resolves when so many may go, or when the signal says that nothing goes any more. */
  async pace(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#bytesPerMs === null) return;
    const nowMs = this.#clock.monotonicMs();
    const atMs = Math.max(this.#freeMs, nowMs);
    this.#freeMs = atMs + bytes / this.#bytesPerMs;
    const waitMs = this.#freeMs - nowMs;
    if (waitMs < 1 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(waitMs, () => end());
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      signal.addEventListener('abort', end);
    });
  }
}
