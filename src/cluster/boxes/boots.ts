import type { MonotonicMs } from '../../base/clock.js';
import { type Beat, type Boot, MAX_BOXES } from './beat.js';

/** Starts of boxes that aren't the present ones: more than end in the life of this one. */
const PAST_BOOTS = 1_024;

/** Which starts of other boxes were heard: those that are over, and those that spoke lately, whether they are believed or not. */
export class Boots {
  readonly #forgetMs: number;
  /** By start: the last word of it. */
  readonly #past = new Map<string, number>();
  /** By start, the last one that was heard last. */
  readonly #heard = new Map<string, Boot & { readonly atMs: MonotonicMs }>();

  constructor(forgetMs: number) {
    this.#forgetMs = forgetMs;
  }

  /** A start that is over doesn't come back, unless it goes on where another one of that name has ended (`isOtherHere`: it hasn't). */
  isNew({ box, boot, seq }: Beat, isOtherHere: boolean): boolean {
    const last = this.#past.get(`${box} ${boot}`);
    return last === undefined || (!isOtherHere && seq > last);
  }

  end({ box, boot, seq }: Beat): void {
    const key = `${box} ${boot}`;
    this.#past.delete(key);
    this.#past.set(key, seq);
    for (const oldest of this.#past.keys()) {
      if (this.#past.size <= PAST_BOOTS) break;
      this.#past.delete(oldest);
    }
    this.#heard.delete(key);
  }

  heard({ box, boot }: Beat, atMs: MonotonicMs): void {
    const key = `${box} ${boot}`;
    this.#heard.delete(key);
    this.#heard.set(key, { box, boot, atMs });
    for (const oldest of this.#heard.keys()) {
      if (this.#heard.size <= MAX_BOXES) break;
      this.#heard.delete(oldest);
    }
  }

  /** Those that spoke lately, the newest first; `nowMs` null: nobody has listened yet. */
  heardAt(nowMs: MonotonicMs | null): Boot[] {
    if (nowMs === null) return [];
    return [...this.#heard.values()].filter(({ atMs }) => nowMs - atMs < this.#forgetMs).reverse();
  }
}
