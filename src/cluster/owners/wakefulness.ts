import type { Clock, MonotonicMs } from '../../base/clock.js';
import type { BoxesView } from '../boxes/box-table.js';

/** Whoever stood still so long knows nothing of the others. */
const STOOD_STILL_MS = 1_000;
/** Boxes that say no more of their cameras than that they live have none. */
const REPORT_WAIT_MS = 3_000;
/** A box that starts without the others goes on with what it had after so long, whoever is there. */
const ALONE_AFTER_MS = 5_000;
/** What others had is left to those who may be starting, too, for so long. */
const OTHERS_START_MS = 10_000;
/** What it had is another's, perhaps, after so long. */
const BACK_WITHIN_MS = 30_000;

/** Whether this box knows enough of the others to take cameras. */
export class Wakefulness {
  readonly #clock: Clock;
  readonly #lostMs: number;
  #startedMs: MonotonicMs;
  #awakeMs: MonotonicMs;
  #stillUntilMs = 0;
  /** Since when not all that are here have told what they have; null: they have. */
  #untoldMs: MonotonicMs | null = null;

  constructor(clock: Clock, lostMs: number) {
    this.#clock = clock;
    this.#lostMs = lostMs;
    this.#startedMs = clock.monotonicMs();
    this.#awakeMs = this.#startedMs;
  }

  /** The service may have taken long to start. */
  begin(): void {
    this.#startedMs = this.#clock.monotonicMs();
    this.#awakeMs = this.#startedMs;
  }

  /** To be called at every turn. True: it stood still, and what came meanwhile isn't read yet. */
  notice(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const stoodStill = nowMs - this.#awakeMs > STOOD_STILL_MS;
    if (stoodStill) this.#stillUntilMs = nowMs + this.#lostMs;
    this.#awakeMs = nowMs;
    return stoodStill;
  }

  /** Whether what it had when it ended may still be its own. */
  get mayBeBack(): boolean {
    return this.#clock.monotonicMs() - this.#startedMs < BACK_WITHIN_MS;
  }

  /** Whether it may take what others had, and what it had itself. `isTold`: all that are here have told what they have. */
  permissions(view: BoxesView, isTold: boolean): readonly [any: boolean, had: boolean] {
    const nowMs = this.#clock.monotonicMs();
    // One that starts again and again, and never says what it has, is not waited for each time.
    this.#untoldMs = isTold ? null : (this.#untoldMs ?? nowMs);
    const isKnown = this.#untoldMs === null || nowMs - this.#untoldMs >= REPORT_WAIT_MS;
    const upMs = nowMs - this.#startedMs;
    const isAwake = isKnown && nowMs >= this.#stillUntilMs;
    const areAllHere = view.awaited.length === 0 || upMs >= OTHERS_START_MS;
    const mayTake = isAwake && view.isSettled && view.hasMajority;
    return [mayTake && areAllHere, mayTake || (isAwake && upMs >= ALONE_AFTER_MS)];
  }
}
