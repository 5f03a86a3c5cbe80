import { join } from 'node:path';
import { AppError } from '../../base/errors.js';
import { archiveError, isGone } from '../archive-error.js';
import type { PartRange } from '../export/clip-layout.js';
import { folderOf, readName } from '../files/archive-path.js';
import { parseRecordingName } from '../files/file-name.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobRunner } from '../jobs/jobs.js';
import { holesIn, type TimeSpan } from '../keep/kept-spans.js';
import { placeOf, type Recording } from '../list/recording.js';
import { boxUnheard, meantOf } from '../list/with-others.js';
import { boxAway } from '../offsite/stored-bytes.js';
import { byRank, type Candidate, chooseParts } from '../parts/choose-parts.js';
import { PartIndexes } from '../parts/part-indexes.js';
import type { RecordedParts } from '../parts/recorded-parts.js';

/** Where recordings are found. */
export type RecordingFinder = {
  list(cameraId: string): Promise<readonly Recording[]>;
  find(cameraId: string, fileName: string, box?: string | null): Promise<Recording>;
  /** Other boxes may have recordings of the same names. */
  readonly isShared?: boolean;
  /** Boxes that may have more than is listed. */
  unheard?(cameraId: string): readonly string[];
};

/** A recording, where it is, and its parts. */
export type Located = {
  readonly recording: Recording;
  readonly source: RecordingSource;
  readonly parts: RecordedParts;
  /** By which addresses tell it from what other boxes have under its name; null: none does. */
  readonly box: string | null;
};

/** One that can't be read now, or ever; or what a box may have. */
export type Missing = {
  readonly recording: Pick<Recording, 'box' | 'startMs' | 'endMs'>;
  readonly fault: unknown;
};

/** `missing`: they may be shown by others of the same time. */
export type LocatedWithin = {
  /** All recordings of a camera, sorted by start. */
  readonly all: readonly Recording[];
  readonly located: readonly Located[];
  readonly missing: readonly Missing[];
};

/** What of it overlaps a time. */
export type LocatedRange = PartRange &
  Located & {
    /** Of the last one: up to when another one behind it is written of which no part is whole yet; null: there is none. */
    readonly followedMs: number | null;
  };

/** A stretch of one that nothing else shows. */
export type Unshown = Missing & { readonly span: TimeSpan };

/** What overlaps a range by less only touches it. */
const LEAST_OVERLAP_MS = 1;
const MAX_RANGE_MS = 24 * 3_600_000;
/** A camera that comes and goes has a file each time: so many take two or three seconds. */
const MAX_RANGE_FILES = 2_000;
/** What is shown as no gap (intervals.ts) is none. */
const LEAST_HOLE_MS = 2_000;

/** Finds recordings and their parts, by name and by time. */
export class RecordingLocator {
  readonly #archiveDir: string;
  readonly #recordings: RecordingFinder;
  readonly #indexes: PartIndexes;
  readonly #box: string;

  constructor(
    options: { readonly archiveDir: string; readonly box?: string },
    deps: { readonly recordings: RecordingFinder; readonly runner: JobRunner },
  ) {
    this.#archiveDir = options.archiveDir;
    this.#box = options.box ?? '';
    this.#recordings = deps.recordings;
    this.#indexes = new PartIndexes({}, { runner: deps.runner });
  }

  /** One recording by its name, also by the one that it had while it was open. */
  async locate(cameraId: string, fileName: string, box: string | null = null): Promise<Located> {
    return this.#partsOf(cameraId, await this.#find(cameraId, fileName, box));
  }

