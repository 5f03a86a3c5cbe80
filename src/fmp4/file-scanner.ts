import { ByteReader } from '../base/byte-reader.js';
import { type BoxHead, BRIEF_HEAD_BYTES, LONG_HEAD_BYTES, readBoxHead } from './box-cursor.js';
import { FragmentReader } from './fragment-reader.js';
import { type Movie, readMovie } from './movie-reader.js';
import { wallMsOfNtp } from './ntp-time.js';
import { SampleColumns } from './sample-columns.js';

/** A whole fragment of the file. */
export type FragmentInfo = {
  /** Of its prft, or of its moof where it has none. */
  readonly offsetBytes: number;
  readonly endBytes: number;
  /** What its prft says: at `wallTicks` of the track `wallTrackId` it was `wallMs`; null without one. */
  readonly wall: FragmentWall | null;
  /** For each track of the movie: the samples [first, end) in its columns. */
  readonly firstSamples: readonly number[];
  readonly endSamples: readonly number[];
};

export type FragmentWall = {
  readonly wallMs: number;
  readonly wallTicks: number;
  readonly wallTrackId: number;
};

/** Why a scan stopped before the file's end: a box is cut off there, or the bytes make no sense. */
export type ScanFault = 'cut' | 'damaged';

/** Bytes [offset, offset + lengthBytes) of the file. */
export type FileRange = { readonly offset: number; readonly lengthBytes: number };

/** Holds prft, moof and mdat's head of a second of one camera. */
const READ_BYTES = 4096;
/** A moov or moof over this is no camera's. */
const MAX_READ_BYTES = 16 << 20;

/**
 * Finds what is in a file, without reading the media: the caller reads the ranges that it wants and feeds them.
 * Arbitrary bytes end it, never throw. For each read it moves on or stops.
 */
export class FileScanner {
  movie: Movie | null = null;
  /** One for each track of the movie, in its order. */
  columns: readonly SampleColumns[] = [];
  readonly fragments: FragmentInfo[] = [];
  /** Up to here the file is whole; what comes behind can be cut off. 0: not even moov is. */
  wholeBytes = 0;
  /** Where moov ends; 0: it isn't known yet. */
  movieEndBytes = 0;
  fault: ScanFault | null = null;
  #fileBytes: number;
  #reader: FragmentReader | null = null;
  #at = 0;
  #needBytes = READ_BYTES;
  #wall: FragmentWall | null = null;
  /** Of the prft that came before the next moof. */
  #wallOffset = -1;

  constructor(fileBytes: number) {
    this.#fileBytes = fileBytes;
  }

