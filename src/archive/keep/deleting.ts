import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { archiveError } from '../archive-error.js';
import { folderOf } from '../files/archive-path.js';
import type { JobRunner } from '../jobs/jobs.js';
import { isPieceOf, type Recording } from '../list/recording.js';
import type { Recordings } from '../list/recordings.js';
import type { Unwanted } from '../offsite/messages.js';
import type { Offsite } from '../offsite/offsite.js';
import type { DeletedElsewhere, Others } from '../others/others.js';
import { logDeletions } from './log-deletions.js';
import type { RetentionOptions } from './retention.js';

export type DeletingDeps = {
  readonly recordings: Pick<Recordings, 'all'>;
  readonly runner: JobRunner;
  readonly log: Logger;
  readonly copies?: Pick<Offsite, 'forget' | 'isAway'> | undefined;
  /** Of a box that is one of several. */
  readonly others?: Pick<Others, 'deleteWithin'>;
};

const nobody = { deletedCount: 0, left: [] };

/** Files that one job deletes, so that others get their turn. */
const FILES_A_JOB = 64;

/** Whether one is a piece of what stays, and is in the store alone. */
const areOfMore = (going: readonly Recording[], all: readonly Recording[]): boolean => {
  const gone = new Set(going);
  const wholes = all.filter((recording) => recording.stored?.isAlone === true && !gone.has(recording));
  return going.some((piece) => wholes.some((whole) => isPieceOf(piece, whole)));
};

const partlyDeleted = (deleted: number, left: DeletedElsewhere['left']): Error => {
  const boxes = left.map(({ box, code }) => `${box} (${code ?? 'it can not be reached now'})`).join(', ');
  return archiveError(
    'partly_deleted',
    `${deleted} recordings were deleted; what these boxes have, or may have, stays: ${boxes}`,
    { deleted },
  );
};

/** Deletes recordings that somebody wants gone. */
export class Deleting {
  readonly #archiveDir: string;
  readonly #stores: RetentionOptions['stores'];
  readonly #deps: DeletingDeps;

  constructor(options: Pick<RetentionOptions, 'archiveDir' | 'stores'>, deps: DeletingDeps) {
    this.#archiveDir = options.archiveDir;
    this.#stores = options.stores;
    this.#deps = deps;
  }

  /**
   * All closed recordings that lie within a time, at all boxes; how many. Throws `partly_deleted` where a box that is away has
   * some, or may: all others are deleted then.
   */
  async deleteWithin(cameraId: string, fromMs: number, toMs: number): Promise<number> {
    const { others } = this.#deps;
    const [elsewhere, here] = await Promise.allSettled([
      others?.deleteWithin(cameraId, fromMs, toMs) ?? nobody,
      this.deleteHere(cameraId, fromMs, toMs),
    ]);
    if (here.status === 'rejected') throw here.reason;
    if (elsewhere.status === 'rejected') throw elsewhere.reason;
    const { deletedCount, left } = elsewhere.value;
    const deleted = deletedCount + here.value;
    if (left.length > 0) throw partlyDeleted(deleted, left);
    return deleted;
  }

  /**
   * All closed recordings of this box that lie within a time; how many. Throws `archive_unavailable` where the disk keeps some, `store_unavailable`
   * where the store has more of one than is shown while it is away: that would be shown again once it is back.
   */
  async deleteHere(cameraId: string, fromMs: number, toMs: number): Promise<number> {
    folderOf(this.#archiveDir, cameraId);
    const { recordings, runner, log, copies } = this.#deps;
    const all = await recordings.all(cameraId);
    const going = all.filter(({ isOpen, startMs, endMs }) => !isOpen && startMs >= fromMs && endMs <= toMs);
    if (copies?.isAway === true && areOfMore(going, all))
      throw archiveError(
        'store_unavailable',
        'the store that has more of a recording can not be reached now',
        {
          retryAfterSec: 5,
        },
      );
    const fileNames = going.map(({ fileName }) => fileName);
    // Whatever becomes of us from here on, they go there; so does what the lists don't know of now.
    const unwanted = { fromMs, toMs, fileNames };
    await copies?.forget(cameraId, unwanted);
    await this.#forgetElsewhere(cameraId, unwanted);
    let deletedCount = going.filter(({ stored }) => stored?.isAlone === true).length;
    let failedCount = 0;
    for (let first = 0; first < fileNames.length; first += FILES_A_JOB) {
      const round = await runner.run('deleteFiles', {
        archiveDir: this.#archiveDir,
        cameraId,
        fileNames: fileNames.slice(first, first + FILES_A_JOB),
      });
      deletedCount += round.deleted.length;
      failedCount += round.failed.length;
      logDeletions(log, round, 'request');
    }
    // One may have got there just now.
    await copies?.forget(cameraId, unwanted);
    if (failedCount > 0)
      throw archiveError(
        'archive_unavailable',
        `the disk keeps ${failedCount} recordings; ${deletedCount} were deleted`,
      );
    return deletedCount;
  }

  /** What isn't set now may be set again. */
  async #forgetElsewhere(cameraId: string, unwanted: Unwanted): Promise<void> {
    if (this.#stores === undefined) return;
    try {
      await this.#deps.runner.run('forgetInOtherStores', { ...this.#stores, cameraId, unwanted });
    } catch (fault) {
      this.#deps.log.warn('it can not be written what a store is to delete', { reason: messageOf(fault) });
      throw archiveError('archive_unavailable', 'it can not be written now what a store is to delete');
    }
  }
}
