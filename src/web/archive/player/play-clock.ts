import { endOfLane, type Lane, skipTo, stateAt } from '../tape/lane.js';

/** The large camera is waited for as long as this, and at the start of play for longer; the others never. */
const WAIT_MS = 500;
const START_WAIT_MS = 8_000;
/** A pause of the page's own is no time that was played. */
const MAX_TICK_MS = 250;

export type Tick = {
  readonly timeMs: number;
  readonly phase: 'playing' | 'waiting' | 'end';
  /** Where it went on because no camera had anything. */
  readonly skippedTo: number | null;
};

/** The one clock that all cameras follow, in UTC. */
export class PlayClock {
  #timeMs: number;
  readonly #rate: number;
  #waitedMs = 0;
  #hasBegun = false;

  constructor(timeMs: number, rate: number) {
    this.#timeMs = timeMs;
    this.#rate = rate;
  }

  /**
   * `sinceMs` of real time later; `isReady`: the large camera has its picture of the moment; `isCutOff`: no camera has,
   * as nobody answers: who plays loses nothing of it.
   */
  tick(sinceMs: number, lanes: readonly Lane[], isReady: boolean, isCutOff = false): Tick {
    const isBack = this.#rate < 0;
    const skippedTo = skipTo(lanes, this.#timeMs, isBack);
    if (skippedTo !== null && !this.#isOver(lanes, skippedTo, isBack)) {
      this.#timeMs = skippedTo;
      this.#begin();
      return { timeMs: skippedTo, phase: 'waiting', skippedTo };
    }
    if (this.#isOver(lanes, this.#timeMs, isBack))
      return { timeMs: this.#timeMs, phase: 'end', skippedTo: null };
    if (isCutOff) return { timeMs: this.#timeMs, phase: 'waiting', skippedTo: null };
    if (isReady) this.#hasBegun = true;
    this.#waitedMs = isReady ? 0 : this.#waitedMs + sinceMs;
    if (!isReady && this.#waitedMs < (this.#hasBegun ? WAIT_MS : START_WAIT_MS))
      return { timeMs: this.#timeMs, phase: 'waiting', skippedTo: null };
    this.#timeMs += Math.min(sinceMs, MAX_TICK_MS) * this.#rate;
    return { timeMs: this.#timeMs, phase: 'playing', skippedTo: null };
  }

  #begin(): void {
    this.#waitedMs = 0;
    this.#hasBegun = false;
  }

  /** Nothing is known to be recorded from there on. */
  #isOver(lanes: readonly Lane[], timeMs: number, isBack: boolean): boolean {
    if (lanes.length === 0) return false;
    if (isBack) {
      const begins = lanes.flatMap(({ recorded }) => recorded[0]?.[0] ?? []);
      const isKnown = lanes.every((lane) => stateAt(lane, timeMs).kind !== 'unknown');
      return isKnown && (begins.length === 0 || timeMs < Math.min(...begins));
    }
    const ends = lanes.flatMap((lane) => endOfLane(lane) ?? []);
    return ends.length > 0 && timeMs >= Math.max(...ends);
  }
}
