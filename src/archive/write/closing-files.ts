import type { GrowingFile } from './growing-file.js';
import type { ClosedFile } from './recording-file.js';

/** Where the disk takes nothing, what waits for it must have an end. */
const MAX_CLOSING_FILES = 8;

/** A camera's files that take no more frames, on their way to their names. */
export class ClosingFiles {
  readonly #closing = new Set<Promise<void>>();
  readonly #onClosed: (file: GrowingFile, closed: ClosedFile | null) => void;

  /** `onClosed`: what `RecordingFile.close` says. */
  constructor(onClosed: (file: GrowingFile, closed: ClosedFile | null) => void) {
    this.#onClosed = onClosed;
  }

  /** No other file may begin. */
  get isCrowded(): boolean {
    return this.#closing.size >= MAX_CLOSING_FILES;
  }

  add(file: GrowingFile): void {
    const closing: Promise<void> = this.#close(file).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /** Resolves when all of them are through. */
  async done(): Promise<void> {
    await Promise.all(this.#closing);
  }

  async #close(file: GrowingFile): Promise<void> {
    this.#onClosed(file, await file.close());
  }
}
