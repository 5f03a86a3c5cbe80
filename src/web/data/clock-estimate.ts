/** Clocks of machines run apart by no more than that. */
const DRIFT = 0.000_5;
const MAX_HEARD = 16;
/** Ticks are never so late, unless what brings them stood still: then the one after is, too. */
const LATE_MS = 5_000;
const LATE_TICKS = 2;

type Heard = { readonly lowMs: number; readonly highMs: number; readonly atMs: number };

/**
 * How far the service's clock is ahead of one here that nobody sets. An answer bounds it from both sides: its time was told
 * after the question was sent and before it was heard. A tick bounds it from below alone, but is told every few seconds.
 * The truth lies within all bounds, which age: clocks drift. Where two contradict each other a clock was set, and what was
 * heard before is of another one.
 */
export class ClockEstimate {
  #heard: Heard[] = [];
  /** The shortest half of a way there and back: what is told is so old when it is heard. */
  #wayMs = Number.POSITIVE_INFINITY;
  #lateTicks = 0;

  noteAnswer(sentMs: number, serverMs: number, heardMs: number): void {
    this.#wayMs = Math.min(this.#wayMs, (heardMs - sentMs) / 2);
    this.#note({ lowMs: serverMs - heardMs, highMs: serverMs - sentMs, atMs: heardMs });
  }

  noteTick(serverMs: number, heardMs: number): void {
    const lowMs = serverMs - heardMs;
    const isLate = lowMs < this.#lowMs(heardMs) - LATE_MS;
    this.#lateTicks = isLate ? this.#lateTicks + 1 : 0;
    if (this.#lateTicks >= LATE_TICKS) this.#heard = [];
    this.#note({ lowMs, highMs: Number.POSITIVE_INFINITY, atMs: heardMs });
  }

  /** The clock here stood still for so long, as it does while the machine sleeps. */
  stoodStill(forMs: number): void {
    this.#heard = this.#heard.map(({ lowMs, highMs, atMs }) => ({
      ...{ lowMs: lowMs + forMs, highMs: highMs + forMs, atMs },
    }));
  }

  /** What the service's clock shows less what the one here does, and by how much that may be wrong; null: nothing was heard. */
  at(nowMs: number): { readonly offsetMs: number; readonly errorMs: number } | null {
    if (this.#heard.length === 0) return null;
    const lowMs = this.#lowMs(nowMs);
    const highMs = Math.max(this.#highMs(nowMs), lowMs);
    const wayMs = Number.isFinite(this.#wayMs) ? this.#wayMs : 0;
    const offsetMs = Math.min(lowMs + wayMs, (lowMs + highMs) / 2);
    return { offsetMs, errorMs: Math.max(offsetMs - lowMs, highMs - offsetMs) };
  }

  #note(heard: Heard): void {
    const { atMs } = heard;
    // Times are told in whole milliseconds.
    const isSet = heard.lowMs > this.#highMs(atMs) + 1 || heard.highMs < this.#lowMs(atMs) - 1;
    if (isSet) this.#heard = [];
    // Answers are rarer than ticks where a page only looks: neither kind may push out the other.
    const isTick = (each: Heard): boolean => each.highMs === Number.POSITIVE_INFINITY;
    const alike = this.#heard.filter((each) => isTick(each) === isTick(heard));
    const oldest = alike.length >= MAX_HEARD ? alike[0] : undefined;
    this.#heard = [...this.#heard.filter((each) => each !== oldest), heard];
  }

  #lowMs(nowMs: number): number {
    return Math.max(...this.#heard.map(({ lowMs, atMs }) => lowMs - DRIFT * (nowMs - atMs)));
  }

  #highMs(nowMs: number): number {
    return Math.min(...this.#heard.map(({ highMs, atMs }) => highMs + DRIFT * (nowMs - atMs)));
  }
}
