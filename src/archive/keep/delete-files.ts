import { lstatSync, readdirSync, rmdirSync, statfsSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.js';
import { eachFolder, type FilePlace, placeKey } from '../files/archive-folders.js';
import { folderOf } from '../files/archive-path.js';
import { deleteBelongings, Sharers, sidecarsOf } from '../files/belongings.js';
import { closedName, parseBrokenName, parseRecordingName, parseUnclosedName } from '../files/file-name.js';
import { type FolderNames, knownNames } from '../files/known-names.js';
import { listFolder } from '../files/scan-folder.js';
import { parseSidecarName } from '../files/sidecar-name.js';
import { brokenFileAt } from '../list/broken-files.js';
import { type ClockEra, EraOrder } from './clock-eras.js';

/** What a round of deletions did. */
export type Deletions = {
  readonly deleted: readonly FilePlace[];
  readonly failed: readonly (FilePlace & { readonly reason: string })[];
};

/** What a round for free space did, and how much is free now. */
export type Eviction = Deletions & { readonly freePercent: number };

/** Infinite: all of the camera's recordings go, those too that nobody can play. */
export type ExpiryLimit = { readonly cameraId: string; readonly beforeMs: number };

/** A time of a camera whose recordings are to be left alone. */
export type ProtectedSpan = { readonly cameraId: string; readonly fromMs: number; readonly toMs: number };

/** What a round by age did. */
export type Expiry = Deletions & {
  /** Cameras whose folders have no recordings (any more), and those that have no folder. */
  readonly bare: readonly string[];
  readonly absent: readonly string[];
  /** What was not closed of cameras of which all goes: it may have a recorder still. */
  readonly unclosed: readonly FilePlace[];
};

/** Room on a file system, as statfs tells it. */
export type Space = { readonly bavail: number; readonly blocks: number; readonly bsize: number };

/** Where in the order of age a recording is. */
export type AgePlace = { readonly era: number; readonly endMs: number; readonly key: string };

/** A recording that may go for want of space. */
export type Evictable = FilePlace & { readonly place: AgePlace };

type Candidate = FilePlace & { readonly era: number; readonly endMs: number };

/** When a closed recording ends by its name; null: it is open, or no recording. */
const closedEndMs = (fileName: string): number | null => parseRecordingName(fileName)?.endMs ?? null;

/** The same of all that may be deleted: what was moved aside, too. */
const deletableEndMs = (archiveDir: string, { cameraId, fileName }: FilePlace): number | null =>
  closedEndMs(fileName) ?? brokenFileAt(join(archiveDir, cameraId), fileName)?.endMs ?? null;

/** Job: the newest time in the names of recordings that isn't after another; null: there is none. */
export const newestEnd = (input: {
  readonly archiveDir: string;
  readonly notAfterMs: number;
}): number | null => {
  let newestMs: number | null = null;
  eachFolder(input.archiveDir, (_, names) => {
    for (const fileName of names) {
      const name = parseRecordingName(fileName);
      if (name === null) continue;
      const timeMs = name.endMs ?? name.startMs;
      if (timeMs <= input.notAfterMs && timeMs > (newestMs ?? 0)) newestMs = timeMs;
    }
  });
  return newestMs;
};

/** Whether a recording holds some of a protected time; what was moved aside can't be played, and never does. */
export const protectionBy = (spans: readonly ProtectedSpan[]): ((place: FilePlace) => boolean) => {
  const byCamera = new Map<string, ProtectedSpan[]>();
  for (const span of spans) byCamera.set(span.cameraId, [...(byCamera.get(span.cameraId) ?? []), span]);
  return ({ cameraId, fileName }) => {
    const ofCamera = byCamera.get(cameraId);
    const name = ofCamera === undefined ? null : parseRecordingName(fileName);
    if (ofCamera === undefined || name === null) return false;
    const endMs = name.endMs ?? Number.POSITIVE_INFINITY;
    return ofCamera.some(({ fromMs, toMs }) => name.startMs <= toMs && endMs >= fromMs);
  };
};

class DeletionRound implements Deletions {
  readonly deleted: FilePlace[] = [];
  readonly failed: (FilePlace & { reason: string })[] = [];
  readonly #archiveDir: string;
  readonly #sharers = new Sharers();

  constructor(archiveDir: string) {
    this.#archiveDir = archiveDir;
  }

  get count(): number {
    return this.deleted.length + this.failed.length;
  }

  /** Deletes a regular file; returns how many bytes that should have freed, or null if it is still there. */
  delete({ cameraId, fileName }: FilePlace): number | null {
    const path = join(this.#archiveDir, cameraId, fileName);
    try {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isFile() !== true) return null;
      const sidecarBytes = knownNames(this.#archiveDir).deleteFile(cameraId, fileName, () => {
        unlinkSync(path);
        return deleteBelongings(join(this.#archiveDir, cameraId), fileName, this.#sharers);
      });
      this.deleted.push({ cameraId, fileName });
      return stat.blocks * 512 + sidecarBytes;
    } catch (fault) {
      this.failed.push({ cameraId, fileName, reason: messageOf(fault) });
      return null;
    }
  }

  /** Deletes what belongs to a recording that is no more; whether it is gone. */
  deleteLeft({ cameraId, fileName }: FilePlace): boolean {
    const path = join(this.#archiveDir, cameraId, fileName);
    try {
      if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) unlinkSync(path);
      return true;
    } catch {
      return false;
    }
  }

  get result(): Deletions {
    return { deleted: this.deleted, failed: this.failed };
  }
}

const isOurs = (fileName: string): boolean =>
  parseRecordingName(fileName) !== null ||
  parseBrokenName(fileName) !== null ||
  parseUnclosedName(fileName) !== null;

/** One that can't be looked at may be there. */
const isAbsent = (folder: string): boolean => {
  try {
    return lstatSync(folder, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
};

/** The folder of a camera that has none of our files any more; another's stay, and so does the folder then. */
const removeFolder = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // Not empty, or not there.
  }
};

/** What is in a folder; null: it was removed meanwhile, or is not ours to read. */
const namesIn = (folder: string): string[] | null => {
  try {
    return readdirSync(folder);
  } catch {
    return null;
  }
};

/** Whether something in a folder may be due, or nothing is in it: else it needn't be read. */
const mayHaveDue = (names: FolderNames, order: EraOrder, beforeMs: number): boolean => {
  const { startsMs, endsMs, broken, unclosed, leftMs } = names;
  // When what was moved aside was written to last no name tells.
  if (beforeMs === Number.POSITIVE_INFINITY || broken.length > 0) return true;
  if (startsMs.length + unclosed.length + leftMs.length === 0) return true;
  const isDue = (timeMs: number): boolean => order.rightEndMs(timeMs) < beforeMs;
  return endsMs.some(isDue) || leftMs.some(isDue);
};

/**
 * Job: deletes closed recordings, and what was moved aside, that end before their camera's limit; `maxFiles` at most.
 * Open ones are left alone: they have a recorder, or are repaired first.
 */
export const deleteExpired = (input: {
  readonly archiveDir: string;
  readonly limits: readonly ExpiryLimit[];
  readonly eras: readonly ClockEra[];
  readonly maxFiles: number;
  /** Keys of places. */
  readonly skip: readonly string[];
  readonly spared?: readonly ProtectedSpan[];
}): Expiry => {
  const round = new DeletionRound(input.archiveDir);
  const limits = new Map(input.limits.map(({ cameraId, beforeMs }) => [cameraId, beforeMs]));
  const skip = new Set(input.skip);
  const isProtected = protectionBy(input.spared ?? []);
  const order = new EraOrder(input.eras);
  const unclosed: FilePlace[] = [];
  const bare: string[] = [];
  const absent = [...limits.keys()].filter((cameraId) => isAbsent(join(input.archiveDir, cameraId)));
  for (const [cameraId, known] of knownNames(input.archiveDir).look()) {
    const beforeMs = limits.get(cameraId);
    if (beforeMs === undefined || !mayHaveDue(known, order, beforeMs)) continue;
    const names = namesIn(join(input.archiveDir, cameraId));
    if (names === null) continue;
    const isPurged = beforeMs === Number.POSITIVE_INFINITY;
    const kept: string[] = [];
    for (const fileName of names) {
      if (isPurged && parseUnclosedName(fileName) !== null) unclosed.push({ cameraId, fileName });
      const endMs = deletableEndMs(input.archiveDir, { cameraId, fileName });
      const isOld = endMs !== null && order.rightEndMs(endMs) < beforeMs;
      const isSpared = !isPurged && isProtected({ cameraId, fileName });
      const isDue = isOld && !isSpared && !skip.has(placeKey({ cameraId, fileName }));
      const goes = isDue && round.count < input.maxFiles && round.delete({ cameraId, fileName }) !== null;
      if (!goes && isOurs(fileName)) kept.push(fileName);
    }
    // A power cut, or another hand, leaves what belonged to a recording that is gone: it goes by its own age.
    const sidecars = sidecarsOf(kept);
    for (const fileName of names) {
      const startMs = parseSidecarName(fileName)?.startMs;
      if (startMs === undefined || sidecars.has(fileName)) continue;
      const isOld = order.rightEndMs(startMs) < beforeMs;
      if (!(isOld && round.deleteLeft({ cameraId, fileName }))) kept.push(fileName);
    }
    if (kept.length > 0) continue;
    bare.push(cameraId);
    if (isPurged) removeFolder(join(input.archiveDir, cameraId));
  }
  return { ...round.result, bare, absent, unclosed };
};

/** Job: deletes what was not closed, of cameras of which all goes. Nobody may be writing it. */
export const deleteUnclosed = (input: {
  readonly archiveDir: string;
  readonly places: readonly FilePlace[];
}): Deletions => {
  const round = new DeletionRound(input.archiveDir);
  const places = input.places.filter(({ fileName }) => parseUnclosedName(fileName) !== null);
  for (const cameraId of new Set(places.map((place) => place.cameraId))) {
    const wanted = new Set(places.filter((place) => place.cameraId === cameraId).map(placeKey));
    for (const fileName of listFolder(folderOf(input.archiveDir, cameraId)))
      if (wanted.has(placeKey({ cameraId, fileName }))) round.delete({ cameraId, fileName });
  }
  return round.result;
};

/** Job: deletes files of a camera by their names, as far as they are closed recordings. */
export const deleteFiles = (input: {
  readonly archiveDir: string;
  readonly cameraId: string;
  readonly fileNames: readonly string[];
}): Deletions => {
  const round = new DeletionRound(input.archiveDir);
  const { archiveDir, cameraId } = input;
  const wanted = new Set(input.fileNames.filter((fileName) => closedEndMs(fileName) !== null));
  for (const fileName of listFolder(folderOf(archiveDir, cameraId)))
    if (wanted.has(fileName)) round.delete({ cameraId, fileName });
  return round.result;
};

const byAge = (a: Candidate, b: Candidate): number =>
  a.era - b.era || a.endMs - b.endMs || (placeKey(a) < placeKey(b) ? -1 : 1);

const isBehind = (candidate: Candidate, { era, endMs, key }: AgePlace): boolean =>
  (candidate.era - era || candidate.endMs - endMs) > 0 ||
  (candidate.era === era && candidate.endMs === endMs && placeKey(candidate) > key);

/**
 * By when they were made, which names tell only within an era. All that is known of names is gone through, some 10 ms where
 * there are 360 000; few of them become candidates.
 */
const oldestOf = (
  archiveDir: string,
  order: EraOrder,
  count: number,
  isLeft: (place: FilePlace) => boolean,
  after: AgePlace | null = null,
): Candidate[] => {
  let oldest: Candidate[] = [];
  /** What is younger has no place among them. */
  let last: Candidate | null = null;
  const shorten = (): void => {
    oldest = oldest.sort(byAge).slice(0, count);
    last = oldest[count - 1] ?? null;
  };
  const offer = (cameraId: string, endMs: number, nameOf: () => string): void => {
    const era = order.eraOf(endMs);
    if (last !== null && (era - last.era || endMs - last.endMs) > 0) return;
    if (after !== null && (era - after.era || endMs - after.endMs) < 0) return;
    const candidate = { cameraId, fileName: nameOf(), era, endMs };
    if (isLeft(candidate) || (after !== null && !isBehind(candidate, after))) return;
    oldest.push(candidate);
    if (oldest.length >= count * 16) shorten();
  };
  for (const [cameraId, { startsMs, endsMs, broken }] of knownNames(archiveDir).look()) {
    for (const [at, endMs] of endsMs.entries())
      offer(cameraId, endMs, () => closedName(startsMs[at]!, endMs));
    for (const fileName of broken) {
      const endMs = brokenFileAt(join(archiveDir, cameraId), fileName)?.endMs;
      if (endMs !== undefined) offer(cameraId, endMs, () => fileName);
    }
  }
  shorten();
  return oldest;
};

/** Job: the oldest of what may go for want of space, oldest first, behind a place. */
export const oldestRecordings = (input: {
  readonly archiveDir: string;
  readonly eras: readonly ClockEra[];
  readonly after: AgePlace | null;
  readonly count: number;
  readonly skip: readonly string[];
  readonly spared: readonly ProtectedSpan[];
}): Evictable[] => {
  const skip = new Set(input.skip);
  const isProtected = protectionBy(input.spared);
  const isLeft = (place: FilePlace): boolean => skip.has(placeKey(place)) || isProtected(place);
  const order = new EraOrder(input.eras);
  return oldestOf(input.archiveDir, order, input.count, isLeft, input.after).map((candidate) => {
    const { cameraId, fileName, era, endMs } = candidate;
    return { cameraId, fileName, place: { era, endMs, key: placeKey(candidate) } };
  });
};

/**
 * Job: while too little is free, deletes the oldest closed recordings of all folders. A round stops when the files
 * it deleted should be enough, though the file system doesn't show it yet: some free blocks later (btrfs, XFS), or
 * once the last reader of a file closes it.
 */
export const evictOldest = (
  input: {
    readonly archiveDir: string;
    readonly minFreePercent: number;
    readonly eras: readonly ClockEra[];
    readonly maxFiles: number;
    readonly skip: readonly string[];
    readonly spared?: readonly ProtectedSpan[];
    /** Keys of places: of these alone. */
    readonly only?: readonly string[];
  },
  spaceOf: (path: string) => Space = statfsSync,
): Eviction => {
  const { archiveDir, minFreePercent, maxFiles } = input;
  const round = new DeletionRound(archiveDir);
  const freePercentOf = ({ bavail, blocks }: Space): number => (blocks === 0 ? 100 : (bavail * 100) / blocks);
  let space = spaceOf(archiveDir);
  const shortBlocks = (space.blocks * minFreePercent) / 100 - space.bavail;
  if (shortBlocks <= 0) return { ...round.result, freePercent: freePercentOf(space) };
  let freedBytes = 0;
  const order = new EraOrder(input.eras);
  const skip = new Set(input.skip);
  const isProtected = protectionBy(input.spared ?? []);
  const only = input.only === undefined ? null : new Set(input.only);
  const isLeft = (place: FilePlace): boolean =>
    skip.has(placeKey(place)) || isProtected(place) || only?.has(placeKey(place)) === false;
  for (const place of oldestOf(archiveDir, order, maxFiles, isLeft)) {
    freedBytes += round.delete(place) ?? 0;
    space = spaceOf(archiveDir);
    if (freePercentOf(space) >= minFreePercent || freedBytes >= shortBlocks * space.bsize) break;
  }
  return { ...round.result, freePercent: freePercentOf(space) };
};
