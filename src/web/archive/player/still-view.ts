import type { FrameMessage } from '../../player/messages.js';
import { decodeFrames } from './decode-gop.js';
import { type Gop, shownAt, shownOrder } from './gop.js';
import type { GopStore } from './gop-store.js';
import type { Shown } from './shown.js';

/** So many decoded neighbours stay on each side of the picture that is shown. */
const NEIGHBOURS = 8;

/** A camera that stands still: any picture of its recordings, and the ones beside it. */
export class StillView {
  readonly #store: GopStore;
  /** By the moment at which they were seen, in µs. */
  readonly #pictures = new Map<number, ImageBitmap>();
  #gop: Gop | null = null;
  #shownUs: number | null = null;

  constructor(store: GopStore) {
    this.#store = store;
  }

  /** The picture that was seen at a moment; null: nothing was recorded then. */
  async seek(timeMs: number, neighbours: number, signal: AbortSignal): Promise<Shown | null> {
    const gop = await this.#store.at(timeMs, signal);
    if (gop === null) return null;
    const order = shownOrder(gop);
    return this.#show(gop, order, Math.max(0, shownAt(order, timeMs * 1000 + 0.5)), neighbours, signal);
  }

  /** The next picture, or the one before; null: there is none beside it. */
  async step(direction: 1 | -1, signal: AbortSignal): Promise<Shown | null> {
    const gop = this.#gop;
    if (gop === null || this.#shownUs === null) return null;
    const order = shownOrder(gop);
    const index = shownAt(order, this.#shownUs) + direction;
    if (order[index] !== undefined) return this.#show(gop, order, index, NEIGHBOURS, signal);
    const beside =
      direction === 1 ? await this.#store.next(gop, signal) : await this.#store.previous(gop, signal);
    if (beside === null) return null;
    const besideOrder = shownOrder(beside);
    const at = direction === 1 ? 0 : besideOrder.length - 1;
    return this.#show(beside, besideOrder, at, NEIGHBOURS, signal);
  }

  close(): void {
    for (const picture of this.#pictures.values()) picture.close();
    this.#pictures.clear();
    this.#gop = null;
  }

  async #show(
    gop: Gop,
    order: readonly FrameMessage[],
    index: number,
    neighbours: number,
    signal: AbortSignal,
  ): Promise<Shown | null> {
    const wanted = order[index];
    if (wanted === undefined) return null;
    const wallUs = wanted.wallUs;
    let picture = this.#pictures.get(wallUs);
    if (picture === undefined) picture = await this.#decode(gop, order, index, neighbours, signal);
    if (picture === undefined || signal.aborted) return null;
    this.#gop = gop;
    this.#shownUs = wallUs;
    return { picture, wallMs: wallUs / 1000 };
  }

  /** From the keyframe on to where the neighbours end; resolves as soon as the wanted one is there. */
  #decode(
    gop: Gop,
    order: readonly FrameMessage[],
    index: number,
    neighbours: number,
    signal: AbortSignal,
  ): Promise<ImageBitmap | undefined> {
    const wallUs = order[index]!.wallUs;
    const kept = order.slice(Math.max(0, index - neighbours), index + neighbours + 1);
    const keptUs = new Set(kept.map((frame) => frame.wallUs));
    for (const [atUs, picture] of this.#pictures)
      if (!keptUs.has(atUs)) {
        picture.close();
        this.#pictures.delete(atUs);
      }
    const last = gop.frames.findLastIndex((frame) => keptUs.has(frame.wallUs));
    return new Promise((resolve, reject) => {
      const copies: Promise<void>[] = [];
      const onPicture = (frame: VideoFrame, atUs: number): void => {
        if (!keptUs.has(atUs) || this.#pictures.has(atUs)) {
          frame.close();
          return;
        }
        const copying = createImageBitmap(frame)
          .then((copy) => {
            if (signal.aborted || this.#pictures.has(atUs)) {
              copy.close();
              return;
            }
            this.#pictures.set(atUs, copy);
            if (atUs === wallUs) resolve(copy);
          })
          .finally(() => frame.close());
        copies.push(copying);
      };
      decodeFrames(gop.config, gop.frames.slice(0, last + 1), onPicture, signal)
        .then(() => Promise.all(copies))
        .then(() => resolve(this.#pictures.get(wallUs)))
        .catch(reject);
    });
  }
}
