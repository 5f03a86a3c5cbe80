import type { Clock } from '../../base/clock.js';

const KNOWN_MS = 60 * 60_000;
const SWEEP_EVERY_MS = 60_000;

/** Cameras that ended threads at some box: known for an hour after that was told last, also when nobody is left to tell it. */
export class ThreadEnders {
  readonly #clock: Clock;
  readonly #untilMs = new Map<string, number>();
  #sweptMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether that is news. */
  add(cameraId: string): boolean {
    const isNews = !this.has(cameraId);
    this.#untilMs.set(cameraId, this.#clock.monotonicMs() + KNOWN_MS);
    return isNews;
  }

  has(cameraId: string): boolean {
    return this.#untilMs.has(cameraId);
  }

  /** Now and then: those that are known no more. */
  forgetOld(): string[] {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sweptMs < SWEEP_EVERY_MS) return [];
    this.#sweptMs = nowMs;
    const old = [...this.#untilMs].filter(([, untilMs]) => nowMs >= untilMs).map(([id]) => id);
    for (const id of old) this.#untilMs.delete(id);
    return old;
  }
}
