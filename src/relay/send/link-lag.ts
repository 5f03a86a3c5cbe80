import type { MonotonicMs } from '../../base/clock.js';

/** Marks are made so far apart: a link has a few dozen at most. */
const MARK_EVERY_MS = 100;

/** How far the other side of a link is behind, by what it says that it has read. */
export class LinkLag {
  sentBytes = 0;
  #seenBytes = 0;
  /** Up to which byte was sent by when, the oldest first. */
  readonly #marks: { readonly bytes: number; readonly sentMs: MonotonicMs }[] = [];

  onSent(bytes: number, nowMs: MonotonicMs): void {
    this.sentBytes += bytes;
    const last = this.#marks.at(-1);
    if (last === undefined || nowMs - last.sentMs >= MARK_EVERY_MS)
      this.#marks.push({ bytes: this.sentBytes, sentMs: nowMs });
  }

  /** False: it says that it has read what was never sent. */
  onSeen(bytes: number): boolean {
    if (!(bytes >= this.#seenBytes && bytes <= this.sentBytes)) return false;
    this.#seenBytes = bytes;
    while (this.#marks.length > 0 && this.#marks[0]!.bytes <= bytes) this.#marks.shift();
    return true;
  }

  /** For how long what was sent has not been read. */
  lagMs(nowMs: MonotonicMs): number {
    const oldest = this.#marks[0];
    return oldest === undefined ? 0 : nowMs - oldest.sentMs;
  }
}
