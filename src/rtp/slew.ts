/**
 * A correction of time that runs at an even rate, for ever or up to an end: how far each moment is moved. Before the
 * last turn it is as it was then: B-frames, and tracks that come a little later, are still to be placed there.
 */
export class Slew {
  #atTurn = 0;
  #length = 0;
  #shift = 0;
  #rate = 0;
  #rateBefore = 0;

  /** At which it runs, unless it has ended. */
  get rate(): number {
    return this.#rate;
  }

  shiftAt(at: number): number {
    const passed = at - this.#atTurn;
    return (
      this.#shift + (passed < 0 ? this.#rateBefore * passed : this.#rate * Math.min(passed, this.#length))
    );
  }

  /** At which it runs there. */
  rateAt(at: number): number {
    const passed = at - this.#atTurn;
    if (passed < 0) return this.#rateBefore;
    return passed < this.#length ? this.#rate : 0;
  }

  /** From `at` on it runs at another rate, for so long. */
  turn(at: number, rate: number, length = Number.POSITIVE_INFINITY): void {
    const isRunning = at < this.#atTurn + this.#length;
    this.#shift = this.shiftAt(at);
    this.#rateBefore = isRunning ? this.#rate : 0;
    this.#rate = rate;
    this.#atTurn = at;
    this.#length = length;
  }

  /** Nothing is corrected any more. */
  clear(): void {
    this.#shift = 0;
    this.#rate = 0;
    this.#rateBefore = 0;
    this.#length = 0;
  }
}