  /** The recordings that overlap a time, with all of their parts. Throws what is wrong with one that no other box has any of. */
  async locateWithin(cameraId: string, fromMs: number, toMs: number): Promise<LocatedWithin> {
    if (!(fromMs < toMs)) throw archiveError('bad_range', 'the range has to begin before it ends');
    if (toMs - fromMs > MAX_RANGE_MS) throw archiveError('range_too_large', 'a range has 24 hours at most');
    const all = await this.#recordings.list(cameraId);
    const wanted = all.filter(({ startMs, endMs }) => startMs < toMs && endMs > fromMs);
    if (wanted.length > MAX_RANGE_FILES) {
      throw archiveError('range_too_large', 'this time has too many recordings; ask for less at a time');
    }
    const areSeveral = !areOfOneBox(wanted);
    const unheard = this.#recordings.unheard?.(cameraId) ?? [];
    const [located, missing]: [Located[], Missing[]] = [[], []];
    for (const recording of wanted) {
      try {
        located.push(await this.#partsOf(cameraId, recording));
      } catch (fault) {
        const isOther = recording.box !== this.#box;
        if (!(fault instanceof AppError && (isOther || areSeveral))) throw fault;
        missing.push({ recording, fault });
      }
    }
    for (const box of unheard)
      missing.push({ recording: { box, startMs: fromMs, endMs: toMs }, fault: boxUnheard(box) });
    return { all, located, missing };
  }

  /**
   * The parts of all files that overlap a time, each moment once; throws where there are none. `isPartial`: without what another box
   * can't give now, unless that is all.
   */
  async locateRange(
    cameraId: string,
    fromMs: number,
    toMs: number,
    isPartial = false,
  ): Promise<LocatedRange[]> {
    const { located, missing } = await this.locateWithin(cameraId, fromMs, toMs);
    const found: LocatedRange[] = [];
    for (const { of, first, end } of chooseParts(located.map(asCandidate))) {
      const range = partsBetween(of.located.parts, { first, end }, fromMs, toMs);
      if (range !== null) found.push({ ...of.located, ...range, followedMs: null });
    }
    const last = found.pop();
    if (last !== undefined) found.push({ ...last, followedMs: endOfBegun(located, last) });
    const spans = found.map(({ parts, first, end }) => ({
      fromMs: parts.wallMs[first]!,
      toMs: parts.wallEndMs(end - 1),
    }));
    this.assertShown(missing, { fromMs, toMs }, spans, isPartial);
    if (found.length === 0) throw missing[0]?.fault ?? nothingRecorded();
    return found;
  }

  /** Throws what is wrong with one whose time nothing else shows; of other boxes' only unless some is enough. */
  assertShown(
    missing: readonly Missing[],
    { fromMs, toMs }: TimeSpan,
    spans: readonly TimeSpan[],
    isPartial: boolean,
  ): void {
    for (const hole of unshownOf(missing, { fromMs, toMs }, spans)) {
      if (hole.recording.box === this.#box) throw hole.fault;
      if (!isPartial) throw ofOther(hole.fault);
    }
  }

  /**
   * All recordings of a camera, sorted by start, and the parts of the last one that has a picture by `atMs`. Throws what is wrong with
   * one that has a later picture by then.
   */
  async locateBefore(
    cameraId: string,
    atMs: number,
  ): Promise<{ readonly all: readonly Recording[]; readonly located: Located }> {
    const all = await this.#recordings.list(cameraId);
    const begun = all.filter(({ startMs }) => startMs <= atMs).toReversed();
    const isOfOne = areOfOneBox(all);
    const at = isOfOne ? [] : begun.filter(({ endMs }) => endMs > atMs);
    const known = new Map<Recording, Located>();
    const missing: Missing[] = [];
    const look = async (recording: Recording): Promise<Located | null> => {
      try {
        const located = known.get(recording) ?? (await this.#partsOf(cameraId, recording));
        known.set(recording, located);
        return located;
      } catch (fault) {
        if (isOfOne && recording.box === this.#box) throw fault;
        if (!missing.some((one) => one.recording === recording)) missing.push({ recording, fault });
        return null;
      }
    };
    for (const recording of at.sort((a, b) => byRank({ recording: a }, { recording: b }))) {
      const located = await look(recording);
      if (located !== null && hasMoment(located, atMs)) return { all, located };
    }
    for (const recording of begun) {
      const located = await look(recording);
      if (located === null || !hasBefore(located, atMs)) continue;
      const endMs = endBefore(located, atMs);
      const later = missing.find((one) => Math.min(one.recording.endMs, atMs) - endMs > LEAST_HOLE_MS);
      if (later !== undefined) throw ofOther(later.fault);
      return { all, located };
    }
    throw missing[0]?.fault ?? nothingRecorded();
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
    return moved === undefined ? null : { ...source, path: this.#pathOf(cameraId, moved) };
  }

  async #partsOf(cameraId: string, recording: Recording): Promise<Located> {
    if (recording.isAway === true) throw boxAway(recording.box);
    const source = this.#sourceOf(cameraId, recording);
    const box = this.#recordings.isShared === true ? recording.box : null;
    return { recording, source, box, parts: await this.#indexes.partsOf(recording, source) };
  }

  #pathOf(cameraId: string, { fileName, box }: Recording): string {
    const path = join(folderOf(this.#archiveDir, cameraId), fileName);
    // Nobody opens it by that: it tells it from what is here under its name.
    return box === this.#box ? path : `${path} ${box}`;
  }

  #sourceOf(cameraId: string, recording: Recording): RecordingSource {
    const { isOpen, ino, sizeBytes, mtimeMs, ctimeMs, stored } = recording;
    const path = this.#pathOf(cameraId, recording);
    return {
      path,
      stamp: { ino, sizeBytes, mtimeMs, ctimeMs },
      isOpen,
      ...(stored && { stored: placeOf(stored) }),
    };
  }
}

const endOfBegun = (located: readonly Located[], behind: Located): number | null => {
  const begun = located.filter(
    ({ recording, parts }) =>
      recording.isOpen && parts.count === 0 && recording.startMs >= behind.recording.startMs,
  );
  return begun.length === 0 ? null : Math.max(...begun.map(({ recording }) => recording.endMs));
};

/** Of a time what nothing shows since it can't be read, each stretch once. */
export const unshownOf = (
  missing: readonly Missing[],
  { fromMs, toMs }: TimeSpan,
  spans: readonly TimeSpan[],
): Unshown[] => {
  const unshown: Unshown[] = [];
  const known = [...spans];
  for (const one of missing) {
    const { startMs, endMs } = one.recording;
    const time = { fromMs: Math.max(startMs, fromMs), toMs: Math.min(endMs, toMs) };
    known.sort((a, b) => a.fromMs - b.fromMs);
    for (const span of holesIn(time, known)) {
      if (span.toMs - span.fromMs <= LEAST_HOLE_MS) continue;
      unshown.push({ ...one, span });
      known.push(span);
    }
  }
  return unshown;
};

/** What is elsewhere is known by what was told: where it isn't there any more pieces of it may be that aren't known yet. */
const ofOther = (fault: unknown): unknown => (isGone(fault) ? listedAnew() : fault);

const areOfOneBox = (recordings: readonly Recording[]): boolean =>
  recordings.every(({ box }) => box === recordings[0]!.box);

const asCandidate = (located: Located): Candidate & { readonly located: Located } => {
  const { recording, parts } = located;
  const { count, wallMs } = parts;
  return {
    located,
    recording,
    count,
    wallMs: (part) => wallMs[part]!,
    wallEndMs: (part) => parts.wallEndMs(part),
  };
};

/** Whether it has a picture by then, be it long before. */
const hasBefore = ({ parts }: Located, atMs: number): boolean =>
  parts.count > 0 ? parts.wallMs[0]! <= atMs : parts.isOneOpen;

/** Where its last picture by then ends. */
const endBefore = ({ parts }: Located, atMs: number): number => {
  let part = parts.count - 1;
  while (part > 0 && parts.wallMs[part]! > atMs) part -= 1;
  return part < 0 ? atMs : Math.min(parts.wallEndMs(part), atMs);
};

/** Whether it shows that very moment; what is being written goes on behind its last part. */
const hasMoment = (located: Located, atMs: number): boolean => {
  const { parts, recording } = located;
  let part = parts.count - 1;
  while (part >= 0 && parts.wallMs[part]! > atMs) part -= 1;
  if (part < 0) return parts.count === 0 && parts.isOneOpen;
  return parts.wallEndMs(part) > atMs || (part === parts.count - 1 && recording.isOpen);
};

/** Parts that overlap a time, or null. Where a file is listed to begin or end is cut to the millisecond. */
const partsBetween = (
  parts: RecordedParts,
  of: { readonly first: number; readonly end: number },
  fromMs: number,
  toMs: number,
): { readonly first: number; readonly end: number } | null => {
  let { first, end } = of;
  while (first < end && parts.wallEndMs(first) - fromMs < LEAST_OVERLAP_MS) first += 1;
  while (end > first && toMs - parts.wallMs[end - 1]! < LEAST_OVERLAP_MS) end -= 1;
  return first < end ? { first, end } : null;
};

const listedAnew = (): AppError =>
  archiveError('recording_changed', 'a recording of another box is not there any more: all are listed anew', {
    retryAfterSec: 2,
  });

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
