/** For so long it may turn out to have been a congestion. */
const SUSPECT_MS = 120_000;
/** By so much frames come earlier from one second to the next, or than ever since, where what was held up comes at last. */
const ABRUPT_MS = 500;
/** So many in a row that only come earlier by the rate that was found are no burst. */
const BACK_FRAMES = 8;
const SECOND_MS = 1_000;

/** What has turned out: nothing yet; what was held up comes; the clock runs again as it did before. */
export type Verdict = 'none' | 'congestion' | 'back';

/**
 * A line that carries less than is sent looks like a clock that runs too slow. The end tells: frames come earlier all at
 * once by the rate that was found. If they also do by the count as it was before, they were held up, as no clock leaps;
 * else the clock is back at its old rate.
 */
export class Suspicion {
  isOn = false;
  /** The usual delay before all that. */
  usualMs = 0;
  /** The clock was found to be back; what the line holds may still come. */
  isBack = false;
  #untilMs = 0;
  #abruptFrames = 0;
  /** By the old count: the most that the least delay of a second was, and that of this second. */
  #mostMs = 0;
  #leastMs = 0;
  #secondStartMs = 0;

  /** `leastMs`: the least delay of the last second, by which it was found. */
  begin(usualMs: number, leastMs: number, nowMs: number): void {
    this.isOn = true;
    this.usualMs = usualMs;
    this.isBack = false;
    this.#abruptFrames = 0;
    this.#mostMs = leastMs;
    this.#leastMs = Number.POSITIVE_INFINITY;
    this.#secondStartMs = nowMs;
    this.prolong(nowMs);
  }

  /** A slower rate was found. */
  prolong(nowMs: number): void {
    this.#untilMs = nowMs + SUSPECT_MS;
  }

  end(): void {
    this.isOn = false;
  }

  /** A frame came so late by the rate that was found, where others of the last second did, and by the count of before. */
  judge(lateMs: number, lastLeastMs: number, oldLateMs: number, nowMs: number): Verdict {
    if (nowMs > this.#untilMs) {
      this.end();
      return 'none';
    }
    const isAbrupt = lateMs < Math.min(lastLeastMs, this.usualMs) - ABRUPT_MS;
    this.#abruptFrames = isAbrupt ? this.#abruptFrames + 1 : 0;
    if (this.#hasFallen(oldLateMs, nowMs) && (isAbrupt || this.isBack)) {
      this.end();
      return 'congestion';
    }
    if (this.#abruptFrames < BACK_FRAMES || this.isBack) return 'none';
    this.isBack = true;
    return 'back';
  }

  #hasFallen(oldLateMs: number, nowMs: number): boolean {
    this.#leastMs = Math.min(this.#leastMs, oldLateMs);
    const hasFallen = oldLateMs < this.#mostMs - ABRUPT_MS;
    if (nowMs - this.#secondStartMs >= SECOND_MS) {
      // What the line held was later than that before the clock was back: whatever it is late for since is something else.
      if (!this.isBack) this.#mostMs = Math.max(this.#mostMs, this.#leastMs);
      this.#leastMs = Number.POSITIVE_INFINITY;
      this.#secondStartMs = nowMs;
    }
    return hasFallen;
  }
}
