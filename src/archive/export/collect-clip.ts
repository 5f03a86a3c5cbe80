import { performance } from 'node:perf_hooks';
import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { FileScanner, FragmentInfo } from '../../fmp4/file-scanner.js';
import { append, type GrowingColumn, growingF64, growingU32 } from '../../fmp4/growing-column.js';
import { PlainMovie, type PlainMovieState } from '../../fmp4/plain-movie.js';
import type { PlainTrackSpec } from '../../fmp4/plain-track.js';
import { archiveError } from '../archive-error.js';
import { videoIndexOf } from '../files/file-times.js';
import { Moved } from '../files/job-result.js';
import { type RecordingSource, unreadable, withRecording } from '../files/recording-source.js';
import { type ClipPlace, keptSamples, type SoundLimits, type TrackKind } from './clip-layout.js';

/** What a clip takes of one file; times in ticks of the file's own video. */
type ClipFile = {
  readonly firstPtsTicks: number;
  readonly videoHz: number;
  readonly sound: SoundLimits | null;
};

/** A clip as far as it is planned. It moves from job to job, so that it is nowhere twice. */
export type ClipState = {
  readonly movie: PlainMovieState;
  /** Of the movie's tracks. */
  readonly formats: PlainTrackSpec[];
  readonly files: ClipFile[];
  /** Of each fragment: its file's number, where its prft or moof is, and bytes that the clip takes of it. */
  readonly fragmentFile: GrowingColumn;
  readonly fragmentOffset: GrowingColumn<Float64Array<ArrayBuffer>>;
  readonly fragmentBytes: GrowingColumn;
};

export type CollectClipInput = {
  readonly source: RecordingSource;
  /** Borders of parts. */
  readonly fromBytes: number;
  readonly endBytes: number;
  readonly place: ClipPlace;
  /** What the wall clock showed at the first picture. */
  readonly wallMs: number;
  readonly isNewFile: boolean;
  /** What may lie between two samples, by the kind of their track. */
  readonly pauseSeconds: Readonly<Record<TrackKind, number>>;
  readonly state: ClipState;
};

export type CollectClipOutput = {
  readonly state: ClipState;
  /** The walk took too long, and goes on here; null: that was all. */
  readonly nextBytes: number | null;
};

const BUDGET_MS = 1_500;
/** A day of 60 pictures and 47 sounds a second: 80 MB while it is planned. */
const MAX_CLIP_SAMPLES = 10_000_000;

export const emptyClip = (): ClipState => ({
  movie: new PlainMovie().state,
  formats: [],
  files: [],
  fragmentFile: growingU32(),
  fragmentOffset: growingF64(),
  fragmentBytes: growingU32(),
});

/** The memory of a clip's columns, to be moved between threads. */
export const memoryOf = ({
  movie,
  fragmentFile,
  fragmentOffset,
  fragmentBytes,
}: ClipState): ArrayBuffer[] => [
  ...[fragmentFile, fragmentOffset, fragmentBytes].map(({ values }) => values.buffer),
  ...movie.tracks.flatMap(({ sizes, deltas, compositions, keys, chunkOffsets, chunkRuns }) =>
    [sizes, deltas, compositions, keys, chunkOffsets, chunkRuns].map(({ values }) => values.buffer),
  ),
];

export const kindsOf = ({ formats }: ClipState): TrackKind[] => formats.map(({ kind }) => kind);

/** Job: adds the samples of some parts of a recording. */
export const collectClip = (input: CollectClipInput): Moved<CollectClipOutput> =>
  withRecording(input.source, (recording) => {
    const { fromBytes, endBytes, state, isNewFile } = input;
    const walk = recording.walk(fromBytes, endBytes);
    const collector = new ClipCollector(walk.scanner, input);
    if (isNewFile) collector.addTracks();
    const startedMs = performance.now();
    let count = 0;
    const isAtEnd = walk.readAll(
      (fragment) => {
        collector.take(fragment);
        count += 1;
      },
      () => count === 0 || performance.now() - startedMs < BUDGET_MS,
    );
    const nextBytes = isAtEnd ? null : walk.scanner.wholeBytes;
    return new Moved({ state, nextBytes }, memoryOf(state));
  });

