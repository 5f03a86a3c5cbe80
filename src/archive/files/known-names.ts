import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { eachCamera } from './archive-folders.js';
import { parseBrokenName, parseRecordingName, parseUnclosedName } from './file-name.js';
import { parseSidecarName, sidecarOf } from './sidecar-name.js';

/** What is in a camera's folder, by the names of it. */
export type FolderNames = {
  /** Of closed recordings, in no order: when they begin and end. A name says nothing else. */
  readonly startsMs: Float64Array;
  readonly endsMs: Float64Array;
  /** What was moved aside. */
  readonly broken: readonly string[];
  /** What is being written, or was when its writer died. */
  readonly unclosed: readonly string[];
  /** When recordings began whose sidecars lie there without them. */
  readonly leftMs: readonly number[];
};

/** What of a folder changes with each name that comes or goes. */
type FolderStamp = Pick<Stats, 'dev' | 'ino' | 'mtimeMs' | 'ctimeMs'>;

type Known = {
  readonly stamp: FolderStamp;
  /** When the stamp was seen first, and when the names were read, by the monotonic clock. */
  readonly seenMs: number;
  readonly readMs: number;
  /** When a file of it was deleted by whoever asks here; nothing else has changed since it was read. */
  readonly deletedMs: number | null;
  readonly names: FolderNames;
};

/**
 * File systems count time in steps, of 2 s at most: what came in the same step as the last change, but after a look, shows in
 * no stamp. So a folder is read once more when that step is certainly over.
 */
const STEP_MS = 5_000;
/** A folder that was changed so long ago, by its own time, is past it at once. */
const LONG_AGO_MS = 60_000;
/** Whatever a file system may hide is seen after that. */
const MAX_AGE_MS = 3_600_000;
/** Folders that are read for no other reason than that, at a look. */
const OLD_A_LOOK = 8;

/** The names in a folder, each looked at once. */
export const namesOf = (fileNames: readonly string[]): FolderNames => {
  const [startsMs, endsMs]: [number[], number[]] = [[], []];
  const [broken, unclosed]: [string[], string[]] = [[], []];
  const [sidecars, wanted] = [new Map<string, number>(), new Set<string>()];
  for (const fileName of fileNames) {
    const name = parseRecordingName(fileName);
    const sidecar = name === null ? parseSidecarName(fileName) : null;
    if (sidecar !== null) {
      sidecars.set(fileName, sidecar.startMs);
      continue;
    }
    if (name !== null && name.endMs !== null) {
      startsMs.push(name.startMs);
      endsMs.push(name.endMs);
    } else if (name !== null || parseUnclosedName(fileName) !== null) unclosed.push(fileName);
    else if (parseBrokenName(fileName) !== null) broken.push(fileName);
    else continue;
    const own = sidecarOf(fileName);
    if (own !== null) wanted.add(own);
  }
  const left = [...sidecars].filter(([fileName]) => !wanted.has(fileName));
  return {
    ...{ startsMs: Float64Array.from(startsMs), endsMs: Float64Array.from(endsMs), broken, unclosed },
    leftMs: left.map(([, startMs]) => startMs),
  };
};

const without = (names: FolderNames, fileName: string): FolderNames => {
  const { startMs, endMs } = parseRecordingName(fileName) ?? { startMs: 0, endMs: null };
  const isOther = (_: unknown, at: number): boolean =>
    names.startsMs[at] !== startMs || names.endsMs[at] !== endMs;
  return {
    ...names,
    startsMs: names.startsMs.filter(isOther),
    endsMs: names.endsMs.filter(isOther),
    broken: names.broken.filter((name) => name !== fileName),
  };
};

const stampOf = (folder: string): FolderStamp | null => {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true ? stat : null;
};

const isSame = (a: FolderStamp, b: FolderStamp): boolean =>
  a.dev === b.dev && a.ino === b.ino && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;

/**
 * The names in all folders of an archive, 16 bytes a recording, for those who ask again and again which are the oldest. The
 * folders are the truth: at each look those are read that changed, which their own times tell.
 */
export class KnownNames {
  readonly #archiveDir: string;
  #folders = new Map<string, Known>();
  /** How often a folder was read. */
  reads = 0;

  constructor(archiveDir: string) {
    this.#archiveDir = archiveDir;
  }

  /** All folders that may be a camera's, as they are now. */
  look(): ReadonlyMap<string, FolderNames> {
    const folders = new Map<string, Known>();
    const names = new Map<string, FolderNames>();
    const nowMs = performance.now();
    let oldLeft = OLD_A_LOOK;
    eachCamera(this.#archiveDir, (cameraId) => {
      const before = this.#folders.get(cameraId);
      const isOld = before !== undefined && nowMs - before.readMs > MAX_AGE_MS && oldLeft > 0;
      if (isOld) oldLeft -= 1;
      try {
        const known = this.#lookAt(cameraId, isOld ? undefined : before);
        if (known === null) return;
        folders.set(cameraId, known);
        names.set(cameraId, known.names);
      } catch {
        // Removed meanwhile, or not ours to read: no reason to leave out the others.
      }
    });
    this.#folders = folders;
    return names;
  }

  /** One of them; null: there is none. */
  lookAt(cameraId: string): FolderNames | null {
    const before = this.#folders.get(cameraId);
    const isOld = before !== undefined && performance.now() - before.readMs > MAX_AGE_MS;
    const known = this.#lookAt(cameraId, isOld ? undefined : before);
    if (known === null) this.#folders.delete(cameraId);
    else this.#folders.set(cameraId, known);
    return known?.names ?? null;
  }

  /** Deletes a file, and what belongs to it: what is known of its folder goes on to be, without it. */
  deleteFile<Result>(cameraId: string, fileName: string, remove: () => Result): Result {
    const folder = join(this.#archiveDir, cameraId);
    const before = this.#folders.get(cameraId);
    const stampBefore = before === undefined ? null : stampOf(folder);
    const result = remove();
    const stamp = stampBefore === null ? null : stampOf(folder);
    if (before === undefined || stamp === null || !isSame(before.stamp, stampBefore!)) return result;
    const names = without(before.names, fileName);
    this.#folders.set(cameraId, { ...before, stamp, deletedMs: performance.now(), names });
    return result;
  }

  #lookAt(cameraId: string, before: Known | undefined): Known | null {
    const folder = join(this.#archiveDir, cameraId);
    const stamp = stampOf(folder);
    if (stamp === null) return null;
    const isKnown = before !== undefined && isSame(before.stamp, stamp);
    const readMs = performance.now();
    const wasJustDeleted = before?.deletedMs != null && readMs - before.deletedMs < STEP_MS;
    const isSettled = before?.deletedMs === null && before.readMs - before.seenMs >= STEP_MS;
    if (isKnown && (wasJustDeleted || isSettled)) return before;
    const wasLongAgo = Math.abs(Date.now() - Math.max(stamp.mtimeMs, stamp.ctimeMs)) > LONG_AGO_MS;
    const seenMs = isKnown ? before.seenMs : wasLongAgo ? readMs - STEP_MS : readMs;
    this.reads += 1;
    return { stamp, seenMs, readMs, deletedMs: null, names: namesOf(readdirSync(folder)) };
  }
}

/** Of this thread; it has one archive. */
let known: { readonly archiveDir: string; readonly names: KnownNames } | null = null;

/** What this thread knows of an archive's names. */
export const knownNames = (archiveDir: string): KnownNames => {
  if (known?.archiveDir !== archiveDir) known = { archiveDir, names: new KnownNames(archiveDir) };
  return known.names;
};
