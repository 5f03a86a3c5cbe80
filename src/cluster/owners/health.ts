import type { HeldRow } from './report.js';

/** So many of a box's cameras, and such a part of them, are silent at once by no chance: it is the box that is cut off. */
const SUSPICIOUS_CAMERAS = 3;
const SUSPICIOUS_PART = 0.5;

/** How the cameras of a box are, all together. */
export class Health {
  #working = 0;
  #silent = 0;
  /** Those that work here, or did lately. */
  #known = 0;

  /** `by`: 1, or -1 where it is so no more. `isSilent`: whatever others are told. */
  count(held: HeldHealth, by: 1 | -1, isSilent = held.isSilent): void {
    const { isReady, isFailing, isTrial } = held;
    if (isReady) this.#working += by;
    if (isTrial || isFailing) return;
    this.#known += by;
    if (isSilent) this.#silent += by;
  }

  /** Whether any camera works there. */
  get isWorking(): boolean {
    return this.#working > 0;
  }

  /** Whether it rather is the box that has lost its cameras than cameras that are off. */
  get isSuspect(): boolean {
    return this.#silent >= SUSPICIOUS_CAMERAS && this.#silent >= this.#known * SUSPICIOUS_PART;
  }
}

type HeldHealth = Pick<HeldRow, 'isReady' | 'isSilent' | 'isFailing' | 'isTrial'>;
