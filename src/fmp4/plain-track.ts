import { boxOf } from './box-bytes.js';
import { append, appendToRuns, type GrowingColumn, growingF64, growingU32 } from './growing-column.js';
import { dinf, type Edit, edts, hdlr, mdhd, smhd, stsd, tkhd, vmhd } from './movie-boxes.js';
import type { MovieTrack } from './movie-reader.js';
import type { SampleColumns } from './sample-columns.js';
import { co64, ctts, stco, stsc, stss, stsz, stts } from './sample-table-boxes.js';

/** What of a track goes into an ordinary MP4; its sample entry is plain bytes where it came from another thread. */
export type PlainTrackSpec = Pick<MovieTrack, 'kind' | 'timescaleHz' | 'width' | 'height'> & {
  readonly sampleEntry: Uint8Array;
};

/** What is known of samples. */
export type SampleFields = Pick<
  SampleColumns,
  'dtsTicks' | 'compositionTicks' | 'durationTicks' | 'sizeBytes' | 'isKey'
>;

/** All that a track has collected: plain fields, so that it can move between threads. */
export type PlainTrackState = {
  readonly spec: PlainTrackSpec;
  /** Times are told in so many of the samples' ticks. */
  readonly ticksPerUnit: number;
  readonly sizes: GrowingColumn;
  /** Runs: between the decode times of neighbours. */
  readonly deltas: GrowingColumn;
  readonly compositions: GrowingColumn;
  readonly keys: GrowingColumn;
  readonly chunkOffsets: GrowingColumn<Float64Array<ArrayBuffer>>;
  /** first_chunk, samples_per_chunk, sample_description_index, wherever the count changes. */
  readonly chunkRuns: GrowingColumn;
  /** When the first sample is shown, and the last one decoded, in units. */
  firstUnits: number;
  lastDtsUnits: number;
  lastDurationUnits: number;
  mediaUnits: number;
  hasReordering: boolean;
};

/** What a track has to know of its movie. */
export type MovieFacts = {
  readonly movieTimescaleHz: number;
  readonly createdSeconds: number;
  /** Where the chunks' data begins, and whether that needs 64 bits. */
  readonly dataStart: number;
  readonly isLarge: boolean;
};

/** What readers take for negative (stts, §8.6.1.2) is more. */
const MAX_DELTA = 0x7fff_ffff;

/** So many ticks a unit that a pause between two samples can be told. */
const ticksPerUnitFor = (timescaleHz: number, longestPauseSeconds: number): number => {
  let ticks = 1;
  while (longestPauseSeconds * timescaleHz > MAX_DELTA * ticks && timescaleHz % (ticks * 2) === 0) ticks *= 2;
  return ticks;
};

/** Times of a damaged file can run backwards; stts can't. */
const clampDelta = (units: number): number => Math.min(Math.max(units, 0), MAX_DELTA);

/** Collects the samples of one track of an ordinary MP4 chunk by chunk, and builds its trak. */
export class PlainTrack {
  readonly state: PlainTrackState;
  /** All but the chunks' offsets, once they are asked for: the same wherever the data begins. */
  #tables: readonly Buffer[] | null = null;

  constructor(state: PlainTrackState) {
    this.state = state;
  }

  /** `longestPauseSeconds`: what may lie between two samples. */
  static begin(spec: PlainTrackSpec, longestPauseSeconds: number): PlainTrack {
    return new PlainTrack({
      spec,
      ticksPerUnit: ticksPerUnitFor(spec.timescaleHz, longestPauseSeconds),
      sizes: growingU32(),
      deltas: growingU32(),
      compositions: growingU32(),
      keys: growingU32(),
      chunkOffsets: growingF64(),
      chunkRuns: growingU32(),
      firstUnits: 0,
      lastDtsUnits: 0,
      lastDurationUnits: 0,
      mediaUnits: 0,
      hasReordering: false,
    });
  }

  get sampleCount(): number {
    return this.state.sizes.count;
  }

  /** Adds samples [first, end), whose bytes lie together from `offset` on; returns where they end. */
  addChunk(samples: SampleFields, first: number, end: number, shiftTicks: number, offset: number): number {
    const { chunkOffsets, chunkRuns } = this.state;
    append(chunkOffsets, offset);
    const { values, count } = chunkRuns;
    if (count === 0 || values[count - 2] !== end - first) {
      for (const field of [chunkOffsets.count, end - first, 1]) append(chunkRuns, field);
    }
    let at = offset;
    for (let sample = first; sample < end; sample += 1) {
      this.#add(samples, sample, shiftTicks);
      at += samples.sizeBytes[sample]!;
    }
    return at;
  }

