import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { archiveError } from '../archive-error.js';
import type { Clip } from '../export/clip.js';
import type { PinnedClip } from '../export/pinned-clip.js';
import type { Gap } from '../list/intervals.js';
import { type Digest, RunningDigest } from './running-digest.js';

/** A time of a camera. */
export type ExportItem = { readonly cameraId: string; readonly fromMs: number; readonly toMs: number };

type Facts = Pick<ExportedFile, 'item' | 'name' | 'clip' | 'gaps' | 'subtitles'>;

/** In the middle of a zip file it is too late to tell a client to come again: it waits instead, for about so long. */
const BUSY_TRIES = 120;
const BUSY_WAIT_MS = 500;

/** One file of an export: a clip, and its checksums as far as it was read. */
export class ExportedFile {
  readonly item: ExportItem;
  readonly name: string;
  readonly clip: PinnedClip;
  readonly gaps: readonly Gap[];
  /** What was seen, as WebVTT; null: nothing, or too much. */
  readonly subtitles: Buffer | null;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #digest: RunningDigest;
  #digesting: Promise<unknown> = Promise.resolve();

  constructor(
    { item, name, clip, gaps, subtitles }: Facts,
    { clock }: { readonly clock: Pick<Clock, 'after'> },
  ) {
    this.#clock = clock;
    this.item = item;
    this.name = name;
    this.clip = clip;
    this.gaps = gaps;
    this.subtitles = subtitles;
    this.#digest = new RunningDigest(clip.contentBytes);
  }

  /** Players find it beside the clip. */
  get subtitlesName(): string {
    return this.name.replace(/\.mp4$/, '.vtt');
  }

  /** Null before all of it was read once. */
  get digestSoFar(): Digest | null {
    return this.#digest.value;
  }

  /** Bytes [startByte, endByte), which are looked at while they pass, until nobody wants them any more. */
  async *read(
    startByte: number,
    endByte: number,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, void, undefined> {
    const clip = await this.#opened(signal);
    try {
      for await (const piece of this.#seen(clip, startByte, endByte)) {
        if (signal.aborted) return;
        yield piece;
      }
    } finally {
      clip.close();
    }
  }

  /** The checksums; reads what nobody has read yet, once for all who ask. Throws where nobody wants it any more. */
  async digest(signal: AbortSignal): Promise<Digest> {
    const mine = this.#digesting.then(() => this.#finish(signal));
    this.#digesting = mine.catch(() => {});
    return await mine;
  }

  async #finish(signal: AbortSignal): Promise<Digest> {
    const { contentBytes } = this.clip;
    if (this.#digest.value === null)
      for await (const _ of this.read(this.#digest.seenBytes, contentBytes, signal));
    if (this.#digest.value === null) throw archiveError('archive_busy', 'nobody waits for this export');
    return this.#digest.value;
  }

  async #opened(signal: AbortSignal): Promise<Clip> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.clip.open();
      } catch (fault) {
        const isBusy = fault instanceof AppError && fault.code === 'archive_busy';
        if (!isBusy || tries === BUSY_TRIES || signal.aborted) throw fault;
      }
      await new Promise<void>((resolve) => void this.#clock.after(BUSY_WAIT_MS, resolve));
    }
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
