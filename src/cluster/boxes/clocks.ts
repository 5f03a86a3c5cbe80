/** From here on what boxes recorded of the same time can't be told to be the same. */
export const APART_MS = 2_000;
/** A clock that comes and goes around that isn't told of over and over. */
const TOGETHER_MS = 1_000;
/** Three seconds of beats; fewer than a few may all have been late. */
const MAX_SAMPLES = 10;
const LEAST_SAMPLES = 3;
const MAX_NAMED = 3;

/** A box as this one sees it. */
type Seen = { readonly name: string; readonly isHere: boolean; readonly aheadMs: number | null };

/** How far another box's clock is ahead of this one's: by that of its last beats which took least time to come. */
export class ClockDifference {
  readonly #samples: number[] = [];

  /** `saidMs`: what that clock showed when it was said; `heardMs`: what this one showed when it was heard. */
  add(saidMs: number, heardMs: number): void {
    this.#samples.push(saidMs - heardMs);
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
  }

  /** Null: it isn't known. */
  get aheadMs(): number | null {
    return this.#samples.length < LEAST_SAMPLES ? null : Math.max(...this.#samples);
  }
}

const inWords = (aheadMs: number): string =>
  `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'}`;

/** Which boxes' clocks are apart from this one's, as long as they are: it is told once of each. */
export class ClocksApart {
  readonly #apart = new Map<string, number>();

  /** Those that are apart since the last look, and those that aren't any more. */
  look(boxes: readonly Seen[]): {
    readonly parted: readonly string[];
    readonly joined: readonly string[];
  } {
    const [parted, joined]: [string[], string[]] = [[], []];
    const ahead = new Map(boxes.map(({ name, isHere, aheadMs }) => [name, isHere ? aheadMs : null]));
    for (const [name, aheadMs] of ahead)
      if (aheadMs !== null && Math.abs(aheadMs) > (this.#apart.has(name) ? TOGETHER_MS : APART_MS)) {
        if (!this.#apart.has(name)) parted.push(name);
        this.#apart.set(name, aheadMs);
      } else if (this.#apart.delete(name) && aheadMs !== null) joined.push(name);
    for (const name of this.#apart.keys()) if (!ahead.has(name)) this.#apart.delete(name);
    return { parted, joined };
  }

  /** Null: none is. */
  get fault(): string | null {
    if (this.#apart.size === 0) return null;
    const named = [...this.#apart].slice(0, MAX_NAMED);
    const told = named.map(([name, aheadMs]) => `that of ${name} is ${inWords(aheadMs)} this one's`);
    const more = this.#apart.size > MAX_NAMED ? `, and ${this.#apart.size - MAX_NAMED} more` : '';
    return `clocks are apart, so that what boxes record of the same camera is joined wrongly: ${told.join(', ')}${more}`;
  }
}
