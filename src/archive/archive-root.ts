import { randomUUID } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '../base/clock.js';
import { syncFolder } from '../base/durable-file.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { checkWritable, makeFolder } from '../base/make-folder.js';
import { codeOf } from './files/disk-fault.js';
import { type FolderIdentity, RootState } from './root-state.js';

/** The archive that was recorded into last: the id in its marker, and where it was. */
export type KnownArchive = { readonly id: string; readonly dir: string };

export type ArchiveRootDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Outlives the service. */
  readonly memory: { known(): KnownArchive | null; remember(known: KnownArchive): void };
  /** Takes the folder for this process alone; null: another one has it. Throws where there are no locks. */
  readonly lock: (dir: string) => { release(): void } | null;
};

/** The folder's lock, and the folder itself, wherever its path leads by then. */
type HeldFolder = { readonly lock: { release(): void }; readonly folder: FileHandle | null };

/** What a look found: the folder, or why it is not the archive. */
type Finding = { readonly folder: FolderIdentity } | { readonly fault: string };

const MARKER_NAME = '.framering-archive';
const MAX_MARKER_BYTES = 256;
const LOOK_MS = 2_000;
/** So long the end of the service waits for a disk that doesn't answer: the system takes the lock with the process. */
const STOP_TIMEOUT_MS = 1_000;

/** For anybody to read: no path, no id. */
const faults = {
  missing: 'the directory is missing',
  unmarked: 'the directory is not the one that was recorded into: its disk is not mounted, or is a new one',
  foreign: 'the directory is the archive of another service',
  replaced: 'the directory was replaced by another one',
  locked: 'another process uses the directory',
} as const;

const isMissing = (fault: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(fault));
const isSame = (a: FolderIdentity, b: FolderIdentity): boolean => a.dev === b.dev && a.ino === b.ino;
const identityOf = (dir: string): Promise<FolderIdentity> => stat(dir, { bigint: true });

const lockedError = (): Error => new Error('another process uses it');

/** The id in a folder's marker; null: it has none. */
const readMarker = async (dir: string): Promise<string | null> => {
  let file: FileHandle;
  try {
    file = await open(join(dir, MARKER_NAME), 'r');
  } catch (fault) {
    if (isMissing(fault)) return null;
    throw fault;
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_MARKER_BYTES), 0, MAX_MARKER_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead).split('\n', 1)[0]?.trim() || null;
  } finally {
    await file.close();
  }
};

/**
 * Gives the folder back. The lock is closed on this thread, which a disk that is gone (NFS, unmounted by force) would
 * hold for ever: not before it answers a thread of the pool. An open asks the server, whatever else is remembered of it.
 */
const giveBack = async ({ lock, folder }: HeldFolder): Promise<void> => {
  if (folder === null) return lock.release();
  try {
    await (await open(join('/proc/self/fd', String(folder.fd), MARKER_NAME), 'r')).close();
  } catch {
    // An answer, too.
  }
  lock.release();
  // It was read alone: there is nothing to lose.
  await folder.close().catch(() => {});
};

const writeMarker = async (dir: string, id: string): Promise<void> => {
  const file = await open(join(dir, MARKER_NAME), 'w', 0o644);
  try {
    await file.write(
      `${id}\nThis folder is an archive of recordings: without this file nothing is recorded in it.\n`,
    );
    await file.sync();
  } finally {
    await file.close();
  }
  syncFolder(dir);
};

/**
 * The folder of all recordings. Once it was there it is never made again: where its disk is not mounted there is an
 * ordinary folder, or none, and what went there would fill another disk, and be hidden once the mount is back.
 */
export class ArchiveRoot {
  /** For recorders. */
  readonly state = new RootState();
  readonly #dir: string;
  readonly #deps: ArchiveRootDeps;
  #known: KnownArchive | null = null;
  #found: FolderIdentity | null = null;
  #fault: string | null = 'the directory was not looked at yet';
  #held: HeldFolder | null = null;
  #hasNoLocks = false;
  #looking: Promise<void> | null = null;
  #onFound: (() => Promise<void>) | null = null;
  #timer: Timer | null = null;
  #isStopped = false;

  constructor(dir: string, deps: ArchiveRootDeps) {
    this.#dir = dir;
    this.#deps = deps;
  }

  /** Why there is no archive to record into, play or delete from; null: there is one. */
  get fault(): string | null {
    return this.#fault;
  }

