import { decodeFrames } from './decode-gop.js';
import { type Gop, startUs } from './gop.js';
import type { GopStore } from './gop-store.js';
import { persistently } from './persistently.js';
import { messageOf, type Playing, type RecordedTimes, type Shown } from './shown.js';

/** Longer ones would take too much memory: they go back by keyframes. */
export const MAX_FRAMES = 120;
/** Copies are no wider: there are many of them. */
const COPY_WIDTH = 640;
/** Copies of two GOPs, that is. */
const MAX_GOPS = 2;

/** Backwards, each frame: a GOP is decoded forwards, kept as small copies, and shown from its end. */
export class ReversePlay implements Playing {
  fault: string | null = null;
  retrying: string | null = null;
  readonly #store: GopStore;
  readonly #times: RecordedTimes;
  readonly #abort = new AbortController();
  /** Newest first. */
  #copies: Shown[][] = [];
  #isAtEnd = false;
  #wake: () => void = () => {};

  /** `onLong` is told of GOPs that have too many frames. */
  constructor(store: GopStore, fromMs: number, times: RecordedTimes, onLong: () => void) {
    this.#store = store;
    this.#times = times;
    this.#run(fromMs, onLong).catch((fault: unknown) => {
      if (!this.#abort.signal.aborted) this.fault = messageOf(fault);
    });
  }

  at(timeMs: number): Shown | null {
    while (this.#copies.length > 1 && this.#copies[0]!.at(-1)!.wallMs > timeMs) this.#dropFirst();
    const found = this.#copies[0]?.find(({ wallMs }) => wallMs <= timeMs) ?? null;
    // The next GOP isn't decoded yet: the oldest one that is there stays.
    return found ?? this.#copies[0]?.at(-1) ?? null;
  }

  isReady(timeMs: number): boolean {
    const oldest = this.#copies.at(-1)?.at(-1);
    return this.fault !== null || this.#isAtEnd || (oldest !== undefined && oldest.wallMs <= timeMs);
  }

  close(): void {
    this.#abort.abort();
    this.#wake();
    while (this.#copies.length > 0) this.#dropFirst();
  }

  #dropFirst(): void {
    for (const { picture } of this.#copies.shift() ?? []) picture.close();
    this.#wake();
  }

  async #run(fromMs: number, onLong: () => void): Promise<void> {
    const { signal } = this.#abort;
    let gop = await this.#untilAnswered(() => this.#store.at(fromMs, signal));
    while (gop !== null && !signal.aborted) {
      if (gop.frames.length > MAX_FRAMES) return onLong();
      const copies = await this.#copiesOf(gop, this.#copies.length === 0 ? fromMs : Number.POSITIVE_INFINITY);
      if (signal.aborted) {
        for (const { picture } of copies) picture.close();
        return;
      }
      if (copies.length > 0) this.#copies.push(copies);
      const last = gop;
      const previous = this.#untilAnswered(() => this.#before(last));
      while (this.#copies.length >= MAX_GOPS && !signal.aborted)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      gop = await previous;
    }
    this.#isAtEnd = true;
  }

  #untilAnswered(ask: () => Promise<Gop | null>): Promise<Gop | null> {
    const tell = (why: string | null): void => {
      this.retrying = why;
    };
    return persistently(ask, tell, this.#abort.signal);
  }

  /** What was recorded before a GOP, be it before a gap. */
  async #before(gop: Gop): Promise<Gop | null> {
    const { signal } = this.#abort;
    const beside = await this.#store.previous(gop, signal);
    if (beside !== null) return beside;
    const recordedMs = this.#times.before(startUs(gop) / 1000 - 2);
    const found = recordedMs === null ? null : await this.#store.at(recordedMs - 1, signal);
    return found !== null && startUs(found) < startUs(gop) ? found : null;
  }

  async #copiesOf(gop: Gop, untilMs: number): Promise<Shown[]> {
    const copies: Promise<Shown>[] = [];
    const onPicture = (frame: VideoFrame, wallUs: number): void => {
      if (wallUs / 1000 > untilMs + 1) {
        frame.close();
        return;
      }
      const width = Math.min(COPY_WIDTH, frame.displayWidth);
      const height = Math.max(1, Math.round((frame.displayHeight * width) / frame.displayWidth));
      const copy = createImageBitmap(frame, { resizeWidth: width, resizeHeight: height })
        .then((picture) => ({ picture, wallMs: wallUs / 1000 }))
        .finally(() => frame.close());
      copies.push(copy);
    };
    await decodeFrames(gop.config, gop.frames, onPicture, this.#abort.signal);
    return (await Promise.all(copies)).sort((a, b) => b.wallMs - a.wallMs);
  }
}
