import { archiveError } from './archive-error.js';
import { folderOf, readName } from './archive-path.js';
import { parseRecordingName } from './file-name.js';
import type { Inspection, InspectionRequest } from './inspect-files.js';
import type { JobRunner } from './jobs.js';
import { type Recording, recordingOf } from './recording.js';
import { type FileStamp, type FolderScan, isSameStamp, stampAt } from './scan-folder.js';

/** Some 20 MB of facts: a month of hours for 140 cameras. */
const MAX_FILES_KNOWN = 100_000;
/** Files that one job looks into, so that other requests get their turn. */
const FILES_A_JOB = 64;

type Known = { readonly recording: Recording; readonly inspection: Inspection };
type KnownFiles = Map<string, Known>;
type Stale = { readonly fileName: string; readonly stamp: FileStamp; readonly before: Known | undefined };

/** An open file that grew is walked on from where the last walk ended. */
const requestOf = ({ fileName, stamp, before }: Stale): InspectionRequest => {
  const isGrown =
    before?.recording.isOpen === true &&
    before.recording.ino === stamp.ino &&
    before.inspection.seenBytes <= stamp.sizeBytes;
  return { fileName, fromBytes: isGrown ? before.inspection.seenBytes : 0 };
};

/** Where nothing new was found in an open file, its end is still where it was. */
const keepEnd = (inspection: Inspection, before: Known | undefined, fromBytes: number): Inspection =>
  inspection.endMs === null && fromBytes > 0 && before !== undefined
    ? { ...inspection, endMs: before.inspection.endMs }
    : inspection;

/**
 * The recordings of all cameras. The folders are the truth: each request looks at the folder, and into the files
 * that are new or changed alone.
 */
export class Recordings {
  readonly #archiveDir: string;
  readonly #maxFiles: number;
  readonly #runner: JobRunner;
  /** The camera asked for last is the last one. */
  readonly #known = new Map<string, KnownFiles>();
  readonly #listings = new Map<string, Promise<Recording[]>>();

  constructor(
    options: { readonly archiveDir: string; readonly maxFiles?: number },
    deps: { readonly runner: JobRunner },
  ) {
    this.#archiveDir = options.archiveDir;
    this.#maxFiles = options.maxFiles ?? MAX_FILES_KNOWN;
    this.#runner = deps.runner;
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

  /** One recording; throws `bad_file_name` or `not_found`. */
  async find(cameraId: string, fileName: string): Promise<Recording> {
    readName(fileName);
    const folder = folderOf(this.#archiveDir, cameraId);
    const stamp = await this.#runner.run('statFile', { folder, fileName });
    if (stamp === null) throw archiveError('not_found', 'there is no such recording');
    const before = this.#known.get(cameraId)?.get(fileName);
    if (before !== undefined && isSameStamp(before.recording, stamp)) return before.recording;
    const files = this.#known.get(cameraId) ?? new Map<string, Known>();
    await this.#inspect(folder, [{ fileName, stamp, before }], files);
    this.#remember(cameraId, files);
    const found = files.get(fileName);
    if (found === undefined) throw archiveError('not_found', 'there is no such recording');
    return found.recording;
  }

  async #list(cameraId: string, folder: string): Promise<Recording[]> {
    const scan = await this.#runner.run('scanFolder', { folder });
    const files: KnownFiles = new Map();
    const stale = this.#compare(scan, this.#known.get(cameraId), files);
    for (let first = 0; first < stale.length; first += FILES_A_JOB) {
      await this.#inspect(folder, stale.slice(first, first + FILES_A_JOB), files);
    }
    this.#remember(cameraId, files);
    return [...files.values()]
      .map(({ recording }) => recording)
      .sort((a, b) => a.startMs - b.startMs || (a.fileName < b.fileName ? -1 : 1));
  }

  /** Takes over what is still true, and returns what has to be looked into. */
  #compare(scan: FolderScan, before: KnownFiles | undefined, files: KnownFiles): Stale[] {
    const stale: Stale[] = [];
    for (const [index, fileName] of scan.names.entries()) {
      const stamp = stampAt(scan, index);
      const known = before?.get(fileName);
      if (known !== undefined && isSameStamp(known.recording, stamp)) files.set(fileName, known);
      else stale.push({ fileName, stamp, before: known });
    }
    return stale;
  }

  async #inspect(folder: string, stale: readonly Stale[], files: KnownFiles): Promise<void> {
    const requests = stale.map(requestOf);
    const inspections = await this.#runner.run('inspectFiles', { folder, files: requests });
    for (const [index, { fileName, stamp, before }] of stale.entries()) {
      const [found, name] = [inspections[index], parseRecordingName(fileName)];
      if (found === undefined || name === null) continue;
      const inspection = keepEnd(found, before, requests[index]?.fromBytes ?? 0);
      files.set(fileName, { recording: recordingOf(fileName, name, stamp, inspection), inspection });
    }
  }

  /** Forgets the cameras that nobody asked for longest where too many files are known. */
  #remember(cameraId: string, files: KnownFiles): void {
    this.#known.delete(cameraId);
    if (files.size > 0) this.#known.set(cameraId, files);
    let count = 0;
    for (const known of this.#known.values()) count += known.size;
    for (const [id, known] of this.#known) {
      if (count <= this.#maxFiles || id === cameraId) break;
      this.#known.delete(id);
      count -= known.size;
    }
  }
}
