import { isGone } from '../archive-error.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { ClipPlan } from './finish-clip.js';
import { MAX_PIECE_BYTES, type ReadClipInput } from './read-clip.js';

/** An MP4 that is made of recordings while it is read. */
export type ClipFacts = {
  /** Changes with every byte of the clip. */
  readonly etag: string;
  readonly lastModifiedMs: number;
};

export type ClipDeps = {
  readonly runner: JobRunner;
  /** Where a file of the clip is that was renamed, since it was closed meanwhile; null: it is gone. */
  readonly relocate: (source: RecordingSource) => Promise<RecordingSource | null>;
  /** Called once, when the clip is closed. */
  readonly onClose: () => void;
};

type Piece = { readonly bytes: Promise<Buffer>; readonly endByte: number };

/**
 * A planned clip: its bytes are read piece by piece, in jobs, as they are wanted. Close it at the end. A file that
 * is deleted, cut or written to meanwhile ends a reading with an error: there are never wrong bytes.
 */
export class Clip {
  readonly contentBytes: number;
  readonly durationMs: number;
  readonly etag: string;
  readonly lastModifiedMs: number;
  readonly #plan: ClipPlan;
  readonly #head: Buffer;
  readonly #sources: RecordingSource[];
  readonly #deps: ClipDeps;
  #isClosed = false;

  constructor(plan: ClipPlan, sources: readonly RecordingSource[], facts: ClipFacts, deps: ClipDeps) {
    this.contentBytes = plan.contentBytes;
    this.durationMs = plan.durationMs;
    this.etag = facts.etag;
    this.lastModifiedMs = facts.lastModifiedMs;
    this.#plan = plan;
    this.#head = bufferOf(plan.head);
    this.#sources = [...sources];
    this.#deps = deps;
  }

  /** Bytes [startByte, endByte) of the clip; the next piece is read while the last one is sent. */
  async *read(startByte = 0, endByte = this.contentBytes): AsyncGenerator<Buffer, void, undefined> {
    const end = Math.min(endByte, this.contentBytes);
    let ahead: Piece | null = startByte < end ? this.#pieceAt(startByte, end) : null;
    while (ahead !== null) {
      const bytes: Buffer = await ahead.bytes;
      if (this.#isClosed) throw new Error('the clip was closed while it was read');
      ahead = ahead.endByte < end ? this.#pieceAt(ahead.endByte, end) : null;
      yield bytes;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deps.onClose();
  }

  /** Starts to read from `startByte` on: a piece of the head, or of one file. */
  #pieceAt(startByte: number, end: number): Piece {
    const limit = Math.min(end, startByte + MAX_PIECE_BYTES);
    if (startByte < this.#head.length) {
      const endByte = Math.min(limit, this.#head.length);
      return { bytes: Promise.resolve(this.#head.subarray(startByte, endByte)), endByte };
    }
    const { fragmentFile, fragmentOffset, fragmentStart, kinds, sounds } = this.#plan;
    const first = this.#fragmentAt(startByte);
    const file = fragmentFile[first]!;
    let after = first + 1;
    while (fragmentFile[after] === file && fragmentStart[after]! < limit) after += 1;
    const endByte = Math.min(limit, fragmentStart[after] ?? limit);
    const bytes = this.#readFrom(file, {
      offsets: fragmentOffset.slice(first, after),
      kinds,
      sound: sounds[file] ?? null,
      skipBytes: startByte - fragmentStart[first]!,
      lengthBytes: endByte - startByte,
    });
    // A reader that goes away leaves the piece that was read ahead, and what went wrong with it.
    bytes.catch(() => {});
    return { bytes, endByte };
  }

  async #readFrom(file: number, wanted: Omit<ReadClipInput, 'source'>): Promise<Buffer> {
    const { runner, relocate } = this.#deps;
    const source = this.#sources[file]!;
    try {
      return bufferOf(await runner.run('readClip', { source, ...wanted }));
    } catch (fault) {
      const moved = isGone(fault) && source.isOpen ? await relocate(source) : null;
      if (moved === null) throw fault;
      this.#sources[file] = moved;
      return bufferOf(await runner.run('readClip', { source: moved, ...wanted }));
    }
  }

  /** The fragment that byte `at` of the clip is in: the last one that begins at it or before. */
  #fragmentAt(at: number): number {
    const { fragmentStart } = this.#plan;
    let low = 0;
    let high = fragmentStart.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (fragmentStart[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): Buffer =>
  Buffer.from(buffer, byteOffset, length);
