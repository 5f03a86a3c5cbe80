import { FileScanner, type FragmentInfo } from '../../fmp4/file-scanner.js';
import type { PartTable } from '../../fmp4/part-table.js';
import { MFRO_BYTES, readMfra, readMfraBytes } from '../../fmp4/random-access.js';
import { videoIndexOf } from './file-times.js';
import { type ByteSource, readUpTo } from './regular-file.js';

const FIRST_BUFFER_BYTES = 64 * 1024;
/** Of a prft as recorders write it (ISO 14496-12 §8.16.5). */
export const PRFT_BYTES = 32;
/** A walk forgets what it passed this often, so that its memory doesn't grow with the file. */
const MOST_FRAGMENTS_KEPT = 64;

const always = (): boolean => true;

/** Reads a file through a FileScanner, into one buffer that grows as needed. */
export class FileWalk {
  readonly scanner: FileScanner;
  readonly #fd: ByteSource;
  #buffer = Buffer.allocUnsafe(FIRST_BUFFER_BYTES);

  constructor(fd: ByteSource, fileBytes: number) {
    this.#fd = fd;
    this.scanner = new FileScanner(fileBytes);
  }

  /** Reads on until there is a fragment, at least; null: there is none. */
  readFirst(): FragmentInfo | null {
    while (this.scanner.fragments.length === 0 && this.#feed());
    return this.scanner.fragments[0] ?? null;
  }

  /**
   * Goes on to the end (true), or until `mayGoOn` says no (false); `visit` sees each fragment once, and its samples in
   * the scanner's columns only while it is called.
   */
  readAll(visit: (fragment: FragmentInfo) => void, mayGoOn: () => boolean = always): boolean {
    const { scanner } = this;
    for (let seen = 0; ; ) {
      for (; seen < scanner.fragments.length; seen += 1) visit(scanner.fragments[seen]!);
      if (scanner.wanted === null) return true;
      if (seen >= MOST_FRAGMENTS_KEPT) {
        scanner.skipTo(scanner.wholeBytes);
        seen = 0;
      }
      if (!mayGoOn()) return false;
      this.#feed();
    }
  }

  /** The parts that the file's end tells of; null: it has no index that can be believed. */
  readParts(fileBytes: number): PartTable | null {
    const track = this.scanner.movie?.tracks[videoIndexOf(this.scanner)];
    const tail = this.read(Math.max(fileBytes - MFRO_BYTES, 0), MFRO_BYTES);
    const mfraBytes = readMfraBytes(tail);
    if (track === undefined || mfraBytes === 0 || mfraBytes > fileBytes) return null;
    return readMfra(this.read(fileBytes - mfraBytes, mfraBytes), track.trackId, fileBytes);
  }

  /** Where a part begins of which only the moof is known: at its prft, if it has one. */
  partStart(moofOffset: number): number {
    const before = this.read(Math.max(moofOffset - PRFT_BYTES, 0), 8);
    const isPrft = before.readUInt32BE(0) === PRFT_BYTES && before.toString('latin1', 4, 8) === 'prft';
    return isPrft ? moofOffset - PRFT_BYTES : moofOffset;
  }

  /** Bytes of the file; valid until the next read. */
  read(offset: number, lengthBytes: number): Buffer {
    if (this.#buffer.length < lengthBytes) this.#buffer = Buffer.allocUnsafe(lengthBytes);
    return readUpTo(this.#fd, this.#buffer.subarray(0, lengthBytes), offset);
  }

  #feed(): boolean {
    const range = this.scanner.wanted;
    if (range === null) return false;
    this.scanner.feed(this.read(range.offset, range.lengthBytes));
    return true;
  }
}
