import { performance } from 'node:perf_hooks';
import type { MovieTrack } from '../fmp4/movie-reader.js';
import { SampleColumns } from '../fmp4/sample-columns.js';
import { Moved } from './job-result.js';
import { type RecordingSource, withRecording } from './recording-source.js';
import { visitFragments } from './visit-fragments.js';

export type ReadSamplesInput = {
  readonly source: RecordingSource;
  /** Borders of parts. */
  readonly fromBytes: number;
  readonly endBytes: number;
};

/** Samples of one track as they cross threads. */
export type SampleFields = Pick<
  SampleColumns,
  'count' | 'dtsTicks' | 'compositionTicks' | 'durationTicks' | 'sizeBytes' | 'isKey' | 'offsetBytes'
>;

/** A track without what only fragments need; its sample entry is plain bytes once it has crossed threads. */
export type ClipTrack = Pick<
  MovieTrack,
  'trackId' | 'kind' | 'codec' | 'timescaleHz' | 'width' | 'height' | 'channels' | 'config'
> & { readonly sampleEntry: Uint8Array };

export type ReadSamplesOutput = {
  readonly tracks: readonly ClipTrack[];
  /** For each track. */
  readonly samples: readonly SampleFields[];
  /** The walk took too long, and goes on here; null: that was all. */
  readonly nextBytes: number | null;
};

const BUDGET_MS = 1_500;
/** 12 MB: a hostile file has more in a second than an honest one in hours. */
const MAX_SAMPLES_A_JOB = 400_000;

/** Job: all samples in a stretch of a recording. */
export const readSamples = ({ source, fromBytes, endBytes }: ReadSamplesInput): Moved<ReadSamplesOutput> =>
  withRecording(source, (recording) => {
    const walk = recording.walk(fromBytes, endBytes);
    const { movie, columns } = walk.scanner;
    const kept = columns.map(() => new SampleColumns());
    const startedMs = performance.now();
    const isAtEnd = visitFragments(
      walk,
      ({ firstSamples, endSamples }) => {
        for (const [track, target] of kept.entries()) {
          copySamples(columns[track]!, firstSamples[track]!, endSamples[track]!, target);
        }
      },
      () => {
        const count = kept.reduce((sum, samples) => sum + samples.count, 0);
        return count === 0 || (count < MAX_SAMPLES_A_JOB && performance.now() - startedMs < BUDGET_MS);
      },
    );
    const tracks = (movie?.tracks ?? []).map(({ defaults: _, ...track }) => track);
    const samples = kept.map(fieldsOf);
    const nextBytes = isAtEnd ? null : walk.scanner.wholeBytes;
    return new Moved({ tracks, samples, nextBytes }, samples.flatMap(memoryOf));
  });

const copySamples = (from: SampleColumns, first: number, end: number, to: SampleColumns): void => {
  for (let index = first; index < end; index += 1) {
    const at = to.push();
    to.dtsTicks[at] = from.dtsTicks[index]!;
    to.compositionTicks[at] = from.compositionTicks[index]!;
    to.durationTicks[at] = from.durationTicks[index]!;
    to.sizeBytes[at] = from.sizeBytes[index]!;
    to.isKey[at] = from.isKey[index]!;
    to.offsetBytes[at] = from.offsetBytes[index]!;
  }
};

const fieldsOf = (columns: SampleColumns): SampleFields => {
  const { count, dtsTicks, compositionTicks, durationTicks, sizeBytes, isKey, offsetBytes } = columns;
  return { count, dtsTicks, compositionTicks, durationTicks, sizeBytes, isKey, offsetBytes };
};

/** The memory of the fields, to be moved between threads. */
export const memoryOf = (fields: SampleFields): ArrayBuffer[] =>
  [
    fields.dtsTicks,
    fields.compositionTicks,
    fields.durationTicks,
    fields.sizeBytes,
    fields.isKey,
    fields.offsetBytes,
  ].map((column) => column.buffer as ArrayBuffer);
