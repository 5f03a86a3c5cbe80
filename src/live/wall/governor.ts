/** How much of a stream is sent: every frame, keyframes alone, nothing. */
export type TileMode = 'all' | 'key' | 'off';

/** Of the streams so large a part is lowered at a time. */
const STEP_PART = 4;
/** A page that took everything for this long is given more. */
const RAISE_AFTER_MS = 10_000;
/** If it is behind again within this time, it was given too much. */
const TRIAL_MS = 30_000;
/** Each time that was too much it waits twice as long, up to this. */
const MAX_RAISE_AFTER_MS = 160_000;

/**
 * What a page that can't take everything does without: the least important streams go to keyframes first, then all
 * others, then they go off in the same order; the most important one keeps its keyframes.
 */
export class Governor {
  /** Steps down, over all streams. */
  #level = 0;
  #cleanSinceMs = 0;
  #raiseAfterMs = RAISE_AFTER_MS;
  #raisedMs = Number.NEGATIVE_INFINITY;

  /** The page was behind. */
  lower(streams: number, nowMs: number): void {
    const wasTooMuch = nowMs - this.#raisedMs < TRIAL_MS;
    this.#raiseAfterMs = wasTooMuch ? Math.min(2 * this.#raiseAfterMs, MAX_RAISE_AFTER_MS) : RAISE_AFTER_MS;
    this.#level = Math.min(this.#level + stepOf(streams), Math.max(0, 2 * streams - 1));
    this.#cleanSinceMs = nowMs;
  }

  /** The page is behind still, and nothing is to be raised. */
  hold(nowMs: number): void {
    this.#cleanSinceMs = nowMs;
  }

  /** True: it is given more from now on. */
  raise(streams: number, nowMs: number): boolean {
    if (this.#level === 0 || nowMs - this.#cleanSinceMs < this.#raiseAfterMs) return false;
    this.#level = Math.max(0, Math.min(this.#level, 2 * streams - 1) - stepOf(streams));
    this.#cleanSinceMs = nowMs;
    this.#raisedMs = nowMs;
    return true;
  }

  /** What is sent of the stream with so many less important ones than it. */
  modeOf(wanted: TileMode, rank: number, streams: number): TileMode {
    if (this.#level > streams + rank) return 'off';
    return this.#level > rank && wanted === 'all' ? 'key' : wanted;
  }
}

const stepOf = (streams: number): number => Math.max(1, Math.ceil(streams / STEP_PART));
