import { at, type Element, textOf, utcMs } from '../../analytics/xml-tree.js';
import type { MonotonicMs } from '../../base/clock.js';

/** So long a camera may wait for something to tell: one request then stands for all of that time. */
export const WAIT_SEC = 20;
/** Who keeps it longer than it was asked to is told as often all the same that we are there. */
const RENEW_AFTER_MS = 30_000;
/** None that is meant lasts less (ONVIF Core §9.1 has a minute in its examples), and what takes over costs some questions. */
const LEAST_TERM_MS = 10_000;
/** An end that is later by less is the same: some clocks know no less than a second. */
const SAME_END_MS = 2_000;
/** So long before its end the next one is made: a slow camera takes its time. */
const SPARE_MS = 10_000;

/** How long from now, by the camera's clock alone; null: it doesn't say, or nothing that can be. */
const toldMs = (answer: Element): number | null => {
  const nowMs = utcMs(textOf(at(answer, 'CurrentTime')));
  const endMs = utcMs(textOf(at(answer, 'TerminationTime')));
  if (nowMs === null || endMs === null || endMs <= nowMs) return null;
  return endMs - nowMs;
};

/** Of one that was made, or renewed. */
const termMs = (answer: Element): number | null => {
  const ms = toldMs(answer);
  return ms === null ? null : Math.max(ms, LEAST_TERM_MS);
};

/** How long a pull point lasts by what its camera says, and what is to be done before it ends. */
export class Lifetime {
  #grantedAtMs = 0 as MonotonicMs;
  /** For so long; null: nobody knows. */
  #termMs: number | null = null;
  /** Null: nobody knows. */
  #endMs: number | null = null;
  #hasNext = true;

  /** False: it was answered to the question for a renewal as if it was one, and ends when it would have ended. */
  renewed(answer: Element, askedMs: MonotonicMs): boolean {
    // Of a moment nothing is meant: some say so of pull points that have no end.
    const leftMs = toldMs(answer) ?? 0;
    if (leftMs > SAME_END_MS && Math.abs(askedMs + leftMs - (this.#endMs ?? 0)) < SAME_END_MS) return false;
    this.granted(answer, askedMs);
    return true;
  }

  /** Of what was asked for then it says for how long: of a pull point that was made, or renewed. */
  granted(answer: Element, askedMs: MonotonicMs): void {
    this.#grantedAtMs = askedMs;
    this.#termMs = termMs(answer) ?? this.#termMs;
    this.#endMs = this.#termMs === null ? null : askedMs + this.#termMs;
  }

  /** Many cameras keep a pull point for longer where it is used; none for less long. */
  prolonged(answer: Element, answeredMs: MonotonicMs): void {
    // Of one whose end is known it tells what is left, be it a moment.
    const leftMs = this.#endMs === null ? termMs(answer) : toldMs(answer);
    if (leftMs === null) return;
    this.#termMs ??= leftMs;
    this.#endMs = Math.max(this.#endMs ?? 0, answeredMs + leftMs);
  }

  /** There is none to follow: it is used for as long as it is there. */
  beLast(): void {
    this.#hasNext = false;
  }

  isRenewalDue(nowMs: MonotonicMs): boolean {
    const afterMs = Math.min((this.#termMs ?? Number.POSITIVE_INFINITY) / 2, RENEW_AFTER_MS);
    return nowMs - this.#grantedAtMs >= afterMs;
  }

  /** It is time for the next one. */
  endsSoon(nowMs: MonotonicMs): boolean {
    return this.#hasNext && this.#leftMs(nowMs) <= this.#spareMs;
  }

  /** For how long it may be asked now, so that there is time left before it ends. */
  waitSec(nowMs: MonotonicMs): number {
    const leftSec = Math.floor((this.#leftMs(nowMs) - this.#spareMs) / 1_000);
    // What is still there after its end has none.
    if (leftSec < 1) return this.#hasNext || this.#leftMs(nowMs) > 0 ? 1 : WAIT_SEC;
    return Math.min(leftSec, WAIT_SEC);
  }

  #leftMs(nowMs: MonotonicMs): number {
    return this.#endMs === null ? Number.POSITIVE_INFINITY : this.#endMs - nowMs;
  }

  get #spareMs(): number {
    return this.#termMs === null ? 0 : Math.min(this.#termMs / 3, SPARE_MS);
  }
}
