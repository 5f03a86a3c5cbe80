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
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sweptMs >= SWEEP_EVERY_MS) {
      this.#sweptMs = nowMs;
      for (const [id, untilMs] of this.#untilMs) if (nowMs >= untilMs) this.#untilMs.delete(id);
    }
    const isNews = !this.has(cameraId);
    this.#untilMs.set(cameraId, nowMs + KNOWN_MS);
    return isNews;
  }

  has(cameraId: string): boolean {
    return this.#clock.monotonicMs() < (this.#untilMs.get(cameraId) ?? 0);
  }
}
