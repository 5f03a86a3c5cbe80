import { createHash } from 'node:crypto';
import { archiveError } from './archive-error.js';
import { Clip, type ClipDeps } from './clip.js';
import type { JobRunner } from './jobs.js';
import type { ClipFile } from './join-samples.js';
import type { ClipTrack, ReadSamplesOutput, SampleFields } from './read-samples.js';
import type { RecordedParts } from './recorded-parts.js';
import type { RecordingSource } from './recording-source.js';

/** Parts [first, end) of one recording. */
export type PartRange = {
  readonly source: RecordingSource;
  readonly parts: RecordedParts;
  readonly first: number;
  readonly end: number;
};

/** Some 100 MB while it is planned: eight hours of 25 pictures and 44 sounds a second, or a day of pictures. */
const MAX_CLIP_SAMPLES = 2_200_000;
/** Heads of clips are held until they are sent: 4 MB an hour. */
const MAX_CLIPS = 24;
const MAX_PLANNED_AT_ONCE = 3;

/** Plans clips of parts of recordings, a bounded number at a time. */
export class ClipPlanner {
  readonly #runner: JobRunner;
  #planning = 0;
  readonly #waiting: (() => void)[] = [];
  #open = 0;

  constructor(deps: { readonly runner: JobRunner }) {
    this.#runner = deps.runner;
  }

  /** Throws `mixed_formats` where the tracks change, `range_too_large`, and `archive_busy` for too many at once. */
  async plan(ranges: readonly PartRange[], relocate: ClipDeps['relocate']): Promise<Clip> {
    if (this.#open >= MAX_CLIPS) throw archiveError('archive_busy', 'too many exports at once; try again');
    this.#open += 1;
    await this.#enter();
    let isPlanned = false;
    try {
      const clip = await this.#plan(ranges.map(bounded), relocate);
      isPlanned = true;
      return clip;
    } finally {
      this.#leave();
      if (!isPlanned) this.#open -= 1;
    }
  }

  /** Those who ask while others are planned wait for their turn: it takes a fraction of a second each. */
  async #enter(): Promise<void> {
    if (this.#planning < MAX_PLANNED_AT_ONCE) this.#planning += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place goes to whoever has waited longest. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#planning -= 1;
    else next();
  }

  async #plan(ranges: readonly PartRange[], relocate: ClipDeps['relocate']): Promise<Clip> {
    const files: ClipFile[] = [];
    let samplesLeft = MAX_CLIP_SAMPLES;
    for (const range of ranges) {
      const file = await this.#readFile(range, samplesLeft);
      requireSameFormats(files, file, range);
      samplesLeft -= samplesIn(file);
      files.push(file);
    }
    const plan = await this.#runner.run('planClip', { files });
    const sources = ranges.map(({ source }) => source);
    const lastModifiedMs = Math.max(...sources.map(({ stamp }) => stamp.mtimeMs));
    const facts = { etag: etagOf(ranges), lastModifiedMs };
    const onClose = (): void => {
      this.#open -= 1;
    };
    return new Clip(plan, sources, facts, { runner: this.#runner, relocate, onClose });
  }

  async #readFile({ source, parts, first, end }: PartRange, samplesLeft: number): Promise<ClipFile> {
    const endBytes = parts.endBytes[end - 1]!;
    const pieces: (readonly SampleFields[])[] = [];
    let tracks: readonly ClipTrack[] = [];
    for (let fromBytes: number | null = parts.startBytes[first]!; fromBytes !== null; ) {
      const piece: ReadSamplesOutput = await this.#runner.run('readSamples', { source, fromBytes, endBytes });
      tracks = piece.tracks;
      pieces.push(piece.samples);
      if (samplesIn({ tracks, pieces }) > samplesLeft) {
        throw archiveError('range_too_large', 'this is too much for one export; ask for less at a time');
      }
      fromBytes = piece.nextBytes;
    }
    return { tracks, pieces };
  }
}

/** An open file is the same one as long as what the clip takes of it is there, however it goes on. */
const bounded = (range: PartRange): PartRange => {
  const { source, parts, end } = range;
  if (!source.isOpen) return range;
  return { ...range, source: { ...source, stamp: { ...source.stamp, sizeBytes: parts.endBytes[end - 1]! } } };
};

const samplesIn = ({ pieces }: ClipFile): number => pieces.flat().reduce((sum, { count }) => sum + count, 0);

const isSameFormat = (a: ClipTrack, b: ClipTrack): boolean =>
  a.timescaleHz === b.timescaleHz && Buffer.compare(a.sampleEntry, b.sampleEntry) === 0;

/** One track has one format in an MP4 that every player takes. */
const requireSameFormats = (
  before: readonly ClipFile[],
  file: ClipFile,
  { parts, first }: PartRange,
): void => {
  for (const track of file.tracks) {
    const other = before.flatMap(({ tracks }) => tracks).find(({ kind }) => kind === track.kind);
    if (other === undefined || isSameFormat(other, track)) continue;
    const at = new Date(parts.wallMs[first]!).toISOString();
    throw archiveError('mixed_formats', `the ${track.kind} changes its format at ${at}; export up to there`, {
      at,
      kind: track.kind,
    });
  }
};

const etagOf = (ranges: readonly PartRange[]): string => {
  const facts = ranges.map(({ source: { stamp, isOpen }, parts, first, end }) => [
    stamp.ino,
    isOpen ? 0 : stamp.mtimeMs,
    parts.startBytes[first],
    parts.endBytes[end - 1],
  ]);
  return `"${createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 27)}"`;
};
