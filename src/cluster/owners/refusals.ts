import type { Clock } from '../../base/clock.js';

const LONGEST_MS = 60 * 60_000;
const SWEEP_EVERY_MS = 60_000;

/** Cameras that this box leaves alone for a while: twice as long after each time, an hour at most. */
export class Refusals {
  readonly #clock: Clock;
  readonly #until = new Map<string, { readonly untilMs: number; readonly forMs: number }>();

  #sweptMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `firstMs`: for how long the first time. */
  add(cameraId: string, firstMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#sweep(nowMs);
    const before = this.#until.get(cameraId);
    const forMs = before === undefined ? firstMs : Math.min(2 * before.forMs, LONGEST_MS);
    this.#until.set(cameraId, { untilMs: nowMs + forMs, forMs });
  }

  /** What is long over is forgotten. */
  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < SWEEP_EVERY_MS) return;
    this.#sweptMs = nowMs;
    for (const [id, { untilMs }] of this.#until) if (nowMs - untilMs >= LONGEST_MS) this.#until.delete(id);
  }

  /** It was left alone lately, and may be again. */
  had(cameraId: string): boolean {
    return this.#until.has(cameraId);
  }

  has(cameraId: string): boolean {
    return this.#clock.monotonicMs() < (this.#until.get(cameraId)?.untilMs ?? 0);
  }
}
