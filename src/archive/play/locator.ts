import { join } from 'node:path';
import { AppError } from '../../base/errors.js';
import { archiveError, isGone } from '../archive-error.js';
import type { PartRange } from '../export/clip-layout.js';
import { folderOf, readName } from '../files/archive-path.js';
import { parseRecordingName } from '../files/file-name.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Recording } from '../list/recording.js';
import { meantOf } from '../list/with-others.js';
import { boxAway } from '../offsite/stored-bytes.js';
import { PartIndexes } from '../parts/part-indexes.js';
import type { RecordedParts } from '../parts/recorded-parts.js';

/** Where recordings are found. */
export type RecordingFinder = {
  list(cameraId: string): Promise<readonly Recording[]>;
  find(cameraId: string, fileName: string, box?: string | null): Promise<Recording>;
  /** Other boxes may have recordings of the same names. */
  readonly isShared?: boolean;
};

/** A recording, where it is, and its parts. */
export type Located = {
  readonly recording: Recording;
  readonly source: RecordingSource;
  readonly parts: RecordedParts;
  /** By which addresses tell it from what other boxes have under its name; null: none does. */
  readonly box: string | null;
};

/** What of it overlaps a time. */
export type LocatedRange = PartRange & Located;

/** What overlaps a range by less only touches it. */
const LEAST_OVERLAP_MS = 1;
const MAX_RANGE_MS = 24 * 3_600_000;
/** A camera that comes and goes has a file each time: so many take two or three seconds. */
const MAX_RANGE_FILES = 2_000;

/** Finds recordings and their parts, by name and by time. */
export class RecordingLocator {
  readonly #archiveDir: string;
  readonly #recordings: RecordingFinder;
  readonly #indexes: PartIndexes;

  constructor(
    options: { readonly archiveDir: string },
    deps: { readonly recordings: RecordingFinder; readonly runner: JobRunner },
  ) {
    this.#archiveDir = options.archiveDir;
    this.#recordings = deps.recordings;
    this.#indexes = new PartIndexes({}, { runner: deps.runner });
  }

  /** One recording by its name, also by the one that it had while it was open. */
  async locate(cameraId: string, fileName: string, box: string | null = null): Promise<Located> {
    return this.#partsOf(cameraId, await this.#find(cameraId, fileName, box));
  }

  /**
   * All recordings of a camera, sorted by start, and the parts of those that overlap a time. `isPartial`: without those of
   * boxes that are away, unless these have all of it.
   */
  async locateWithin(
    cameraId: string,
    fromMs: number,
    toMs: number,
    isPartial = false,
  ): Promise<{ readonly all: readonly Recording[]; readonly located: readonly Located[] }> {
    if (!(fromMs < toMs)) throw archiveError('bad_range', 'the range has to begin before it ends');
    if (toMs - fromMs > MAX_RANGE_MS) throw archiveError('range_too_large', 'a range has 24 hours at most');
    const all = await this.#recordings.list(cameraId);
    const within = all.filter(({ startMs, endMs }) => startMs < toMs && endMs > fromMs);
    const readable = isPartial ? within.filter(({ isAway }) => isAway !== true) : within;
    const wanted = readable.length === 0 ? within : readable;
    if (wanted.length > MAX_RANGE_FILES) {
      throw archiveError('range_too_large', 'this time has too many recordings; ask for less at a time');
    }
    const located: Located[] = [];
    for (const recording of wanted) located.push(await this.#partsOf(cameraId, recording));
    return { all, located };
  }

  /** The parts of all files that overlap a time; throws where there are none. */
  async locateRange(
    cameraId: string,
    fromMs: number,
    toMs: number,
    isPartial = false,
  ): Promise<LocatedRange[]> {
    const found: LocatedRange[] = [];
    for (const one of (await this.locateWithin(cameraId, fromMs, toMs, isPartial)).located) {
      const range = partsBetween(one.parts, fromMs, toMs);
      if (range !== null) found.push({ ...one, ...range });
    }
    if (found.length === 0) throw nothingRecorded();
    return found;
  }

  /** All recordings of a camera, sorted by start, and the parts of the last one that has a picture by `atMs`. */
  async locateBefore(
    cameraId: string,
    atMs: number,
  ): Promise<{ readonly all: readonly Recording[]; readonly located: Located }> {
    const all = await this.#recordings.list(cameraId);
    for (const recording of all.filter(({ startMs }) => startMs <= atMs).toReversed()) {
      const located = await this.#partsOf(cameraId, recording);
      const { parts } = located;
      if (parts.count > 0 ? parts.wallMs[0]! <= atMs : recording.isOpen) return { all, located };
    }
    throw nothingRecorded();
  }

  /** A file that was open when its address was handed out may be closed by now, and have another name. */
  async #find(cameraId: string, fileName: string, box: string | null): Promise<Recording> {
    try {
      return await this.#recordings.find(cameraId, fileName, box);
    } catch (fault) {
      if (!isGone(fault) || readName(fileName).endMs !== null) throw fault;
      const closed = await this.#findClosed(cameraId, fileName, box);
      if (closed === null) throw fault;
      return closed;
    }
  }

