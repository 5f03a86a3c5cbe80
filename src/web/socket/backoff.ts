const FIRST_MS = 250;
const MAX_MS = 8_000;

/** How long to wait before the next try: twice as long each time, never all pages at the same moment. */
export class Backoff {
  #nextMs = FIRST_MS;
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  next(): number {
    const waitMs = this.#nextMs * (0.5 + this.#random() / 2);
    this.#nextMs = Math.min(this.#nextMs * 2, MAX_MS);
    return waitMs;
  }

  reset(): void {
    this.#nextMs = FIRST_MS;
  }
}
