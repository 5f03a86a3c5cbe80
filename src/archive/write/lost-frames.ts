import type { Logger } from '../../base/log.js';

/** Counts video frames that could not be recorded, and tells of them now and then. */
export class LostFrames {
  readonly #log: Logger;
  readonly #onLost: (frames: number) => void;
  #untold = 0;

  constructor(deps: { readonly log: Logger; readonly onLost: (frames: number) => void }) {
    this.#log = deps.log;
    this.#onLost = deps.onLost;
  }

  add(frames: number): void {
    this.#untold += frames;
  }

  /** `isExpected`: the log says why already. */
  report(isExpected: boolean): void {
    if (this.#untold === 0) return;
    if (!isExpected) {
      this.#log.warn('the disk does not keep up: frames were not recorded', { lost_frames: this.#untold });
    }
    this.tell();
  }

  tell(): void {
    if (this.#untold > 0) this.#onLost(this.#untold);
    this.#untold = 0;
  }
}
