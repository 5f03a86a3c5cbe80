/** Without a terminal a line a second would drown what else is printed. */
const LINE_EVERY_MS = 5_000;

/** One line that says what goes on: rewritten where somebody looks at a terminal, now and then a new one elsewhere. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY === true;
  #lastMs = Number.NEGATIVE_INFINITY;
  #lastStage = '';

  show(stage: string, text: string): void {
    if (this.#isTerminal) {
      process.stderr.write(`\r\x1b[2K${stage}: ${text}`);
      return;
    }
    const nowMs = performance.now();
    if (stage === this.#lastStage && nowMs - this.#lastMs < LINE_EVERY_MS) return;
    this.#lastMs = nowMs;
    this.#lastStage = stage;
    process.stderr.write(`${stage}: ${text}\n`);
  }

  /** Makes room for what is printed next. */
  clear(): void {
    if (this.#isTerminal) process.stderr.write('\r\x1b[2K');
  }
}
