import { archiveError } from '../archive-error.js';
import { folderOf, readName } from '../files/archive-path.js';
import { parseRecordingName } from '../files/file-name.js';
import type { FileProgress, FilesInProgress } from '../files/file-progress.js';
import { type FileStamp, type FolderScan, isSameStamp, stampAt } from '../files/scan-folder.js';
import { forgetOldest } from '../forget-oldest.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { BrokenFile } from './broken-files.js';
import { type Inspection, type InspectionRequest, nothingKnown } from './inspect-files.js';
import { type Recording, recordingOf } from './recording.js';

/** Some 20 MB of facts: a month of hours for 140 cameras. */
const MAX_FILES_KNOWN = 100_000;
/** Files that one job looks into, so that other requests get their turn. */
const FILES_A_JOB = 64;

type Known = { readonly recording: Recording; readonly inspection: Inspection };
type KnownFiles = Map<string, Known>;
type Stale = {
  readonly fileName: string;
  readonly stamp: FileStamp;
  readonly before: Known | undefined;
  /** Null: nobody writes it. */
  readonly progress: FileProgress | null;
};

/** An open file that grew is walked on from where the last walk ended, or from where its recorder is. */
const requestOf = ({ fileName, stamp, before, progress }: Stale): InspectionRequest => {
  const { sizeBytes } = stamp;
  if (progress !== null) return { fileName, sizeBytes, fromBytes: sizeBytes };
  const isGrown =
    before?.recording.isOpen === true &&
    before.recording.ino === stamp.ino &&
    before.inspection.seenBytes <= stamp.sizeBytes;
  return { fileName, sizeBytes, fromBytes: isGrown ? before.inspection.seenBytes : 0 };
};

/** What a recorder says goes. Where nothing new was found in an open file, its end is still where it was. */
const withEnd = (inspection: Inspection, { before, progress }: Stale, fromBytes: number): Inspection => {
  if (progress !== null) return { ...inspection, endMs: progress.endMs };
  const isSameEnd = inspection.endMs === null && fromBytes > 0 && before !== undefined;
  return isSameEnd ? { ...inspection, endMs: before.inspection.endMs } : inspection;
};

/** What is known of a file without a look at it: all, once its beginning was read, if its recorder tells the rest. */
const knownOf = ({ stamp, before, progress }: Stale): Inspection | null => {
  if (progress === null) return null;
  if (stamp.sizeBytes === 0) return nothingKnown;
  const isRead = before?.recording.ino === stamp.ino && before.inspection.startMs !== null;
  return isRead ? before.inspection : null;
};

/**
 * The recordings of all cameras. The folders are the truth: each request looks at the folder, and into the files
 * that are new or changed alone.
 */
export class Recordings {
  readonly #archiveDir: string;
  readonly #maxFiles: number;
  readonly #runner: JobRunner;
  readonly #live: FilesInProgress;
  /** The camera asked for last is the last one. */
  readonly #known = new Map<string, KnownFiles>();
  readonly #listings = new Map<string, Promise<Recording[]>>();

  constructor(
    options: { readonly archiveDir: string; readonly maxFiles?: number },
    deps: { readonly runner: JobRunner; readonly live: FilesInProgress },
  ) {
    this.#archiveDir = options.archiveDir;
    this.#maxFiles = options.maxFiles ?? MAX_FILES_KNOWN;
    this.#runner = deps.runner;
    this.#live = deps.live;
  }

  /** All recordings of a camera, sorted by start. Requests that come together share the work. */
  async list(cameraId: string): Promise<readonly Recording[]> {
    const folder = folderOf(this.#archiveDir, cameraId);
    const running = this.#listings.get(cameraId);
    if (running !== undefined) return running;
    const listing = this.#list(cameraId, folder).finally(() => this.#listings.delete(cameraId));
    this.#listings.set(cameraId, listing);
    return listing;
  }

  /** What of a camera was moved aside, sorted by start. */
  broken(cameraId: string): Promise<readonly BrokenFile[]> {
    return this.#runner.run('listBroken', { folder: folderOf(this.#archiveDir, cameraId) });
  }

  /** One recording; throws `bad_file_name` or `not_found`. */
  async find(cameraId: string, fileName: string): Promise<Recording> {
    readName(fileName);
    const folder = folderOf(this.#archiveDir, cameraId);
    const stamp = await this.#runner.run('statFile', { folder, fileName });
    if (stamp === null) throw archiveError('not_found', 'there is no such recording');
    const files = this.#known.get(cameraId) ?? new Map<string, Known>();
    const stale = this.#lookAt(cameraId, fileName, stamp, files.get(fileName));
    const { before } = stale;
    if (before !== undefined && isSameStamp(before.recording, stale.stamp)) return before.recording;
    await this.#inspect(folder, [stale], files);
    this.#remember(cameraId, files);
    const found = files.get(fileName);
    if (found === undefined) throw archiveError('not_found', 'there is no such recording');
    return found.recording;
  }

  async #list(cameraId: string, folder: string): Promise<Recording[]> {
    const scan = await this.#runner.run('scanFolder', { folder });
    const files: KnownFiles = new Map();
    const stale = this.#compare(cameraId, scan, files);
    for (let first = 0; first < stale.length; first += FILES_A_JOB) {
      await this.#inspect(folder, stale.slice(first, first + FILES_A_JOB), files);
    }
    this.#remember(cameraId, files);
    return [...files.values()]
      .map(({ recording }) => recording)
      .sort((a, b) => a.startMs - b.startMs || (a.fileName < b.fileName ? -1 : 1));
  }

  /** Takes over what is still true, and returns what has to be looked into. */
  #compare(cameraId: string, scan: FolderScan, files: KnownFiles): Stale[] {
    const stale: Stale[] = [];
    const known = this.#known.get(cameraId);
    for (const [index, fileName] of scan.names.entries()) {
      const file = this.#lookAt(cameraId, fileName, stampAt(scan, index), known?.get(fileName));
      const { stamp, before } = file;
      if (before !== undefined && isSameStamp(before.recording, stamp)) files.set(fileName, before);
      else stale.push(file);
    }
    return stale;
  }

  /** A file that is being written has the size up to which it is whole. */
  #lookAt(cameraId: string, fileName: string, found: FileStamp, before: Known | undefined): Stale {
    const progress = this.#live.progressOf(cameraId, fileName);
    const stamp = progress === null ? found : { ...found, sizeBytes: progress.wholeBytes };
    return { fileName, stamp, before, progress };
  }

  async #inspect(folder: string, stale: readonly Stale[], files: KnownFiles): Promise<void> {
    const unknown = stale.filter((file) => knownOf(file) === null);
    const requests = unknown.map(requestOf);
    const found =
      requests.length === 0 ? [] : await this.#runner.run('inspectFiles', { folder, files: requests });
    for (const file of stale) {
      const { fileName, stamp } = file;
      const at = unknown.indexOf(file);
      const [looked, name] = [knownOf(file) ?? found[at], parseRecordingName(fileName)];
      if (looked === undefined || name === null) continue;
      const inspection = withEnd(looked, file, requests[at]?.fromBytes ?? 0);
      files.set(fileName, { recording: recordingOf(fileName, name, stamp, inspection), inspection });
    }
  }

  /** Forgets the cameras that nobody asked for longest where too many files are known. */
  #remember(cameraId: string, files: KnownFiles): void {
    this.#known.delete(cameraId);
    if (files.size > 0) this.#known.set(cameraId, files);
    forgetOldest(this.#known, ({ size }) => size, this.#maxFiles, cameraId);
  }
}
