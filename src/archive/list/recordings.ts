import { archiveError } from '../archive-error.js';
import { folderOf, readName } from '../files/archive-path.js';
import { parseRecordingName } from '../files/file-name.js';
import type { FileProgress, FilesInProgress } from '../files/file-progress.js';
import { type FileStamp, type FolderScan, isSameStamp, stampAt } from '../files/scan-folder.js';
import { forgetOldest } from '../forget-oldest.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { BrokenFile } from './broken-files.js';
import { type Inspection, type InspectionRequest, nothingKnown } from './inspect-files.js';
import { type EpochAt, type Maker, type Recording, recordingOf } from './recording.js';
import { factsAt, type KnownScan } from './scan-with-facts.js';
import { type CopiesPlace, StoredRecordings, withAllStored, withStored } from './stored-recordings.js';
import { byStart, meantOf, type OtherBoxes, withOthers } from './with-others.js';

/** Some 20 MB in mind: a month of hours for 140 cameras. Of the others what is kept on the disk is read anew. */
const MAX_FILES_KNOWN = 100_000;
/** Files that one job looks into, so that other requests get their turn. */
const FILES_A_JOB = 64;

type Known = { readonly recording: Recording; readonly inspection: Inspection };
type KnownFiles = Map<string, Known>;
/** `isListed`: all files that there were. */
type KnownCamera = { readonly files: KnownFiles; readonly isListed: boolean };
type Stale = {
  readonly fileName: string;
  readonly stamp: FileStamp;
  readonly before: Known | undefined;
  /** Null: nobody writes it. */
  readonly progress: FileProgress | null;
};

/** What was kept of closed recordings by runs before; the one who keeps it is told where something is new. */
export type KeptFacts = { pathOf(cameraId: string): string; learnSoon(cameraId: string): void };

/** A box that was never one of several. */
const alone: Maker = { box: '', epochsOf: () => () => 0 };

/** A claim may have got its number after its recordings had begun. */
const withEpoch = (known: Known, epochAt: EpochAt): Known => {
  const epoch = epochAt(known.recording.startMs);
  return epoch === known.recording.epoch ? known : { ...known, recording: { ...known.recording, epoch } };
};

