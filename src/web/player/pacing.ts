import { quantile } from './lag.js';

/** So much later than it might a picture is shown at most. */
export const MAX_PACE_MS = 150;
const KEPT_SAMPLES = 64;
/** What is late is told by many pictures: it is looked at anew once in so many. */
const LOOK_EVERY = 8;
/** More would leave a decoder without pictures to draw on. */
const MAX_WAITING = 6;

/** When pictures are to be shown so that they follow each other as evenly as they were taken. */
export class Pacer {
  /** By how much all but the latest of the last pictures came later than the earliest. */
  delayMs = 0;
  #delaysMs: number[] = [];
  #at = 0;
  #lastDueMs = Number.NEGATIVE_INFINITY;

  /** When a picture that came now is due; never more than `MAX_PACE_MS` from now, and never before the one before it. */
  dueMs(nowMs: number, shownMs: number): number {
    this.#delaysMs[this.#at] = nowMs - shownMs;
    this.#at = (this.#at + 1) % KEPT_SAMPLES;
    const leastMs = Math.min(...this.#delaysMs);
    if (this.#at % LOOK_EVERY === 0)
      this.delayMs = Math.min(MAX_PACE_MS, quantile(this.#delaysMs, 0.95) - leastMs);
    this.#lastDueMs = Math.max(nowMs, this.#lastDueMs, shownMs + leastMs + this.delayMs);
    return this.#lastDueMs;
  }

  /** Another stream, or one that was behind: what was before says nothing of it. */
  reset(): void {
    this.delayMs = 0;
    this.#delaysMs = [];
    this.#at = 0;
    this.#lastDueMs = Number.NEGATIVE_INFINITY;
  }
}

type Closable = { close(): void };

/** Pictures that wait until they are due. Each is handed out once, or closed. */
export class PictureQueue<Picture extends { readonly frame: Closable }> {
  readonly #waiting: { readonly picture: Picture; dueMs: number }[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Takes the picture over. Where it is due at once, those before it are late. */
  add(picture: Picture, dueMs: number, nowMs: number): void {
    if (dueMs <= nowMs) this.clear();
    this.#waiting.push({ picture, dueMs });
    const [first, second] = this.#waiting;
    if (first === undefined || this.#waiting.length < MAX_WAITING) return;
    // They come faster than they become due: the oldest ones go first.
    if (this.#waiting.length === MAX_WAITING) first.dueMs = nowMs;
    else {
      this.#waiting.shift();
      first.picture.frame.close();
      if (second !== undefined) second.dueMs = nowMs;
    }
  }

  /** The newest picture that is due; the caller closes it. */
  take(nowMs: number): Picture | null {
    let taken: Picture | null = null;
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined || first.dueMs > nowMs) return taken;
      this.#waiting.shift();
      taken?.frame.close();
      taken = first.picture;
    }
  }

  clear(): void {
    for (const { picture } of this.#waiting) picture.frame.close();
    this.#waiting.length = 0;
  }
}
