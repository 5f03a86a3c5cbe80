/** A page says four times a second how far it is, and what it wants whenever somebody moves something. */
const PER_SECOND = 30;
/** What came while this thread was held up comes at once. */
const BURST = 90;

/** How many messages a page may still send. */
export class Allowance {
  #left = BURST;
  #lastMs = Number.NaN;

  /** False: that was one too many. */
  take(nowMs: number): boolean {
    if (!Number.isNaN(this.#lastMs)) {
      this.#left = Math.min(BURST, this.#left + ((nowMs - this.#lastMs) / 1000) * PER_SECOND);
    }
    this.#lastMs = nowMs;
    this.#left -= 1;
    return this.#left >= 0;
  }
}
