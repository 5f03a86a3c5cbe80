import type { MonotonicMs } from '../../base/clock.js';

/** More are not told apart: whoever asked longest ago is forgotten. */
const MAX_POLLERS = 5_000;

/** Who asks for a camera's playlists and files, as far as requests tell. */
export class Pollers {
  /** When each asked last; who asked longest ago comes first. */
  readonly #lastMs = new Map<string, MonotonicMs>();
  /** It is at the end already: many behind one address count as one. */
  #newest = '';

  note(key: string, nowMs: MonotonicMs): void {
    if (key !== this.#newest) this.#lastMs.delete(key);
    this.#newest = key;
    this.#lastMs.set(key, nowMs);
    if (this.#lastMs.size <= MAX_POLLERS) return;
    const [oldest] = this.#lastMs.keys();
    this.#lastMs.delete(oldest!);
  }

  /** How many have asked in the last `withinMs`. */
  count(nowMs: MonotonicMs, withinMs: number): number {
    for (const [key, lastMs] of this.#lastMs) {
      if (nowMs - lastMs <= withinMs) break;
      this.#lastMs.delete(key);
    }
    return this.#lastMs.size;
  }
}