const isClosed = ({ fileName }: Stale): boolean => parseRecordingName(fileName)?.endMs != null;

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
  readonly #facts: KeptFacts | null;
  readonly #maker: Maker;
  readonly #stored: StoredRecordings | null;
  readonly #others: OtherBoxes | null;
  /** The camera asked for last is the last one. */
  readonly #known = new Map<string, KnownCamera>();
  readonly #listings = new Map<string, Promise<readonly Recording[]>>();

  constructor(
    options: { readonly archiveDir: string; readonly maxFiles?: number },
    deps: {
      readonly runner: JobRunner;
      readonly live: FilesInProgress;
      readonly facts?: KeptFacts;
      readonly maker?: Maker | undefined;
      /** Where recordings are copied to; unless it is given they aren't. */
      readonly copies?: CopiesPlace | undefined;
      /** Of a box that is one of several. */
      readonly others?: OtherBoxes | null;
    },
  ) {
    this.#archiveDir = options.archiveDir;
    this.#maxFiles = options.maxFiles ?? MAX_FILES_KNOWN;
    this.#runner = deps.runner;
    this.#live = deps.live;
    this.#facts = deps.facts ?? null;
    this.#maker = deps.maker ?? alone;
    this.#others = deps.others ?? null;
    const { copies, runner } = deps;
    this.#stored =
      copies === undefined ? null : new StoredRecordings(copies, this.#maker.box, this.#maxFiles, runner);
  }

  /** Whether other boxes may have recordings, too. */
  get isShared(): boolean {
    return this.#others !== null;
  }

  /**
   * All recordings of a camera, those of other boxes included, sorted by start, each time once. Requests that come together
   * share the work.
   */
  async list(cameraId: string): Promise<readonly Recording[]> {
    const [own, stored, others] = await Promise.all([
      this.all(cameraId),
      this.#stored?.ofOthers(cameraId) ?? [],
      this.#others?.of(cameraId, true) ?? [],
    ]);
    const known = stored.length === 0 ? own : [...own, ...stored].sort(byStart);
    // What is a piece at another box may be in the store as a whole: so all are looked at together.
    return this.#shownOf(withOthers(known, others));
  }

  /** Other boxes of which isn't known now what they have of a camera, by when it was listed last. */
  unheard(cameraId: string): readonly string[] {
    return this.#others?.unheard(cameraId) ?? [];
  }

  /** Those that this box's own disk has; nobody else is asked for that. */
  async here(cameraId: string): Promise<readonly Recording[]> {
    const shown = this.#shownOf(await this.all(cameraId));
    return shown.filter(({ stored }) => stored?.isAlone !== true);
  }

  /** Of this box, on its disk and in the store: those, too, that are pieces of others: the disk cut them, and the store has them as a whole. */
  async all(cameraId: string): Promise<readonly Recording[]> {
    const folder = folderOf(this.#archiveDir, cameraId);
    const running = this.#listings.get(cameraId);
    if (running !== undefined) return running;
    const listing = this.#list(cameraId, folder).finally(() => this.#listings.delete(cameraId));
    this.#listings.set(cameraId, listing);
    return listing;
  }

  #shownOf(sorted: readonly Recording[]): readonly Recording[] {
    return this.#stored?.shownOf(sorted) ?? sorted;
  }

  /** What of a camera was moved aside, sorted by start. */
  broken(cameraId: string): Promise<readonly BrokenFile[]> {
    return this.#runner.run('listBroken', { folder: folderOf(this.#archiveDir, cameraId) });
  }

  /**
   * One recording; throws `bad_file_name` or `not_found`. Where several boxes have one of that name the one is meant that
   * was made by the latest claim of the camera, unless `box` says which.
   */
  async find(cameraId: string, fileName: string, box: string | null = null): Promise<Recording> {
    const { endMs } = readName(fileName);
    const [found, stored, others] = await Promise.all([
      this.#findOwn(cameraId, fileName),
      this.#stored?.ofOthers(cameraId) ?? [],
      this.#others?.of(cameraId, endMs === null) ?? [],
    ]);
    const isNamed = (one: Recording): boolean => one.fileName === fileName;
    const known = [...(found === null ? [] : [found]), ...stored.filter(isNamed)];
    const meant = meantOf(withOthers(known, others.filter(isNamed)), box);
    if (meant === null) throw archiveError('not_found', 'there is no such recording');
    return meant;
  }

  /** On this box's disk, or in the store. */
  async #findOwn(cameraId: string, fileName: string): Promise<Recording | null> {
    const folder = folderOf(this.#archiveDir, cameraId);
    const stored = (await this.#stored?.of(cameraId))?.get(fileName);
    const stamp = await this.#runner.run('statFile', { folder, fileName });
    if (stamp === null) return stored ?? null;
    const found = await this.#found(cameraId, folder, fileName, stamp);
    return found === null ? null : withStored(found, stored);
  }

  async #found(
    cameraId: string,
    folder: string,
    fileName: string,
    stamp: FileStamp,
  ): Promise<Recording | null> {
    const stale = this.#lookAt(cameraId, fileName, stamp, this.#known.get(cameraId)?.files.get(fileName));
    const { before } = stale;
    const epochAt = this.#maker.epochsOf(cameraId);
    if (before !== undefined && isSameStamp(before.recording, stale.stamp))
      return withEpoch(before, epochAt).recording;
    const looked: KnownFiles = new Map();
    await this.#inspect(folder, [stale], epochAt, looked);
    const found = looked.get(fileName);
    if (found === undefined) return null;
    // The camera may have been listed meanwhile: what that found stays.
    const { files, isListed } = this.#known.get(cameraId) ?? { files: looked, isListed: false };
    this.#remember(cameraId, { files: files.set(fileName, found), isListed });
    return found.recording;
  }

  async #list(cameraId: string, folder: string): Promise<readonly Recording[]> {
    const files: KnownFiles = new Map();
    // Before the folder is read: what leaves it meanwhile is in the store.
    const stored = await this.#stored?.of(cameraId);
    const scan = await this.#scan(cameraId, folder);
    const epochAt = this.#maker.epochsOf(cameraId);
    const stale = this.#compare(cameraId, scan, epochAt, files);
    if (stale.some(isClosed)) this.#facts?.learnSoon(cameraId);
    for (let first = 0; first < stale.length; first += FILES_A_JOB) {
      await this.#inspect(folder, stale.slice(first, first + FILES_A_JOB), epochAt, files);
    }
    this.#remember(cameraId, { files, isListed: true });
    const here = [...files.values()].map(({ recording }) => recording);
    const all = stored === undefined || stored.size === 0 ? here : withAllStored(here, stored);
    return all.sort(byStart);
  }

  /** Of a camera that nothing is in mind of, with what was kept of it. */
  #scan(cameraId: string, folder: string): Promise<FolderScan | KnownScan> {
    const isListed = this.#known.get(cameraId)?.isListed === true;
    if (this.#facts === null || isListed) return this.#runner.run('scanFolder', { folder });
    return this.#runner.run('scanWithFacts', { folder, factsPath: this.#facts.pathOf(cameraId) });
  }

  /** Takes over what is still true, and returns what has to be looked into. */
  #compare(cameraId: string, scan: FolderScan | KnownScan, epochAt: EpochAt, files: KnownFiles): Stale[] {
    const stale: Stale[] = [];
    const known = this.#known.get(cameraId)?.files;
    for (const [index, fileName] of scan.names.entries()) {
      const file = this.#lookAt(cameraId, fileName, stampAt(scan, index), known?.get(fileName));
      const { stamp, before } = file;
      const kept = 'facts' in scan ? factsAt(scan, index) : null;
      const name = kept === null ? null : parseRecordingName(fileName);
      if (before !== undefined && isSameStamp(before.recording, stamp))
        files.set(fileName, withEpoch(before, epochAt));
      else if (kept !== null && name !== null) {
        const recording = recordingOf(fileName, name, stamp, kept, this.#maker.box, epochAt);
        files.set(fileName, { recording, inspection: kept });
      } else stale.push(file);
    }
    return stale;
  }

  /** A file that is being written has the size up to which it is whole. */
  #lookAt(cameraId: string, fileName: string, found: FileStamp, before: Known | undefined): Stale {
    const progress = this.#live.progressOf(cameraId, fileName);
    const stamp = progress === null ? found : { ...found, sizeBytes: progress.wholeBytes };
    return { fileName, stamp, before, progress };
  }

  async #inspect(
    folder: string,
    stale: readonly Stale[],
    epochAt: EpochAt,
    files: KnownFiles,
  ): Promise<void> {
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
      const recording = recordingOf(fileName, name, stamp, inspection, this.#maker.box, epochAt);
      files.set(fileName, { recording, inspection });
    }
  }

  /** Forgets the cameras that nobody asked for longest where too many files are known. */
  #remember(cameraId: string, camera: KnownCamera): void {
    this.#known.delete(cameraId);
    if (camera.files.size > 0) this.#known.set(cameraId, camera);
    forgetOldest(this.#known, ({ files }) => files.size, this.#maxFiles, cameraId);
  }
}
