import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { archiveError, isGone } from '../archive-error.js';
import type { Clip } from '../export/clip.js';
import type { PartRange } from '../export/clip-layout.js';
import { ClipPlanner } from '../export/clip-planner.js';
import { folderOf, readName } from '../files/archive-path.js';
import { parseRecordingName } from '../files/file-name.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Recording } from '../list/recording.js';
import { PartIndexes } from '../parts/part-indexes.js';
import type { RecordedParts } from '../parts/recorded-parts.js';
import { Playlists } from './playlist.js';

/** Where playback finds recordings. */
export type RecordingFinder = {
  list(cameraId: string): Promise<readonly Recording[]>;
  find(cameraId: string, fileName: string): Promise<Recording>;
};

/** A part as MPEG-TS. */
export type ArchiveSegment = {
  readonly bytes: Buffer;
  /** Of these very bytes: the same part is always muxed the same. */
  readonly etag: string;
};

/** What a clip is made of: parts of one file (both ends included), or whatever was recorded in a time. */
export type ClipSelection =
  | { readonly fileName: string; readonly startSeq?: number; readonly endSeq?: number }
  | { readonly fromMs: number; readonly toMs: number };

export type PlaylistRequest = {
  /** The viewing session that child addresses carry; null: none. */
  readonly session: string | null;
};

type Located = {
  readonly recording: Recording;
  readonly source: RecordingSource;
  readonly parts: RecordedParts;
};

/** What overlaps a range by less only touches it. */
const LEAST_OVERLAP_MS = 1;
const MAX_RANGE_MS = 24 * 3_600_000;
/** A camera that comes and goes has a file each time: so many take two or three seconds. */
const MAX_RANGE_FILES = 2_000;
/** A recorder that closes a file begins the next one within this; so an end this new may not be one. */
const LIKELY_TO_GO_ON_MS = 15_000;

/** Plays and exports recordings: playlists, segments and clips, all of their disk work done in jobs. */
export class Playback {
  readonly #archiveDir: string;
  readonly #recordings: RecordingFinder;
  readonly #runner: JobRunner;
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #indexes: PartIndexes;
  readonly #playlists = new Playlists();
  readonly #planner: ClipPlanner;

  constructor(
    options: { readonly archiveDir: string },
    deps: {
      readonly recordings: RecordingFinder;
      readonly runner: JobRunner;
      readonly clock: Pick<Clock, 'wallMs'>;
    },
  ) {
    this.#archiveDir = options.archiveDir;
    this.#recordings = deps.recordings;
    this.#runner = deps.runner;
    this.#clock = deps.clock;
    this.#indexes = new PartIndexes({}, { runner: deps.runner });
    this.#planner = new ClipPlanner({ runner: deps.runner });
  }

  /** `archive.m3u8` of one file: VOD, or EVENT while it is being written. */
  async archivePlaylist(
    cameraId: string,
    { fileName, session }: PlaylistRequest & { readonly fileName: string },
  ): Promise<readonly Buffer[]> {
    const { recording, parts } = await twice(() => this.#locate(cameraId, fileName));
    if (parts.count === 0) throw nothingIn(recording);
    // The address that was asked for goes on to work, whatever the file is called by then.
    const section = { fileName, parts, first: 0, end: parts.count };
    return this.#playlists.build([section], { cameraId, isEnded: !recording.isOpen, session });
  }

  /** `range.m3u8`: all that was recorded from `fromMs` to `toMs`, whole parts. */
  async rangePlaylist(
    cameraId: string,
    { fromMs, toMs, session }: PlaylistRequest & { readonly fromMs: number; readonly toMs: number },
  ): Promise<readonly Buffer[]> {
    const found = await twice(() => this.#locateRange(cameraId, fromMs, toMs));
    const sections = found.map(({ recording: { fileName }, ...range }) => ({ fileName, ...range }));
    const isEnded = !this.#mayGoOn(found.at(-1), toMs);
    return this.#playlists.build(sections, { cameraId, isEnded, session });
  }

  /** The segment of part `seq` of a file. */
  async segment(
    cameraId: string,
    { fileName, seq }: { readonly fileName: string; readonly seq: number },
  ): Promise<ArchiveSegment> {
    return twice(async () => {
      const { source, parts } = await this.#locate(cameraId, fileName);
      requireSeq('seq', seq, parts);
      const startBytes = parts.startBytes[seq]!;
      const endBytes = parts.endBytes[seq]!;
      const { bytes } = await this.#runner.run('buildSegment', { source, startBytes, endBytes, seq });
      const { ino, mtimeMs } = source.stamp;
      const etag = `"${ino}-${source.isOpen ? 'open' : mtimeMs}-${startBytes}-${endBytes}"`;
      return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), etag };
    });
  }

  /** An ordinary MP4 of whole parts; close it when it is sent. */
  async clip(cameraId: string, selection: ClipSelection): Promise<Clip> {
    return twice(async () => {
      const ranges =
        'fileName' in selection
          ? [await this.#partsOfFile(cameraId, selection)]
          : await this.#locateRange(cameraId, selection.fromMs, selection.toMs);
      return this.#planner.plan(ranges, (source) => this.#relocate(cameraId, source));
    });
  }

  async #partsOfFile(
    cameraId: string,
    { fileName, startSeq, endSeq }: Extract<ClipSelection, { fileName: string }>,
  ): Promise<PartRange> {
    const { recording, source, parts } = await this.#locate(cameraId, fileName);
    if (parts.count === 0) throw nothingIn(recording);
    const first = startSeq ?? 0;
    const last = endSeq ?? parts.count - 1;
    requireSeq('start_seq', first, parts);
    requireSeq('end_seq', last, parts);
    if (first > last) throw archiveError('bad_seq', 'start_seq is after end_seq');
    return { source, parts, first, end: last + 1 };
  }

