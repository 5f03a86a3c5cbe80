/** What is shown of a tile, from all of it to a still in a while. */
export const steps = ['full', 'sub', 'key', 'still'] as const;
export type Step = (typeof steps)[number];

export type GovernedTile = {
  readonly tile: number;
  /** The larger, the later it is lowered. */
  readonly importance: number;
  /** Whether the step to its smaller stream would change anything. */
  readonly hasSmaller: boolean;
};

/** What the decoders say of the last second. */
export type Load = {
  /** The longest queue of any decoder. */
  readonly queued: number;
  /** The longest that any picture was in a decoder. */
  readonly decodeMs: number;
  /** By how much a worker was late. */
  readonly lateMs: number;
};

const MAX_QUEUED = 6;
const MAX_DECODE_MS = 400;
const MAX_LATE_MS = 100;
const FIRST_CLEAN_MS = 30_000;
const MAX_CLEAN_MS = 600_000;
/** Overload within this time of a step up was because of it. */
const FAILED_WITHIN_MS = 10_000;
/** One late second is a hiccup. */
const BUSY_LOOKS = 2;
/** A step down takes effect first. */
const REST_MS = 2_000;

export const isOverloaded = ({ queued, decodeMs, lateMs }: Load): boolean =>
  queued > MAX_QUEUED || decodeMs > MAX_DECODE_MS || lateMs > MAX_LATE_MS;

/**
 * Shows less of the least important tiles while this machine doesn't keep up, and more again when it has for a while:
 * after a try that was too much it waits twice as long, after one that was not half as long.
 */
export class Governor {
  readonly #steps = new Map<number, Step>();
  #busyLooks = 0;
  #cleanSinceMs: number | null = null;
  #waitMs = FIRST_CLEAN_MS;
  #raisedMs = Number.NEGATIVE_INFINITY;
  /** Nothing was lowered since the last step up. */
  #hasRaised = false;
  #loweredMs = Number.NEGATIVE_INFINITY;

  stepOf(tile: number): Step {
    return this.#steps.get(tile) ?? 'full';
  }

  /** Called once a second; true where a tile's step is another one now. */
  look(nowMs: number, load: Load, tiles: readonly GovernedTile[]): boolean {
    for (const tile of this.#steps.keys())
      if (!tiles.some((each) => each.tile === tile)) this.#steps.delete(tile);
    if (isOverloaded(load)) {
      this.#cleanSinceMs = null;
      this.#busyLooks += 1;
      return this.#busyLooks >= BUSY_LOOKS && this.#lower(nowMs, tiles);
    }
    this.#busyLooks = 0;
    this.#cleanSinceMs ??= nowMs;
    if (nowMs - this.#cleanSinceMs < this.#waitMs) return false;
    this.#cleanSinceMs = nowMs;
    // The last step up was not too much, or there was none left to try: the next one is waited for half as long.
    if (this.#hasRaised || this.#steps.size === 0) this.#waitMs = Math.max(FIRST_CLEAN_MS, this.#waitMs / 2);
    if (this.#steps.size === 0) return false;
    this.#hasRaised = true;
    this.#raisedMs = nowMs;
    return this.#raise(tiles);
  }

  #lower(nowMs: number, tiles: readonly GovernedTile[]): boolean {
    if (nowMs - this.#raisedMs < FAILED_WITHIN_MS) {
      this.#waitMs = Math.min(this.#waitMs * 2, MAX_CLEAN_MS);
      this.#raisedMs = Number.NEGATIVE_INFINITY;
    }
    this.#hasRaised = false;
    if (nowMs - this.#loweredMs < REST_MS) return false;
    // All tiles give up one step before any gives up two, the least important ones first.
    const candidates = tiles
      .map((each) => ({ each, at: steps.indexOf(this.stepOf(each.tile)) }))
      .filter(({ at }) => at < steps.length - 1)
      .sort((a, b) => a.at - b.at || a.each.importance - b.each.importance);
    const [first] = candidates;
    if (first === undefined) return false;
    const next = first.at === 0 && !first.each.hasSmaller ? 2 : first.at + 1;
    this.#steps.set(first.each.tile, steps[next] ?? 'still');
    this.#loweredMs = nowMs;
    return true;
  }

  #raise(tiles: readonly GovernedTile[]): boolean {
    const candidates = tiles
      .map((each) => ({ each, at: steps.indexOf(this.stepOf(each.tile)) }))
      .filter(({ at }) => at > 0)
      .sort((a, b) => b.at - a.at || b.each.importance - a.each.importance);
    const [first] = candidates;
    if (first === undefined) return false;
    const next = first.at === 2 && !first.each.hasSmaller ? 0 : first.at - 1;
    if (next === 0) this.#steps.delete(first.each.tile);
    else this.#steps.set(first.each.tile, steps[next] ?? 'full');
    return true;
  }
}
