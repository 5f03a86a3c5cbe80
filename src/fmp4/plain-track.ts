import { box } from './box-bytes.js';
import { type Edit, edts, hdlr, mdhd, mdia, minf, stsd, tkhd, trak } from './movie-boxes.js';
import type { MovieTrack } from './movie-reader.js';
import type { SampleColumns } from './sample-columns.js';
import { co64, ctts, runsOf, stco, stsc, stss, stsz, stts } from './sample-table-boxes.js';

const MAX_U32 = 0xffff_ffff;

/** Collects the samples of one track of an ordinary MP4, and builds its trak. */
export class PlainTrack {
  readonly trackId: number;
  readonly kind: 'video' | 'audio';
  readonly #track: Omit<MovieTrack, 'defaults'>;
  readonly #movieTimescaleHz: number;
  readonly #sizes: number[] = [];
  /** Between the decode times of neighbours, and at last the last sample's own duration. */
  readonly #deltas: number[] = [];
  readonly #compositions: number[] = [];
  readonly #keys: number[] = [];
  readonly #chunkOffsets: number[] = [];
  readonly #chunkSamples: number[] = [];
  #firstDtsTicks = 0;
  #lastDtsTicks = 0;
  #mediaTicks = 0;
  #hasReordering = false;
  /** Everything but the chunks' offsets, once it is asked for: the same wherever the data begins. */
  #tables: readonly Buffer[] | null = null;

  constructor(track: Omit<MovieTrack, 'defaults'>, movieTimescaleHz: number) {
    this.trackId = track.trackId;
    this.kind = track.kind;
    this.#track = track;
    this.#movieTimescaleHz = movieTimescaleHz;
  }

  get sampleCount(): number {
    return this.#sizes.length;
  }

  /** When the first sample is shown, by the clock of the sources. */
  get startSeconds(): number {
    return (this.#firstDtsTicks + (this.#compositions[0] ?? 0)) / this.#track.timescaleHz;
  }

  /** Adds `columns[at]`, whose bytes go to `offset` of the data. `isBehindOwn`: right behind the sample before it. */
  add(columns: SampleColumns, at: number, shiftTicks: number, offset: number, isBehindOwn: boolean): void {
    const dtsTicks = columns.dtsTicks[at]! + shiftTicks;
    const isKey = columns.isKey[at] === 1;
    if (this.#sizes.length === 0) this.#firstDtsTicks = dtsTicks;
    else this.#setLastDelta(clampDelta(dtsTicks - this.#lastDtsTicks));
    this.#lastDtsTicks = dtsTicks;
    this.#deltas.push(columns.durationTicks[at]!);
    this.#mediaTicks += columns.durationTicks[at]!;
    this.#compositions.push(columns.compositionTicks[at]!);
    if (columns.compositionTicks[at] !== 0) this.#hasReordering = true;
    this.#sizes.push(columns.sizeBytes[at]!);
    if (isKey) this.#keys.push(this.#sizes.length);
    // Video alone has one stretch from start to end: a chunk for each keyframe lets a player read in pieces.
    if (isBehindOwn && !(this.kind === 'video' && isKey)) {
      this.#chunkSamples[this.#chunkSamples.length - 1]! += 1;
    } else {
      this.#chunkOffsets.push(offset);
      this.#chunkSamples.push(1);
    }
  }

  /** How long the movie lasts by this track, when it starts at `startSeconds` of the sources' clock. */
  movieTicks(startSeconds: number): number {
    return this.#edits(startSeconds).reduce((sum, edit) => sum + edit.durationTicks, 0);
  }

  trak(startSeconds: number, dataStart: number, isLarge: boolean): Buffer {
    const { trackId, kind, timescaleHz, width, height } = this.#track;
    const handler = kind === 'video' ? 'vide' : 'soun';
    const edits = this.#edits(startSeconds);
    return trak(
      tkhd(trackId, this.movieTicks(startSeconds), width, height),
      ...(edits.length === 1 && edits[0]!.mediaTicks === 0 ? [] : [edts(edits)]),
      mdia(mdhd(timescaleHz, this.#mediaTicks), hdlr(handler), minf(handler, this.#stbl(dataStart, isLarge))),
    );
  }

  #setLastDelta(ticks: number): void {
    const last = this.#deltas.length - 1;
    this.#mediaTicks += ticks - this.#deltas[last]!;
    this.#deltas[last] = ticks;
  }

  /** A pause where the track begins late; then the track, without what comes before the start. */
  #edits(startSeconds: number): Edit[] {
    const { timescaleHz } = this.#track;
    const toMovie = (ticks: number): number =>
      Math.max(0, Math.round((ticks / timescaleHz) * this.#movieTimescaleHz));
    const composition = this.#compositions[0] ?? 0;
    const lateTicks = (this.startSeconds - startSeconds) * timescaleHz;
    const trimTicks = Math.max(0, Math.round(-lateTicks));
    const pauseTicks = toMovie(lateTicks);
    const edit = {
      durationTicks: toMovie(this.#mediaTicks - trimTicks),
      mediaTicks: Math.max(0, composition + trimTicks),
    };
    return pauseTicks > 0 ? [{ durationTicks: pauseTicks, mediaTicks: -1 }, edit] : [edit];
  }

  #stbl(dataStart: number, isLarge: boolean): Buffer {
    const offsets = this.#chunkOffsets.map((offset) => offset + dataStart);
    this.#tables ??= this.#buildTables();
    return box('stbl', ...this.#tables, isLarge ? co64(offsets) : stco(offsets));
  }

  #buildTables(): Buffer[] {
    const hasDependent = this.#keys.length < this.#sizes.length;
    return [
      stsd(this.#track.sampleEntry),
      stts(runsOf(this.#deltas)),
      ...(this.#hasReordering ? [ctts(runsOf(this.#compositions))] : []),
      ...(hasDependent ? [stss(this.#keys)] : []),
      stsc(this.#chunkRuns()),
      stsz(this.#sizes),
    ];
  }

  /** first_chunk, samples_per_chunk, sample_description_index, wherever the count changes. */
  #chunkRuns(): number[] {
    const entries: number[] = [];
    for (const [index, samples] of this.#chunkSamples.entries()) {
      if (samples !== this.#chunkSamples[index - 1]) entries.push(index + 1, samples, 1);
    }
    return entries;
  }
}

/** Times of a damaged file can run backwards; stts can't. */
const clampDelta = (ticks: number): number => Math.min(Math.max(ticks, 0), MAX_U32);
