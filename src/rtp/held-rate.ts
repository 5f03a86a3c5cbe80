/** What was stored, or held up on the way, is over sooner. */
const MEASURED_MS = 32_000;
/** Frames that need not be held, for so long, don't end it. */
const MAX_FREE_MS = 2_000;

/** How fast a clock runs that leads beyond all reason: time is held there, and no trend is seen. */
export class HeldRate {
  #sinceMs = Number.NaN;
  #fromMs = 0;
  #lastMs = 0;

  /** A frame at `countedMs` by the camera's count was held, or not. How many times as fast time passes; 0: that isn't known yet. */
  onFrame(isHeld: boolean, countedMs: number, arrivalMs: number): number {
    if (!isHeld) {
      if (arrivalMs - this.#lastMs >= MAX_FREE_MS) this.restart();
      return 0;
    }
    this.#lastMs = arrivalMs;
    if (Number.isNaN(this.#sinceMs)) {
      this.#sinceMs = arrivalMs;
      this.#fromMs = countedMs;
    }
    const passedMs = arrivalMs - this.#sinceMs;
    if (passedMs < MEASURED_MS) return 0;
    this.restart();
    const fromMs = this.#fromMs;
    return countedMs - fromMs > passedMs ? passedMs / (countedMs - fromMs) : 0;
  }

  /** What was counted before says nothing of what is counted now. */
  restart(): void {
    this.#sinceMs = Number.NaN;
  }
}
