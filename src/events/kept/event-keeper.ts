import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { EventLog } from './event-log.js';
import type { PictureFiles } from './picture-files.js';
import type { PruneRules } from './pruning.js';

export type EventKeeperDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: Pick<EventLog, 'prune' | 'has'>;
  readonly pictures: Pick<PictureFiles, 'sweep'>;
  /** Read anew for each step. */
  readonly rules: () => Omit<PruneRules, 'maxEvents'>;
  readonly maxEvents?: number;
};

const SWEEP_MS = 60_000;
/** Between two steps: others get their turn. */
const STEP_MS = 100;
const MAX_EVENTS = 1_000_000;

/** Lets events go when their time is over, a bounded step at a time. */
export class EventKeeper {
  readonly #deps: EventKeeperDeps;
  #timer: Timer | null = null;
  #isFailing = false;

  constructor(deps: EventKeeperDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#next(STEP_MS);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #next(delayMs: number): void {
    this.#timer = this.#deps.clock.after(delayMs, () => this.#next(this.#step() ? STEP_MS : SWEEP_MS));
  }

  #step(): boolean {
    const { events, pictures, rules, log, maxEvents = MAX_EVENTS } = this.#deps;
    try {
      const isMore = events.prune({ ...rules(), maxEvents });
      this.#isFailing = false;
      if (!isMore) void pictures.sweep((id) => events.has(id));
      return isMore;
    } catch (fault) {
      if (!this.#isFailing) log.warn('old events could not be let go', { reason: messageOf(fault) });
      this.#isFailing = true;
      return false;
    }
  }
}
