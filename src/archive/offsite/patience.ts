const MOST_KNOWN = 10_000;

/** How long what failed is left alone: longer each time that it fails again, be it one of many. */
export class Patience {
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #known = new Map<string, { readonly times: number; readonly untilMs: number }>();

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
  }

  /** `isSame`: nobody knows whether it was its own fault, so that it counts as the time before. Until when it waits. */
  fail(key: string, nowMs: number, isSame = false): number {
    const times = (this.#known.get(key)?.times ?? 0) + (isSame ? 0 : 1);
    const untilMs = nowMs + Math.min(this.#firstMs * 2 ** Math.max(times - 1, 0), this.#longestMs);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(key, { times, untilMs });
    return untilMs;
  }

  isWaiting(key: string, nowMs: number): boolean {
    return nowMs < (this.#known.get(key)?.untilMs ?? Number.NEGATIVE_INFINITY);
  }

  /** It failed before, and wasn't forgotten. */
  has(key: string): boolean {
    return this.#known.has(key);
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
