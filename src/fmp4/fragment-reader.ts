import { ByteReader } from '../base/byte-reader.js';
import { BoxCursor } from './box-cursor.js';
import type { Movie, MovieTrack, SampleDefaults } from './movie-reader.js';
import type { SampleColumns } from './sample-columns.js';
import { SAMPLE_FLAGS } from './sample-flags.js';

/** Where a fragment lies in its file. */
export type FragmentPlace = {
  /** Of the moof. */
  readonly moofOffset: number;
  /** The content of the mdat behind it; samples must lie within. */
  readonly dataStart: number;
  readonly dataEnd: number;
};

/** A run without a field per sample costs no bytes, so its count is bounded by this alone. */
const MAX_SAMPLES_PER_FRAGMENT = 65_536;
/** A day of 60 pictures and 37 audio frames a second. */
const MAX_SAMPLES_PER_FILE = 1 << 23;

const BASE_DATA_OFFSET = 0x01;
const SAMPLE_DESCRIPTION = 0x02;
const DEFAULT_DURATION = 0x08;
const DEFAULT_SIZE = 0x10;
const DEFAULT_FLAGS = 0x20;

const DATA_OFFSET = 0x01;
const FIRST_FLAGS = 0x04;
const DURATION = 0x100;
const SIZE = 0x200;
const FLAGS = 0x400;
const COMPOSITION = 0x800;

const U32 = 0x1_0000_0000;
const FLAG_BITS = 0xff_ffff;

type TrackFragment = SampleDefaults & { readonly trackId: number; readonly baseOffset: number };

const readU64 = (reader: ByteReader): number => reader.u32() * U32 + reader.u32();

/** How long an entry of a run with these flags is. */
const entryBytesOf = (flags: number): number =>
  [DURATION, SIZE, FLAGS, COMPOSITION].reduce((sum, flag) => sum + ((flags & flag) !== 0 ? 4 : 0), 0);

/** Reads the tfhd (ISO 14496-12 §8.8.7). */
const readTfhd = (box: BoxCursor, movie: Movie, moofOffset: number): TrackFragment => {
  const reader = new ByteReader(box.bytes, box.start, box.end);
  const flags = reader.u32() & FLAG_BITS;
  const trackId = reader.u32();
  const defaults = movie.tracks.find((track) => track.trackId === trackId)?.defaults;
  const baseOffset = (flags & BASE_DATA_OFFSET) !== 0 ? readU64(reader) : moofOffset;
  if ((flags & SAMPLE_DESCRIPTION) !== 0) reader.skip(4);
  return {
    trackId,
    baseOffset,
    durationTicks: (flags & DEFAULT_DURATION) !== 0 ? reader.u32() : (defaults?.durationTicks ?? 0),
    sizeBytes: (flags & DEFAULT_SIZE) !== 0 ? reader.u32() : (defaults?.sizeBytes ?? 0),
    flags: (flags & DEFAULT_FLAGS) !== 0 ? reader.u32() : (defaults?.flags ?? 0),
  };
};

/** Reads the fragments of one file, one after another, into columns per track. */
export class FragmentReader {
  readonly #movie: Movie;
  readonly #columns: readonly SampleColumns[];
  /** Where a track's next sample begins unless a tfdt says so. */
  readonly #nextDtsTicks: number[];
  /** Where the next run's data begins unless it says so (§8.8.8). */
  #dataOffset = 0;
  #place: FragmentPlace = { moofOffset: 0, dataStart: 0, dataEnd: 0 };
  #samplesLeft = 0;

  /** `columns`: one for each track of the movie, in its order. */
  constructor(movie: Movie, columns: readonly SampleColumns[]) {
    this.#movie = movie;
    this.#columns = columns;
    this.#nextDtsTicks = columns.map(() => 0);
  }

  /**
   * Adds the samples of the moof with the content `bytes[start, end)`. False: it is damaged, or its samples aren't
   * within its mdat; then none was added.
   */
  read(bytes: Buffer, start: number, end: number, place: FragmentPlace): boolean {
    const counts = this.#columns.map((columns) => columns.count);
    const nextDtsTicks = [...this.#nextDtsTicks];
    this.#place = place;
    this.#dataOffset = place.moofOffset;
    // No sample is empty, so there can't be more than bytes.
    this.#samplesLeft = Math.min(
      place.dataEnd - place.dataStart,
      MAX_SAMPLES_PER_FRAGMENT,
      MAX_SAMPLES_PER_FILE - counts.reduce((sum, count) => sum + count, 0),
    );
    const cursor = new BoxCursor(bytes, start, end);
    let isGood = true;
    while (isGood && cursor.find('traf')) isGood = this.#readTraf(cursor);
    if (isGood && !cursor.isBroken) return true;
    for (const [index, columns] of this.#columns.entries()) {
      columns.count = counts[index]!;
      this.#nextDtsTicks[index] = nextDtsTicks[index]!;
    }
    return false;
  }

