import { AppError } from '../base/errors.js';

/** So much is held at most, in all and for one viewer, until it is taken. */
export type HeldBytesOptions = { readonly maxBytes: number; readonly maxBytesOfViewer: number };

const RETRY_AFTER_SEC = 2;

/**
 * What is held in memory for responses that are each made for one client: whoever takes it slowly, by however many
 * connections, leaves room for others.
 */
export class HeldBytes {
  readonly #options: HeldBytesOptions;
  readonly #ofViewer = new Map<string, number>();
  #bytes = 0;

  constructor(options: HeldBytesOptions) {
    this.#options = options;
  }

  /** Returns what lets go of them. Throws `archive_busy`; one response fits for everybody who has none. */
  hold(viewer: string, bytes: number): () => void {
    const { maxBytes, maxBytesOfViewer } = this.#options;
    const own = this.#ofViewer.get(viewer) ?? 0;
    if (this.#bytes + bytes > maxBytes || (own > 0 && own + bytes > maxBytesOfViewer))
      throw new AppError('archive_busy', 'too much is being sent already; try again', {
        details: { retryAfterSec: RETRY_AFTER_SEC },
      });
    this.#bytes += bytes;
    this.#ofViewer.set(viewer, own + bytes);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#bytes -= bytes;
      const left = this.#ofViewer.get(viewer)! - bytes;
      if (left === 0) this.#ofViewer.delete(viewer);
      else this.#ofViewer.set(viewer, left);
    };
  }
}