  /** How long the movie lasts by this track, in units of `movieTimescaleHz`. */
  movieTicks(movieTimescaleHz: number): number {
    return this.#edits(movieTimescaleHz).reduce((sum, edit) => sum + edit.durationTicks, 0);
  }

  /** The Track Box, in pieces. */
  trak(trackId: number, { movieTimescaleHz, createdSeconds, dataStart, isLarge }: MovieFacts): Uint8Array[] {
    const { spec, mediaUnits, lastDurationUnits, chunkOffsets } = this.state;
    const { kind, width, height } = spec;
    const edits = this.#edits(movieTimescaleHz);
    const { values, count } = chunkOffsets;
    const offsets = isLarge ? co64(values, count, dataStart) : stco(values, count, dataStart);
    this.#tables ??= this.#buildTables();
    return boxOf('trak', [
      tkhd(trackId, this.movieTicks(movieTimescaleHz), width, height, createdSeconds),
      ...(edits.length === 1 && edits[0]!.mediaTicks === 0 ? [] : [edts(edits)]),
      ...boxOf('mdia', [
        mdhd(this.#unitsHz, mediaUnits + lastDurationUnits, createdSeconds),
        hdlr(kind === 'video' ? 'vide' : 'soun'),
        ...boxOf('minf', [
          kind === 'video' ? vmhd() : smhd(),
          dinf(),
          ...boxOf('stbl', [...this.#tables, offsets]),
        ]),
      ]),
    ]);
  }

  get #unitsHz(): number {
    return this.state.spec.timescaleHz / this.state.ticksPerUnit;
  }

  #add(samples: SampleFields, at: number, shiftTicks: number): void {
    const { state } = this;
    const toUnits = (ticks: number): number => Math.round(ticks / state.ticksPerUnit);
    const dtsTicks = samples.dtsTicks[at]! + shiftTicks;
    const dtsUnits = toUnits(dtsTicks);
    const compositionUnits = toUnits(dtsTicks + samples.compositionTicks[at]!) - dtsUnits;
    if (state.sizes.count === 0) state.firstUnits = dtsUnits + compositionUnits;
    else this.#addDelta(clampDelta(dtsUnits - state.lastDtsUnits));
    state.lastDtsUnits = dtsUnits;
    state.lastDurationUnits = toUnits(samples.durationTicks[at]!);
    appendToRuns(state.compositions, compositionUnits);
    if (compositionUnits !== 0) state.hasReordering = true;
    append(state.sizes, samples.sizeBytes[at]!);
    if (samples.isKey[at] === 1) append(state.keys, state.sizes.count);
  }

  #addDelta(units: number): void {
    appendToRuns(this.state.deltas, units);
    this.state.mediaUnits += units;
  }

  /** A pause where the track begins after the movie does; else the track, without what comes before. */
  #edits(movieTimescaleHz: number): Edit[] {
    const { compositions, firstUnits, lastDurationUnits, mediaUnits } = this.state;
    const toMovie = (units: number): number =>
      Math.max(0, Math.round((units / this.#unitsHz) * movieTimescaleHz));
    const trimUnits = Math.max(0, -firstUnits);
    const pauseTicks = toMovie(firstUnits);
    const firstComposition = compositions.values[1]! | 0;
    const edit = {
      durationTicks: toMovie(mediaUnits + lastDurationUnits - trimUnits),
      mediaTicks: Math.max(0, firstComposition + trimUnits),
    };
    return pauseTicks > 0 ? [{ durationTicks: pauseTicks, mediaTicks: -1 }, edit] : [edit];
  }

  #buildTables(): Buffer[] {
    const { spec, sizes, deltas, compositions, keys, chunkRuns, lastDurationUnits, hasReordering } =
      this.state;
    const hasDependent = keys.count < sizes.count;
    appendToRuns(deltas, lastDurationUnits);
    return [
      stsd(spec.sampleEntry),
      stts(deltas.values, deltas.count),
      ...(hasReordering ? [ctts(compositions.values, compositions.count)] : []),
      ...(hasDependent ? [stss(keys.values, keys.count)] : []),
      stsc(chunkRuns.values, chunkRuns.count),
      stsz(sizes.values, sizes.count),
    ];
  }
}
