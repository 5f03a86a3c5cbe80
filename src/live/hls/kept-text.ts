import type { SegmentWindow } from './window.js';

/** Stands for what each viewer has behind its addresses; no playlist has it otherwise. */
const SUFFIX = '\0';

/** A playlist that is written once for all who ask for it until there is another. */
export class KeptText {
  readonly #write: (window: SegmentWindow, suffix: string) => string;
  #revision = -1;
  /** What stands between the suffixes. */
  #pieces: readonly string[] = [];
  /** The last one that was asked for: viewers without a session have the same. */
  #suffix: string | null = null;
  #text = '';

  constructor(write: (window: SegmentWindow, suffix: string) => string) {
    this.#write = write;
  }

  of(window: SegmentWindow, suffix: string): string {
    if (window.revision !== this.#revision) {
      this.#revision = window.revision;
      this.#pieces = this.#write(window, SUFFIX).split(SUFFIX);
      this.#suffix = null;
    }
    if (suffix !== this.#suffix) {
      this.#suffix = suffix;
      this.#text = this.#pieces.join(suffix);
    }
    return this.#text;
  }
}