  #readTraf(traf: BoxCursor): boolean {
    const cursor = traf.inside();
    if (!cursor.find('tfhd')) return false;
    const fragment = readTfhd(cursor, this.#movie, this.#place.moofOffset);
    const index = this.#movie.tracks.findIndex((track) => track.trackId === fragment.trackId);
    if (index < 0) return true;
    this.#dataOffset = fragment.baseOffset;
    while (cursor.next()) {
      if (cursor.type === 'tfdt' && !this.#readTfdt(cursor, index)) return false;
      if (cursor.type === 'trun' && !this.#readTrun(cursor, index, fragment)) return false;
    }
    return !cursor.isBroken;
  }

  #readTfdt(box: BoxCursor, index: number): boolean {
    const reader = new ByteReader(box.bytes, box.start, box.end);
    const version = reader.u8();
    reader.skip(3);
    const dtsTicks = version === 1 ? readU64(reader) : reader.u32();
    if (reader.isPastEnd || !Number.isSafeInteger(dtsTicks)) return false;
    this.#nextDtsTicks[index] = dtsTicks;
    return true;
  }

  /** Reads one run (§8.8.8). */
  #readTrun(box: BoxCursor, index: number, fragment: TrackFragment): boolean {
    const reader = new ByteReader(box.bytes, box.start, box.end);
    const flags = reader.u32() & FLAG_BITS;
    const count = reader.u32();
    if (count > this.#samplesLeft) return false;
    this.#samplesLeft -= count;
    // Version 0 has unsigned offsets, but many a muxer wrote signed ones there; none is over 2^31.
    if ((flags & DATA_OFFSET) !== 0) this.#dataOffset = fragment.baseOffset + (reader.u32() | 0);
    const firstFlags = (flags & FIRST_FLAGS) !== 0 ? reader.u32() : -1;
    const track = this.#movie.tracks[index]!;
    if (reader.isPastEnd || count * entryBytesOf(flags) > reader.remaining) return false;
    // An hour has a quarter of a million entries: with their bytes known to be there, they are read directly.
    const { bytes } = box;
    let at = box.end - reader.remaining;
    for (let sample = 0; sample < count; sample += 1) {
      let { durationTicks, sizeBytes, flags: sampleFlags } = fragment;
      let compositionTicks = 0;
      if ((flags & DURATION) !== 0) {
        durationTicks = bytes.readUInt32BE(at);
        at += 4;
      }
      if ((flags & SIZE) !== 0) {
        sizeBytes = bytes.readUInt32BE(at);
        at += 4;
      }
      if ((flags & FLAGS) !== 0) {
        sampleFlags = bytes.readUInt32BE(at);
        at += 4;
      }
      if ((flags & COMPOSITION) !== 0) {
        compositionTicks = bytes.readInt32BE(at);
        at += 4;
      }
      if (sample === 0 && firstFlags >= 0) sampleFlags = firstFlags;
      if (!this.#add(index, track, durationTicks, sizeBytes, sampleFlags, compositionTicks)) return false;
    }
    return true;
  }

  #add(
    index: number,
    track: MovieTrack,
    durationTicks: number,
    sizeBytes: number,
    flags: number,
    compositionTicks: number,
  ): boolean {
    const offset = this.#dataOffset;
    if (offset < this.#place.dataStart || offset + sizeBytes > this.#place.dataEnd) return false;
    const dtsTicks = this.#nextDtsTicks[index]!;
    if (!Number.isSafeInteger(dtsTicks + durationTicks)) return false;
    const columns = this.#columns[index]!;
    const at = columns.push();
    columns.track[at] = index;
    columns.dtsTicks[at] = dtsTicks;
    columns.durationTicks[at] = durationTicks;
    columns.compositionTicks[at] = compositionTicks;
    columns.sizeBytes[at] = sizeBytes;
    columns.offsetBytes[at] = offset;
    columns.isKey[at] = track.kind === 'audio' || (flags & SAMPLE_FLAGS.isNonSync) === 0 ? 1 : 0;
    this.#dataOffset = offset + sizeBytes;
    this.#nextDtsTicks[index] = dtsTicks + durationTicks;
    return true;
  }
}
