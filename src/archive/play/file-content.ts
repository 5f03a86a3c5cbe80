import { isGone } from '../archive-error.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobRunner } from '../jobs/jobs.js';
import { MAX_PIECE_BYTES } from './read-bytes.js';

export type FileContentDeps = {
  readonly runner: JobRunner;
  /** Where the file is if it was renamed, since it was closed meanwhile; null: it is gone. */
  readonly relocate: (source: RecordingSource) => Promise<RecordingSource | null>;
};

/** A recording's own bytes, read piece by piece, in jobs, as they are wanted; of an open one those that are whole. */
export class FileContent {
  readonly contentBytes: number;
  readonly etag: string;
  readonly lastModifiedMs: number;
  readonly #deps: FileContentDeps;
  #source: RecordingSource;

  constructor(source: RecordingSource, deps: FileContentDeps) {
    const { ino, mtimeMs, sizeBytes } = source.stamp;
    this.contentBytes = sizeBytes;
    this.etag = `"${ino}-${source.isOpen ? 'open' : mtimeMs}-${sizeBytes}"`;
    this.lastModifiedMs = mtimeMs;
    this.#source = source;
    this.#deps = deps;
  }

  async *read(startByte: number, endByte: number): AsyncGenerator<Buffer, void, undefined> {
    for (let at = startByte; at < endByte; at += MAX_PIECE_BYTES) {
      yield await this.#piece(at, Math.min(at + MAX_PIECE_BYTES, endByte));
    }
  }

  /** Nothing is held between two pieces. */
  close(): void {}

  async #piece(startByte: number, endByte: number): Promise<Buffer> {
    const { runner, relocate } = this.#deps;
    const read = async (source: RecordingSource): Promise<Buffer> => {
      const bytes = await runner.run('readBytes', { source, startByte, endByte });
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    };
    try {
      return await read(this.#source);
    } catch (fault) {
      const moved = isGone(fault) && this.#source.isOpen ? await relocate(this.#source) : null;
      if (moved === null) throw fault;
      this.#source = moved;
      return await read(moved);
    }
  }
}
