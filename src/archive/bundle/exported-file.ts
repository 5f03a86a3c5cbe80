import type { Clip } from '../export/clip.js';
import type { PinnedClip } from '../export/pinned-clip.js';
import type { Gap } from '../list/intervals.js';
import { type Digest, RunningDigest } from './running-digest.js';

/** A time of a camera. */
export type ExportItem = { readonly cameraId: string; readonly fromMs: number; readonly toMs: number };

/** One file of an export: a clip, and its checksums as far as it was read. */
export class ExportedFile {
  readonly item: ExportItem;
  readonly name: string;
  readonly clip: PinnedClip;
  readonly gaps: readonly Gap[];
  readonly #digest: RunningDigest;
  #digesting: Promise<unknown> = Promise.resolve();

  constructor(item: ExportItem, name: string, clip: PinnedClip, gaps: readonly Gap[]) {
    this.item = item;
    this.name = name;
    this.clip = clip;
    this.gaps = gaps;
    this.#digest = new RunningDigest(clip.contentBytes);
  }

  /** Null before all of it was read once. */
  get digestSoFar(): Digest | null {
    return this.#digest.value;
  }

  /** Bytes [startByte, endByte), which are looked at while they pass. */
  async *read(startByte: number, endByte: number): AsyncGenerator<Buffer, void, undefined> {
    const clip = await this.clip.open();
    try {
      yield* this.#seen(clip, startByte, endByte);
    } finally {
      clip.close();
    }
  }

  /** The checksums; reads what nobody has read yet, once for all who ask. */
  async digest(): Promise<Digest> {
    const mine = this.#digesting.then(() => this.#finish());
    this.#digesting = mine.catch(() => {});
    await mine;
    return this.#digest.value!;
  }

  async #finish(): Promise<void> {
    if (this.#digest.value !== null) return;
    for await (const _ of this.read(this.#digest.seenBytes, this.clip.contentBytes));
  }

  async *#seen(clip: Clip, startByte: number, endByte: number): AsyncGenerator<Buffer, void, undefined> {
    let at = startByte;
    for await (const piece of clip.read(startByte, endByte)) {
      this.#digest.add(piece, at);
      at += piece.length;
      yield piece;
    }
  }
}
