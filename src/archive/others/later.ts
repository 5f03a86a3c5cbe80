import type { Clock, MonotonicMs } from '../../base/clock.js';

type Refused = { readonly restMs: number; readonly dueMs: number };

/** What was refused, and is asked for again after a while: twice as long each time. */
export class Later {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #firstMs: number;
  readonly #mostMs: number;
  readonly #refused = new Map<string, Refused>();

  constructor(
    { firstMs, mostMs }: { readonly firstMs: number; readonly mostMs: number },
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.#clock = clock;
    this.#firstMs = firstMs;
    this.#mostMs = mostMs;
  }

  /** How many were refused when they were asked for last. */
  get size(): number {
    return this.#refused.size;
  }

  /** It is too soon to ask again. */
  isResting(what: string): boolean {
    const { dueMs } = this.#refused.get(what) ?? { dueMs: 0 };
    return this.#nowMs < dueMs;
  }

  refused(what: string): void {
    const { restMs = this.#firstMs / 2 } = this.#refused.get(what) ?? {};
    const nextMs = Math.min(restMs * 2, this.#mostMs);
    this.#refused.set(what, { restMs: nextMs, dueMs: this.#nowMs + nextMs });
  }

  done(what: string): void {
    this.#refused.delete(what);
  }

  /** Nothing is any more; answers what was. */
  clear(): string[] {
    const all = [...this.#refused.keys()];
    this.#refused.clear();
    return all;
  }

  /** Those that may be asked for again. */
  due(): string[] {
    return [...this.#refused.keys()].filter((what) => !this.isResting(what));
  }

  get #nowMs(): MonotonicMs {
    return this.#clock.monotonicMs();
  }
}
