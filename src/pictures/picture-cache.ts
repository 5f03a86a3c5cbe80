import type { AppError } from '../base/errors.js';
import type { Picture } from './picture.js';

/** What came of a keyframe: a picture, or that none can be made of it. */
export type Kept = {
  /** The keyframe's name. */
  readonly keyframe: string;
  readonly outcome: Picture | AppError;
  /** Until then nobody looks whether there is another one. */
  readonly goodUntilMs: number;
};

/** What an entry takes beside its picture. */
const ENTRY_BYTES = 1_000;

const bytesOf = ({ outcome }: Kept): number => ENTRY_BYTES + ('jpeg' in outcome ? outcome.jpeg.length : 0);

/** The pictures that were asked for last, as many as fit. */
export class PictureCache {
  readonly #maxBytes: number;
  /** Of each camera, by what was wanted; the one that was asked for last is the last one. */
  readonly #kept = new Map<string, Kept & { readonly cameraId: string }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Kept | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept;
  }

  set(key: string, cameraId: string, kept: Kept): void {
    this.#delete(key);
    this.#kept.set(key, { ...kept, cameraId });
    this.#bytes += bytesOf(kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#delete(oldest);
    }
  }

  forget(cameraId: string): void {
    for (const [key, kept] of this.#kept) if (kept.cameraId === cameraId) this.#delete(key);
  }

  #delete(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= bytesOf(kept);
  }
}
