import type { Clock } from '../../base/clock.js';
import type { BoxesView } from '../boxes/box-table.js';

/** A box that was away gets nothing back before it was well for so long; a new one needs no such proof. */
const WELL_AFTER_MS = 60_000;
const NEW_AFTER_MS = 5_000;
/** So long it may take to find them. */
const STARTING_MS = 30_000;
/** So long nobody came or went. */
const QUIET_MS = 3_000;
/** A camera that didn't come over is left where it is for so long; twice as long after each time. */
const REFUSED_MS = 10 * 60_000;
const LONGEST_REFUSED_MS = 60 * 60_000;

/** Takes cameras over from boxes that have them, one at a time: the next one when the last one is there no more. */
export class Turn {
  readonly #clock: Clock;
  #startedMs = 0;
  /** Until then it finds the others. */
  #wasWell = false;
  #wellFromMs = 0;
  #quietFromMs = 0;
  #current: string | null = null;
  readonly #refused = new Map<string, { readonly untilMs: number; readonly forMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `isBack`: this box had cameras before. */
  begin(isBack: boolean): void {
    this.#startedMs = this.#clock.monotonicMs();
    this.#wellFromMs = this.#startedMs + (isBack ? WELL_AFTER_MS : NEW_AFTER_MS);
  }

  /** This box was away, or is not well. */
  unsettle(): void {
    this.#wellFromMs = this.#clock.monotonicMs() + WELL_AFTER_MS;
  }

  /** Somebody came or went. */
  changed(): void {
    this.#quietFromMs = this.#clock.monotonicMs() + QUIET_MS;
  }

  look({ isSettled, hasMajority }: BoxesView): void {
    const isWell = isSettled && hasMajority;
    this.#wasWell ||= isWell || this.#clock.monotonicMs() - this.#startedMs >= STARTING_MS;
    if (!isWell && this.#wasWell) this.unsettle();
  }

  /** It didn't work here. */
  refuse(cameraId: string): void {
    const before = this.#refused.get(cameraId);
    const forMs = before === undefined ? REFUSED_MS : Math.min(2 * before.forMs, LONGEST_REFUSED_MS);
    this.#refused.set(cameraId, { untilMs: this.#clock.monotonicMs() + forMs, forMs });
  }

  /** The one to take now, of those that are this box's by the hash; null: none. */
  next(cameraIds: readonly string[], isDone: (cameraId: string) => boolean): string | null {
    if (this.#current !== null && !isDone(this.#current)) return null;
    this.#current = null;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#wellFromMs || nowMs < this.#quietFromMs) return null;
    for (const [id, { untilMs }] of this.#refused)
      if (nowMs - untilMs >= LONGEST_REFUSED_MS) this.#refused.delete(id);
    this.#current = cameraIds.find((id) => nowMs >= (this.#refused.get(id)?.untilMs ?? 0)) ?? null;
    return this.#current;
  }
}