  /** The parts of all files that overlap a time; throws where there are none. */
  async #locateRange(
    cameraId: string,
    fromMs: number,
    toMs: number,
  ): Promise<(PartRange & { recording: Recording })[]> {
    if (!(fromMs < toMs)) throw archiveError('bad_range', 'the range has to begin before it ends');
    if (toMs - fromMs > MAX_RANGE_MS) throw archiveError('range_too_large', 'a range has 24 hours at most');
    const found: (PartRange & { recording: Recording })[] = [];
    const all = await this.#recordings.list(cameraId);
    const wanted = all.filter(({ startMs, endMs }) => startMs < toMs && endMs > fromMs);
    if (wanted.length > MAX_RANGE_FILES) {
      throw archiveError('range_too_large', 'this time has too many recordings; ask for less at a time');
    }
    for (const recording of wanted) {
      const source = this.#sourceOf(cameraId, recording);
      const parts = await this.#indexes.partsOf(recording, source);
      const range = partsBetween(parts, fromMs, toMs);
      if (range !== null) found.push({ recording, source, parts, ...range });
    }
    if (found.length === 0) throw archiveError('not_found', 'nothing was recorded in this time');
    return found;
  }

  /** Whether a later answer to the same range could have more at its end. */
  #mayGoOn(last: (PartRange & { recording: Recording }) | undefined, toMs: number): boolean {
    if (last === undefined || last.end < last.parts.count) return false;
    const coveredMs = last.parts.wallEndMs(last.end - 1);
    if (coveredMs >= toMs) return false;
    return last.recording.isOpen || this.#clock.wallMs() - coveredMs < LIKELY_TO_GO_ON_MS;
  }

  async #locate(cameraId: string, fileName: string): Promise<Located> {
    const recording = await this.#find(cameraId, fileName);
    const source = this.#sourceOf(cameraId, recording);
    return { recording, source, parts: await this.#indexes.partsOf(recording, source) };
  }

  /** A file that was open when its address was handed out may be closed by now, and have another name. */
  async #find(cameraId: string, fileName: string): Promise<Recording> {
    try {
      return await this.#recordings.find(cameraId, fileName);
    } catch (fault) {
      if (!isGone(fault) || readName(fileName).endMs !== null) throw fault;
      const closed = await this.#findClosed(cameraId, fileName);
      if (closed === null) throw fault;
      return closed;
    }
  }

  async #findClosed(cameraId: string, openFileName: string): Promise<Recording | null> {
    const { startMs } = readName(openFileName);
    const all = await this.#recordings.list(cameraId);
    const isIt = (recording: Recording): boolean =>
      !recording.isOpen && parseRecordingName(recording.fileName)?.startMs === startMs;
    return all.find(isIt) ?? null;
  }

  async #relocate(cameraId: string, source: RecordingSource): Promise<RecordingSource | null> {
    const all = await this.#recordings.list(cameraId);
    const moved = all.find(({ ino }) => ino === source.stamp.ino);
    return moved === undefined ? null : { ...source, path: this.#pathOf(cameraId, moved.fileName) };
  }

  #pathOf(cameraId: string, fileName: string): string {
    return join(folderOf(this.#archiveDir, cameraId), fileName);
  }

  #sourceOf(cameraId: string, recording: Recording): RecordingSource {
    const { fileName, isOpen, ino, sizeBytes, mtimeMs, ctimeMs } = recording;
    return { path: this.#pathOf(cameraId, fileName), stamp: { ino, sizeBytes, mtimeMs, ctimeMs }, isOpen };
  }
}

/** Parts that overlap a time, or null. Where a file is listed to begin or end is cut to the millisecond. */
const partsBetween = (
  parts: RecordedParts,
  fromMs: number,
  toMs: number,
): { readonly first: number; readonly end: number } | null => {
  let first = 0;
  while (first < parts.count && parts.wallEndMs(first) - fromMs < LEAST_OVERLAP_MS) first += 1;
  let end = parts.count;
  while (end > first && toMs - parts.wallMs[end - 1]! < LEAST_OVERLAP_MS) end -= 1;
  return first < end ? { first, end } : null;
};

const nothingIn = ({ isOpen }: Recording): AppError =>
  isOpen
    ? archiveError('recording_not_ready', 'the recording has just begun', { retryAfterSec: 2 })
    : archiveError('recording_unreadable', 'there is no picture in this recording');

const requireSeq = (name: string, seq: number, { count }: RecordedParts): void => {
  if (Number.isInteger(seq) && seq >= 0 && seq < count) return;
  throw archiveError('bad_seq', `${name} has to be a whole number from 0 to ${count - 1}`);
};

/** Tries once more, since a file may be closed, renamed or replaced between two looks at it. */
const twice = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (fault) {
    if (!(fault instanceof AppError && ['recording_changed', 'not_found'].includes(fault.code))) throw fault;
    return work();
  }
};
