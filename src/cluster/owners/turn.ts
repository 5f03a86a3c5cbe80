import type { Clock } from '../../base/clock.js';
import type { BoxesView } from '../boxes/box-table.js';
import { Refusals } from './refusals.js';

/** A box that was away gets nothing back before it was well for so long; a new one needs no such proof. */
const WELL_AFTER_MS = 60_000;
const NEW_AFTER_MS = 5_000;
/** So long it may take to find them. */
const STARTING_MS = 30_000;
/** So long nobody came or went. */
const QUIET_MS = 3_000;
/** A camera that didn't come over is left where it is for so long at first. */
const REFUSED_MS = 10 * 60_000;

/** Takes cameras over from boxes that have them, one at a time: the next one when the last one is there no more. */
export class Turn {
  readonly #clock: Clock;
  #startedMs = 0;
  /** Until then it finds the others. */
  #wasWell = false;
  #wellFromMs = 0;
  #quietFromMs = 0;
  #current: string | null = null;
  readonly #refused: Refusals;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#refused = new Refusals(clock);
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
    this.#refused.add(cameraId, REFUSED_MS);
  }

  /** Another one has it now, as it worked here no more. A box that was away is well before it gets any back: that is no word of its cameras. */
  lost(cameraId: string): void {
    if (this.#clock.monotonicMs() >= this.#wellFromMs) this.refuse(cameraId);
  }

  /** The one to take now, of those that are this box's by the hash; null: none. */
  next(cameraIds: readonly string[], isDone: (cameraId: string) => boolean): string | null {
    if (this.#current !== null && !isDone(this.#current)) return null;
    this.#current = null;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#wellFromMs || nowMs < this.#quietFromMs) return null;
    // Many that don't come over would have their turn again before the last others had theirs at all.
    this.#current =
      cameraIds.find((id) => !this.#refused.had(id)) ??
      cameraIds.find((id) => !this.#refused.has(id)) ??
      null;
    return this.#current;
  }
}
