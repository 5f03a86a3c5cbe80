import { type FrameMessage, shownUs } from './messages.js';

/** Fewer than a decoder is given at once, and than takes longer than to wait for the next keyframe. */
const MAX_FRAMES = 240;
const MAX_BYTES = 8_000_000;

/** What came since the last keyframe, as it came: a decoder that follows one that failed can begin there at once. */
export class KeptFrames {
  #frames: FrameMessage[] = [];
  #bytes = 0;
  #isTaken = false;

  /** The frames since this keyframe were taken once; what is wrong after that may be wrong with them. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  add(frame: FrameMessage): void {
    if (frame.isKey) {
      this.clear();
      this.#isTaken = false;
    } else if (this.#frames.length === 0) return;
    this.#bytes += frame.data.length;
    if (this.#frames.length >= MAX_FRAMES || this.#bytes > MAX_BYTES) this.clear();
    else this.#frames.push(frame);
  }

  clear(): void {
    this.#frames = [];
    this.#bytes = 0;
  }

  /** All of them, once for each keyframe, and when the newest picture among them is shown; null: there are none. */
  take(): { readonly frames: readonly FrameMessage[]; readonly newestUs: number } | null {
    const frames = this.#frames;
    if (frames.length === 0) return null;
    this.clear();
    this.#isTaken = true;
    return { frames, newestUs: frames.reduce((newest, frame) => Math.max(newest, shownUs(frame)), 0) };
  }
}