  /**
   * Makes the folder at the first start, and at a path that is new; takes over what is there already. Throws where that
   * fails, and where another process has it. A known one that is missing is waited for.
   */
  async open(): Promise<void> {
    const known = this.#deps.memory.known();
    this.#known = known?.dir === this.#dir ? known : await this.#settle(known);
    await this.look();
    if (this.#fault === faults.locked) throw lockedError();
  }

  /** Looks from now on. `onFound` is called before recorders may begin, now and whenever the folder is there again. */
  async start(onFound: () => Promise<void>): Promise<void> {
    this.#onFound = onFound;
    this.#timer = this.#deps.clock.every(LOOK_MS, () => void this.look());
    await this.#admit();
  }

  /** `fault` as of now. Joins a look that is under way; never rejects. */
  async look(): Promise<string | null> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    await this.#looking;
    return this.#fault;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    const released = this.#release();
    let deadline: Timer | null = null;
    const late = new Promise<void>((resolve) => {
      deadline = this.#deps.clock.after(STOP_TIMEOUT_MS, resolve);
    });
    await Promise.race([released, late]);
    (deadline as Timer | null)?.cancel();
  }

  /** Goes to a path that was not recorded into before. */
  async #settle(before: KnownArchive | null): Promise<KnownArchive> {
    const { log, memory } = this.#deps;
    const dir = this.#dir;
    const marked = await readMarker(dir);
    // Which of the two is meant a person has to say.
    if (before !== null && marked !== null && marked !== before.id) return before;
    makeFolder(dir);
    checkWritable(dir);
    const known = { dir, id: marked ?? before?.id ?? randomUUID() };
    if (!(await this.#takeLock())) throw lockedError();
    if (marked === null) await writeMarker(dir, known.id);
    memory.remember(known);
    const isMade = marked === null;
    if (before !== null)
      log.warn('recordings go to another folder from now on', { dir, before: before.dir, made: isMade });
    else if (!isMade) log.warn('took over the recordings of another database', { dir });
    return known;
  }

  async #look(): Promise<void> {
    const finding = await this.#inspect();
    if (this.#isStopped || finding === null) return;
    if ('fault' in finding) this.#lose(finding.fault);
    // Recorders have files open in the one before; the next look takes the new one.
    else if (this.#found !== null && !isSame(this.#found, finding.folder)) this.#lose(faults.replaced);
    else if (!(await this.#takeLock())) {
      if (!this.#isStopped) this.#lose(faults.locked);
    } else if (this.#found === null && !this.#isStopped) this.#find(finding.folder);
  }

  /** Null: nobody can tell. */
  async #inspect(): Promise<Finding | null> {
    try {
      const folder = await identityOf(this.#dir);
      const id = await readMarker(this.#dir);
      if (!isSame(folder, await identityOf(this.#dir))) return null;
      if (id === null) return { fault: faults.unmarked };
      return id === this.#known?.id ? { folder } : { fault: faults.foreign };
    } catch (fault) {
      if (isMissing(fault)) return { fault: faults.missing };
      // A disk that fails is still the same one, and recorders say so themselves.
      return this.#found === null
        ? { fault: `the directory can't be read (${codeOf(fault) || 'unknown error'})` }
        : null;
    }
  }

  #find(folder: FolderIdentity): void {
    this.#found = folder;
    this.#fault = null;
    if (this.#onFound === null) return;
    this.#deps.log.info('the folder of the recordings is there again', { dir: this.#dir });
    void this.#admit();
  }

  async #admit(): Promise<void> {
    const folder = this.#found;
    if (folder === null) return;
    await this.#onFound?.();
    if (this.#found === folder) this.state.set(folder);
  }

  #lose(fault: string): void {
    if (this.#fault === fault) return;
    this.#fault = fault;
    this.#found = null;
    this.state.set(null);
    void this.#release();
    this.#deps.log.error('recording is paused until the folder of the recordings is there', {
      ...{ dir: this.#dir, reason: fault, help: this.#helpFor(fault) },
    });
  }

  #helpFor(fault: string): string {
    if (fault === faults.locked) return 'stop the other service, or give this one another ARCHIVE_DIR';
    const dir = `'${this.#dir.replaceAll("'", "'\\''")}'`;
    const command = `mkdir -p ${dir} && echo ${this.#known?.id} > ${dir}/${MARKER_NAME}`;
    return `mount its disk; or, to record into what is there now: ${command}`;
  }

  async #takeLock(): Promise<boolean> {
    if (this.#held !== null || this.#hasNoLocks) return true;
    const folder = await open(this.#dir, 'r').catch(() => null);
    const lock = this.#isStopped ? null : this.#lock();
    if (lock === null) await folder?.close();
    else this.#held = { lock, folder };
    return lock !== null || this.#hasNoLocks;
  }

  #lock(): { release(): void } | null {
    try {
      return this.#deps.lock(this.#dir);
    } catch (fault) {
      // Such as some file systems of a network: nothing to do without recordings for.
      this.#hasNoLocks = true;
      const fields = { dir: this.#dir, reason: messageOf(fault) };
      this.#deps.log.warn('the folder of the recordings has no locks: no other service may use it', fields);
      return null;
    }
  }

  /** A file that is open would keep a disk from being unmounted for good. */
  async #release(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    this.#hasNoLocks = false;
    if (held !== null) await giveBack(held);
  }
}