  /** The range to read next; null: the scan is over. */
  get wanted(): FileRange | null {
    if (this.fault !== null || this.#at >= this.#fileBytes) return null;
    return { offset: this.#at, lengthBytes: Math.min(this.#needBytes, this.#fileBytes - this.#at) };
  }

  /** Takes the bytes of `wanted`; fewer mean that the file ends there. */
  feed(bytes: Buffer): void {
    const range = this.wanted;
    if (range === null) return;
    if (bytes.length < range.lengthBytes) this.#fileBytes = range.offset + bytes.length;
    const base = this.#at;
    const end = Math.min(bytes.length, range.lengthBytes);
    this.#needBytes = READ_BYTES;
    while (this.fault === null && this.#at < base + end) {
      if (!this.#step(bytes, this.#at - base, end)) break;
    }
  }

  /** The file that is being written has grown: goes on behind its last whole fragment. */
  extend(fileBytes: number): void {
    if (fileBytes <= this.#fileBytes || this.fault === 'damaged') return;
    this.#fileBytes = fileBytes;
    this.fault = null;
    this.#at = this.wholeBytes;
    this.#wall = null;
    this.#wallOffset = -1;
    this.#needBytes = READ_BYTES;
  }

  /**
   * Goes on at a fragment's border (its prft or moof) that is known from elsewhere, and forgets the samples and
   * fragments found so far. For after moov was fed; also back.
   */
  skipTo(offset: number): void {
    if (this.movie === null || offset < this.movieEndBytes) return;
    this.fault = null;
    for (const columns of this.columns) columns.count = 0;
    this.fragments.length = 0;
    this.wholeBytes = Math.min(offset, this.#fileBytes);
    this.#at = offset;
    this.#wall = null;
    this.#wallOffset = -1;
    this.#needBytes = READ_BYTES;
  }

  /** One box. False: it needs more bytes than are here. */
  #step(bytes: Buffer, at: number, end: number): boolean {
    const head = readBoxHead(bytes, at, end);
    if (head === 'broken') return this.#stop('damaged');
    if (head === 'short') return this.#wait(end - at < BRIEF_HEAD_BYTES ? BRIEF_HEAD_BYTES : LONG_HEAD_BYTES);
    const left = this.#fileBytes - this.#at;
    if (head.sizeBytes > left && Number.isFinite(head.sizeBytes)) return this.#stop('cut');
    const sizeBytes = Math.min(head.sizeBytes, left);
    switch (head.type) {
      case 'moov':
        return this.#onMoov(bytes, at, end, head, sizeBytes);
      case 'prft':
        return this.#onPrft(bytes, at, end, head, sizeBytes);
      case 'moof':
        return this.#onMoof(bytes, at, end, head, sizeBytes);
      default:
        this.#at += sizeBytes;
        return true;
    }
  }

  #stop(fault: ScanFault): false {
    this.fault = fault;
    return false;
  }

  /** Asks for `needBytes` from here on, which is more than there were, or stops where the file ends before. */
  #wait(needBytes: number): false {
    if (needBytes > this.#fileBytes - this.#at) return this.#stop('cut');
    if (needBytes > MAX_READ_BYTES) return this.#stop('damaged');
    this.#needBytes = Math.max(READ_BYTES, needBytes);
    return false;
  }

  #onMoov(bytes: Buffer, at: number, end: number, head: BoxHead, sizeBytes: number): boolean {
    if (at + sizeBytes > end) return this.#wait(sizeBytes);
    if (this.movie !== null) return this.#stop('damaged');
    this.movie = readMovie(bytes, at + head.headBytes, at + sizeBytes);
    this.columns = this.movie.tracks.map(() => new SampleColumns());
    this.#reader = new FragmentReader(this.movie, this.columns);
    this.#at += sizeBytes;
    this.movieEndBytes = this.#at;
    this.wholeBytes = this.#at;
    return true;
  }

  #onPrft(bytes: Buffer, at: number, end: number, head: BoxHead, sizeBytes: number): boolean {
    if (at + sizeBytes > end) return this.#wait(sizeBytes);
    const reader = new ByteReader(bytes, at + head.headBytes, at + sizeBytes);
    const version = reader.u8();
    reader.skip(3);
    const wallTrackId = reader.u32();
    const wallMs = wallMsOfNtp(reader.u32(), reader.u32());
    const wallTicks = version === 1 ? reader.u32() * 0x1_0000_0000 + reader.u32() : reader.u32();
    const isGood = !reader.isPastEnd && Number.isSafeInteger(wallTicks);
    this.#wall = isGood ? { wallMs, wallTicks, wallTrackId } : null;
    this.#wallOffset = this.#at;
    this.#at += sizeBytes;
    return true;
  }

  /** A moof counts once the mdat right behind it is whole. */
  #onMoof(bytes: Buffer, at: number, end: number, head: BoxHead, sizeBytes: number): boolean {
    if (this.#reader === null) return this.#stop('damaged');
    const dataAt = at + sizeBytes;
    const data = dataAt <= end ? readBoxHead(bytes, dataAt, end) : 'short';
    if (data === 'short') {
      return this.#wait(sizeBytes + (end - dataAt < BRIEF_HEAD_BYTES ? BRIEF_HEAD_BYTES : LONG_HEAD_BYTES));
    }
    if (data === 'broken' || data.type !== 'mdat') return this.#stop('damaged');
    const dataOffset = this.#at + sizeBytes;
    const left = this.#fileBytes - dataOffset;
    if (data.sizeBytes > left && Number.isFinite(data.sizeBytes)) return this.#stop('cut');
    const endBytes = dataOffset + Math.min(data.sizeBytes, left);
    const firstSamples = this.columns.map((columns) => columns.count);
    const place = { moofOffset: this.#at, dataStart: dataOffset + data.headBytes, dataEnd: endBytes };
    if (!this.#reader.read(bytes, at + head.headBytes, dataAt, place)) return this.#stop('damaged');
    this.fragments.push({
      offsetBytes: this.#wallOffset < 0 ? this.#at : this.#wallOffset,
      endBytes,
      wall: this.#wall,
      firstSamples,
      endSamples: this.columns.map((columns) => columns.count),
    });
    this.#wall = null;
    this.#wallOffset = -1;
    this.#at = endBytes;
    this.wholeBytes = endBytes;
    return true;
  }
}
