import { readBeats } from './thread-stats.js';

/** A thread beats five times a second: in so many rounds of its watcher it should have beaten 50 times. */
const MISSED_ROUNDS = 10;
/** One that starts has its code to load, from a disk that may be slow. */
const STARTING_ROUNDS = 60;

/**
 * Tells whether a thread hangs, in rounds of the watcher's own, one a second. Rounds, not time: a machine that slept,
 * or a watcher that was held up itself, says nothing of the thread.
 */
export class BeatWatch {
  #shared: SharedArrayBuffer | null = null;
  #beats = 0;
  #missedRounds = 0;

  /** The thread runs, and this is its `ThreadStats.shared`. */
  begin(shared: SharedArrayBuffer): void {
    this.#shared = shared;
    this.#beats = readBeats(shared);
    this.#missedRounds = 0;
  }

  /** One round; true: the thread hangs. */
  round(): boolean {
    const beats = this.#shared === null ? this.#beats : readBeats(this.#shared);
    this.#missedRounds = beats === this.#beats ? this.#missedRounds + 1 : 0;
    this.#beats = beats;
    return this.#missedRounds >= (this.#shared === null ? STARTING_ROUNDS : MISSED_ROUNDS);
  }
}