const isSameFormat = (a: PlainTrackSpec, b: PlainTrackSpec): boolean =>
  a.timescaleHz === b.timescaleHz && Buffer.compare(a.sampleEntry, b.sampleEntry) === 0;

class ClipCollector {
  readonly #scanner: FileScanner;
  readonly #input: CollectClipInput;
  readonly #movie: PlainMovie;
  #isFileKnown: boolean;

  constructor(scanner: FileScanner, input: CollectClipInput) {
    this.#scanner = scanner;
    this.#input = input;
    this.#movie = new PlainMovie(input.state.movie);
    this.#isFileKnown = !input.isNewFile;
  }

  /** One track has one format in an MP4 that every player takes. */
  addTracks(): void {
    const { state, pauseSeconds } = this.#input;
    for (const { kind, timescaleHz, width, height, sampleEntry } of this.#scanner.movie?.tracks ?? []) {
      const format = { kind, timescaleHz, width, height, sampleEntry };
      const before = state.formats.find((other) => other.kind === kind);
      if (before === undefined) {
        state.formats.push(format);
        this.#movie.addTrack(format, pauseSeconds[kind]);
      } else if (!isSameFormat(before, format)) throw mixedFormats(kind, this.#input.wallMs);
    }
  }

  take(fragment: FragmentInfo): void {
    const { state } = this.#input;
    if (!this.#isFileKnown) this.#beginFile(fragment);
    const file = state.files.at(-1)!;
    const kinds = kindsOf(state);
    let lengthBytes = 0;
    for (const [track, kept] of keptSamples(this.#scanner, fragment, kinds, file.sound).entries()) {
      if (kept === null) continue;
      const { columns, first, end } = kept;
      this.#movie.addChunk(track, columns, first, end, this.#shiftTicks(file, state.formats[track]!));
      for (let at = first; at < end; at += 1) lengthBytes += columns.sizeBytes[at]!;
    }
    if (lengthBytes === 0) return;
    append(state.fragmentFile, state.files.length - 1);
    append(state.fragmentOffset, fragment.offsetBytes);
    append(state.fragmentBytes, lengthBytes);
    if (this.#movie.sampleCount > MAX_CLIP_SAMPLES) {
      throw archiveError('range_too_large', 'this is too much for one export; ask for less at a time');
    }
  }

  /** The first picture says where the file stands; sound was recorded beside the decoding of the pictures. */
  #beginFile({ firstSamples, endSamples }: FragmentInfo): void {
    const { state, place } = this.#input;
    const video = videoIndexOf(this.#scanner);
    const columns = this.#scanner.columns[video];
    const first = firstSamples[video] ?? 0;
    if (columns === undefined || first >= (endSamples[video] ?? 0))
      throw unreadable('it begins with no picture');
    const dtsTicks = columns.dtsTicks[first]!;
    const videoHz = this.#scanner.movie!.tracks[video]!.timescaleHz;
    const sound = this.#scanner.movie!.tracks.find(({ kind }) => kind === 'audio');
    const scale = (sound?.timescaleHz ?? 1) / videoHz;
    const endTicks = dtsTicks + (place.durationTicks * videoHz) / VIDEO_CLOCK_HZ;
    const limits = {
      fromTicks: dtsTicks * scale,
      toTicks: place.isLast ? Number.POSITIVE_INFINITY : endTicks * scale,
      keepsOverlap: place.isApart,
    };
    const firstPtsTicks = dtsTicks + columns.compositionTicks[first]!;
    state.files.push({ firstPtsTicks, videoHz, sound: sound === undefined ? null : limits });
    this.#isFileKnown = true;
  }

  /** From the file's time to the clip's, in which the first picture of the first file is at 0. */
  #shiftTicks({ firstPtsTicks, videoHz }: ClipFile, { timescaleHz }: PlainTrackSpec): number {
    const seconds = this.#input.place.startTicks / VIDEO_CLOCK_HZ - firstPtsTicks / videoHz;
    return Math.round(seconds * timescaleHz);
  }
}

const mixedFormats = (kind: TrackKind, wallMs: number) => {
  const at = new Date(wallMs).toISOString();
  const message = `the ${kind} changes its format at ${at}; export up to there`;
  return archiveError('mixed_formats', message, { at, kind });
};
