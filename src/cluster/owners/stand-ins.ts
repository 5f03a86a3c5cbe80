import type { Clock } from '../../base/clock.js';
import { Refusals } from './refusals.js';

/** Of one box's cameras so many are tried at the same time, until one of them has answered here; and of all boxes' together. */
const CANARIES = 8;
const MOST_CANARIES = 32;
/** What one camera has shown counts for the others of its box for so long. */
const PROVEN_MS = 5_000;
/** Where it didn't work here, and where it worked again there, it is left alone for so long; twice as long each time. */
const FAILED_MS = 60_000;
const NEEDLESS_MS = 15_000;

/** A camera that this box records for another one, which gets nothing from it. */
export type StandIn = {
  /** The box that has it. */
  readonly standsInFor: string | null;
  /** When the camera had last said that it sends; null: it never did. */
  readonly answeredMs: number | null;
};

/**
 * Which cameras of others this box records beside them, as they are silent there. It may be that box, its network, or the camera:
 * some few are tried first, and the others when one has answered.
 */
export class StandIns {
  readonly #clock: Clock;
  readonly #left: Refusals;
  /** Boxes that others reach the cameras of. */
  readonly #provenUntilMs = new Map<string, number>();
  /** By the box that has them. */
  readonly #asked = new Map<string, string[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#left = new Refusals(clock);
  }

  isLeftAlone(cameraId: string): boolean {
    return this.#left.has(cameraId);
  }

  failed(cameraId: string): void {
    this.#left.add(cameraId, FAILED_MS);
  }

  needless(cameraId: string): void {
    this.#left.add(cameraId, NEEDLESS_MS);
  }

  /** A camera of that box has answered here. */
  proven(box: string): void {
    this.#provenUntilMs.set(box, this.#clock.monotonicMs() + PROVEN_MS);
  }

  ask(cameraId: string, box: string): void {
    const ids = this.#asked.get(box);
    if (ids === undefined) this.#asked.set(box, [cameraId]);
    else ids.push(cameraId);
  }

  /** Of those that were asked for since the last time: which ones now, and for whom. */
  choose(under: Iterable<StandIn>): Map<string, string> {
    const chosen = new Map<string, string>();
    if (this.#asked.size === 0) return chosen;
    const nowMs = this.#clock.monotonicMs();
    const trying = new Map<string, number>();
    let canaries = 0;
    for (const { standsInFor: box, answeredMs } of under) {
      if (box === null || answeredMs !== null) continue;
      trying.set(box, (trying.get(box) ?? 0) + 1);
      canaries += 1;
    }
    for (const [box, ids] of this.#asked) {
      const isProven = nowMs < (this.#provenUntilMs.get(box) ?? 0);
      const most = Math.min(CANARIES - (trying.get(box) ?? 0), MOST_CANARIES - canaries);
      const count = isProven ? ids.length : Math.max(0, Math.min(ids.length, most));
      // From all over: those beside each other may have one switch that is off.
      for (let at = 0; at < count; at++) chosen.set(ids[Math.floor((at * ids.length) / count)]!, box);
      canaries += isProven ? 0 : count;
    }
    this.#asked.clear();
    return chosen;
  }
}