  async #findClosed(cameraId: string, openFileName: string, box: string | null): Promise<Recording | null> {
    const { startMs } = readName(openFileName);
    const all = await this.#recordings.list(cameraId);
    const isIt = (recording: Recording): boolean =>
      !recording.isOpen && parseRecordingName(recording.fileName)?.startMs === startMs;
    return meantOf(all.filter(isIt), box);
  }

  /** Where a file is that was renamed, since it was closed meanwhile; null: it is gone. */
  async relocate(cameraId: string, source: RecordingSource): Promise<RecordingSource | null> {
    const all = await this.#recordings.list(cameraId);
    // What a store has alone tells of an inode that may be another file's by now.
    if (source.stored?.ofBox !== undefined) return null;
    const moved = all.find(({ ino, stored }) => ino === source.stamp.ino && stored?.isAlone !== true);
    return moved === undefined ? null : { ...source, path: this.#pathOf(cameraId, moved.fileName) };
  }

  async #partsOf(cameraId: string, recording: Recording): Promise<Located> {
    if (recording.isAway === true) throw boxAway(recording.box);
    const source = this.#sourceOf(cameraId, recording);
    const box = this.#recordings.isShared === true ? recording.box : null;
    return { recording, source, box, parts: await this.#indexes.partsOf(recording, source) };
  }

  #pathOf(cameraId: string, fileName: string): string {
    return join(folderOf(this.#archiveDir, cameraId), fileName);
  }

  #sourceOf(cameraId: string, recording: Recording): RecordingSource {
    const { fileName, isOpen, ino, sizeBytes, mtimeMs, ctimeMs, stored } = recording;
    const here = this.#pathOf(cameraId, fileName);
    // Nobody opens it by that: it tells it from what is here under its name.
    const path = stored?.ofBox === undefined ? here : `${here} ${stored.ofBox}`;
    return { path, stamp: { ino, sizeBytes, mtimeMs, ctimeMs }, isOpen, ...(stored && { stored }) };
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

const nothingRecorded = (): AppError => archiveError('not_found', 'nothing was recorded in this time');

/** An error of a recording without a whole part. */
export const nothingIn = ({ isOpen }: Recording): AppError =>
  isOpen
    ? archiveError('recording_not_ready', 'the recording has just begun', { retryAfterSec: 2 })
    : archiveError('recording_unreadable', 'there is no picture in this recording');

/** Throws `bad_seq` for what is the number of no part. */
export const requireSeq = (name: string, seq: number, { count }: RecordedParts): void => {
  if (Number.isInteger(seq) && seq >= 0 && seq < count) return;
  throw archiveError('bad_seq', `${name} has to be a whole number from 0 to ${count - 1}`);
};

/** Tries once more, since a file may be closed, renamed or replaced between two looks at it. */
export const twice = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (fault) {
    if (!(fault instanceof AppError && ['recording_changed', 'not_found'].includes(fault.code))) throw fault;
    return work();
  }
};
