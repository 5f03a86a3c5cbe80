import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { LogFields, Logger } from '../../base/log.js';
import { Signal } from '../../base/signal.js';
import { type FilePlace, type Lately, placeKey } from '../files/archive-folders.js';
import { folderOf } from '../files/archive-path.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Repair } from './repair-file.js';

/** Knows the files that recorders have open now: those are never repaired. */
export type LiveFiles = { isLive(cameraId: string, fileName: string): boolean };

export type RecoveryDeps = {
  /** For repairs, which may take their time. */
  readonly runner: JobRunner;
  /** For what the start of the service waits for: its threads are there already. */
  readonly quickRunner: JobRunner;
  readonly clock: Clock;
  readonly log: Logger;
  readonly live: LiveFiles;
};

/** So long the service waits for it: a disk with a head needs half a minute for the folders of hundreds of cameras. */
const START_MS = 1_500;
/** After an archive that can't be read, or not so soon; after a file that can't be repaired, doubling as long as there is one. */
const RETRY_MS = 60_000;
const LAST_RETRY_MS = 3_600_000;
/** A file that was written to so lately may have a recorder that we aren't told of yet. */
const UNTOUCHED_MS = 60_000;
const PROGRESS_EVERY = 50;
/** A file that could not be read so often, over an hour, never can: it is moved aside, and leaves like recordings. */
const MAX_TRIES = 7;

/**
 * Closes the files whose writer died. Those of the last run of the service are collected before any recorder
 * starts, and repaired while they record; a camera worker's, when it dies.
 */
export class Recovery {
  /** Files that were closed, moved aside, and left as they are because the disk failed. */
  readonly counts = { closed: 0, broken: 0, failed: 0 };
  /** A file whose writer died is about to be closed. */
  readonly repairing = new Signal<[cameraId: string, fileName: string]>();
  readonly #archiveDir: string;
  readonly #deps: RecoveryDeps;
  #found: readonly FilePlace[] = [];
  /** What was asked for before is done first: the pool has never more than one of these to do. */
  #last: Promise<void> = Promise.resolve();
  #retry: Timer | null = null;
  #repairAgainMs = RETRY_MS;
  /** How often files could not be repaired, by their places. */
  readonly #tries = new Map<string, number>();
  #isStopped = false;

  constructor(options: { readonly archiveDir: string }, deps: RecoveryDeps) {
    this.#archiveDir = options.archiveDir;
    this.#deps = deps;
  }

  /** Before recorders start: looks for files that were left open. A disk that fails, or is slow, is tried again later. */
  async collect(): Promise<void> {
    const { clock, quickRunner } = this.#deps;
    let isOver = false;
    let timer: Timer | null = null;
    const late = new Promise<void>((resolve) => {
      timer = clock.after(START_MS, () => {
        isOver = true;
        this.#retryAfter(RETRY_MS);
        resolve();
      });
    });
    // What is found later may have recorders by then.
    const found = this.#find(quickRunner, null).then((places) => {
      if (!isOver) this.#found = places;
    });
    await Promise.race([found, late]);
    (timer as Timer | null)?.cancel();
  }

  /** Repairs what was collected, one file after another. Never rejects. */
  async repairAll(): Promise<void> {
    const { log } = this.#deps;
    const found = this.#found;
    this.#found = [];
    if (found.length === 0) return;
    log.info('repairing recordings that were not closed', { files: found.length });
    for (const [index, { cameraId, fileName }] of found.entries()) {
      if (this.#isStopped) return;
      await this.repair(cameraId, fileName);
      if ((index + 1) % PROGRESS_EVERY === 0) {
        log.info('repairing recordings', { done: index + 1, files: found.length });
      }
    }
    log.info('repaired the recordings that were not closed', this.counts);
  }

  /** Repairs one file whose writer is certainly gone, when those before it are done. Never rejects. */
  repair(cameraId: string, fileName: string): Promise<void> {
    this.#last = this.#last.then(() => this.#repair(cameraId, fileName));
    return this.#last;
  }

  async #repair(cameraId: string, fileName: string): Promise<void> {
    const { log, live, runner } = this.#deps;
    if (this.#isStopped || live.isLive(cameraId, fileName)) return;
    const place = { camera_id: cameraId, file: fileName };
    const key = placeKey({ cameraId, fileName });
    const tries = (this.#tries.get(key) ?? 0) + 1;
    this.repairing.emit(cameraId, fileName);
    try {
      const folder = folderOf(this.#archiveDir, cameraId);
      const repair = await runner.run('repairFile', { folder, fileName, givesUp: tries >= MAX_TRIES });
      this.#tries.delete(key);
      const { outcome, newName, cutBytes } = repair;
      if (outcome === 'gone') return;
      this.counts[outcome] += 1;
      if (outcome === 'closed') {
        log.info('closed a recording', { ...place, name: newName, cut_bytes: cutBytes });
        if (repair.lostBytes > 0) this.#tellDamage(place, repair);
      } else log.warn('moved aside a recording that no one can play', { ...place, name: newName });
    } catch (fault) {
      // Cut off in the middle is as good as not begun.
      if (this.#isStopped) return;
      this.counts.failed += 1;
      this.#tries.set(key, tries);
      this.#retryAfter(this.#repairAgainMs);
      log.error('could not repair a recording; it is tried again later', {
        ...place,
        reason: messageOf(fault),
      });
    }
  }

  /** No further file is begun. */
  stop(): void {
    this.#isStopped = true;
    this.#retry?.cancel();
  }

  #tellDamage(place: LogFields, { newName, moreNames, lostBytes, lostMs }: Repair): void {
    this.#deps.log.warn('a recording was damaged; what is whole around that was kept', {
      ...place,
      names: [newName, ...moreNames].join(' '),
      lost_bytes: lostBytes,
      lost_seconds: Math.round(lostMs / 100) / 10,
    });
  }

  async #find(runner: JobRunner, lately: Lately | null): Promise<readonly FilePlace[]> {
    try {
      return await runner.run('findUnclosed', { archiveDir: this.#archiveDir, lately });
    } catch (fault) {
      if (!this.#isStopped)
        this.#deps.log.error('could not look for recordings that were not closed', {
          reason: messageOf(fault),
        });
      this.#retryAfter(RETRY_MS);
      return [];
    }
  }

  #retryAfter(delayMs: number): void {
    if (this.#isStopped) return;
    this.#retry ??= this.#deps.clock.after(delayMs, () => void this.#collectLate());
  }

  /** Recorders are at work by now, and may have opened a file that we aren't told of yet: theirs were just written. */
  async #collectLate(): Promise<void> {
    this.#retry = null;
    this.#found = await this.#find(this.#deps.runner, {
      nowMs: this.#deps.clock.wallMs(),
      withinMs: UNTOUCHED_MS,
    });
    const found = new Set(this.#found.map(placeKey));
    for (const key of this.#tries.keys()) if (!found.has(key)) this.#tries.delete(key);
    const failedBefore = this.counts.failed;
    this.#repairAgainMs = Math.min(this.#repairAgainMs * 2, LAST_RETRY_MS);
    await this.repairAll();
    if (this.counts.failed === failedBefore) this.#repairAgainMs = RETRY_MS;
  }
}
