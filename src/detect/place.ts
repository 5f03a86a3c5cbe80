import { overlapOf } from '../objects/box-overlap.js';
import type { Box } from '../objects/seen-object.js';

/** What overlaps so much with a place is there: boxes of what stands still shake, and are half hidden at times. */
const LEAST_OVERLAP = 0.5;
/** One box beside it may be wrong; it has left when it isn't there in so many pictures in a row, over some time. */
const LEFT_AFTER = { pictures: 2, ms: 500 } as const;
/** A place is the middle of so many boxes, the first ones: else it would creep along with what moves slowly. */
const MEASURED_BOXES = 10;

/** What was seen beside its place, since it was there last. */
export type Leaving = { readonly sinceMs: number; readonly pictures: number };

/** Where something is for as long as it stays there. */
export class Place {
  /** When it came. */
  readonly sinceMs: number;
  #box: Box;
  #boxes = 1;
  #leaving: Leaving | null = null;

  constructor(box: Box, wallMs: number) {
    this.#box = box;
    this.sinceMs = wallMs;
  }

  /** How much of a box and of the place is both's, where that is enough to be there; else 0. */
  holds(box: Box, least = LEAST_OVERLAP): number {
    const overlap = overlapOf(this.#box, box);
    return overlap >= least ? overlap : 0;
  }

  /** It is seen, here or beside it. Not null: it has left. */
  see(box: Box, wallMs: number): Leaving | null {
    if (this.holds(box) > 0) {
      this.#leaving = null;
      this.#measure(box);
      return null;
    }
    const { sinceMs, pictures } = this.#leaving ?? { sinceMs: wallMs, pictures: 0 };
    this.#leaving = { sinceMs, pictures: pictures + 1 };
    const hasLeft = pictures + 1 >= LEFT_AFTER.pictures && wallMs - sinceMs >= LEFT_AFTER.ms;
    return hasLeft ? this.#leaving : null;
  }

  #measure(box: Box): void {
    if (this.#boxes >= MEASURED_BOXES) return;
    this.#boxes += 1;
    const [x, y, width, height] = this.#box;
    const towards = (mean: number, value: number): number => mean + (value - mean) / this.#boxes;
    this.#box = [
      ...([towards(x, box[0]), towards(y, box[1])] as const),
      ...([towards(width, box[2]), towards(height, box[3])] as const),
    ];
  }
}
