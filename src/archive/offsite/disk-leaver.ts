import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { S3Client } from '../../s3/s3-client.js';
import { deleteBelongings, Sharers } from '../files/belongings.js';
import { closedName } from '../files/file-name.js';
import type { KnownNames } from '../files/known-names.js';
import { isSameStamp, statFile } from '../files/scan-folder.js';
import { sidecarName } from '../files/sidecar-name.js';
import type { EraOrder } from '../keep/clock-eras.js';
import { type Backlog, type Due, dueKey } from './backlog.js';
import { type Copy, copyKey, markOf, timesOfKey } from './copy.js';
import type { Notes } from './notes.js';
import { objectOf, sidecarObject } from './object-name.js';
import { Patience } from './patience.js';
import { isOfStore, mayBeItsOwn } from './store-health.js';

export type DiskLeaverDeps = {
  readonly client: Pick<S3Client, 'head'>;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly names: KnownNames;
  /** Whether the folder of all recordings is there. */
  readonly isThere: () => Promise<boolean>;
  readonly notes: Pick<Notes, 'read'>;
  /** What waits to be copied, of which some is in the store otherwise. */
  readonly backlog: Pick<Backlog, 'doubt' | 'isDoubted'>;
  /** What a fault is when the store was asked for something else. */
  readonly judge: (fault: unknown, signal: AbortSignal) => Promise<unknown>;
};

/** Files that leave before others of the thread's work get their turn. */
const FILES_A_STEP = 32;
/** What can't leave is left alone for so long, and longer each time. */
const FIRST_SKIP_MS = 60_000;
const LONGEST_SKIP_MS = 6 * 3_600_000;
/** Of more of them at once it is no matter of single ones. */
const MOST_STUCK = 1_000;

/** Takes recordings from the disk that are in the store and old enough, once the store has said that it has them. */
export class DiskLeaver {
  readonly #archiveDir: string;
  readonly #deps: DiskLeaverDeps;
  /** Cameras that are yet to be looked at. */
  readonly #cameras = new Set<string>();
  /** Those of which the store told nothing the last time, the last one at the end. */
  readonly #refused = new Set<string>();
  readonly #patience = new Patience(FIRST_SKIP_MS, LONGEST_SKIP_MS);
  #beforeMs: number | null = null;
  #order: EraOrder | null = null;
  /** Since it began. */
  #stuck = 0;
  #isTold = false;

  constructor(archiveDir: string, deps: DiskLeaverDeps) {
    this.#archiveDir = archiveDir;
    this.#deps = deps;
  }

  /** All that ended before is to leave; null: nothing. Whether there are cameras of which the store tells, as far as is known. */
  begin(beforeMs: number | null, order: EraOrder, cameraIds: Iterable<string>): boolean {
    this.#beforeMs = beforeMs;
    this.#order = order;
    if (this.#stuck === 0) this.#isTold = false;
    this.#stuck = 0;
    this.#cameras.clear();
    const ids = new Set(beforeMs === null ? [] : cameraIds);
    for (const cameraId of ids) if (!this.#refused.has(cameraId)) this.#cameras.add(cameraId);
    const hasTold = this.#cameras.size > 0;
    for (const cameraId of this.#refused)
      if (ids.has(cameraId)) this.#cameras.add(cameraId);
      else this.#refused.delete(cameraId);
    return hasTold;
  }

  /** Some of one camera's; the camera, null where there is none left. */
  async step(signal: AbortSignal): Promise<string | null> {
    const [cameraId] = this.#cameras;
    if (cameraId === undefined) return null;
    const { backlog, judge } = this.#deps;
    const due = this.#dueOf(cameraId);
    const sharers = new Sharers();
    for (const copy of due.slice(0, FILES_A_STEP)) {
      const { startMs, endMs } = copy.recording;
      const place = { cameraId, startMs, endMs: endMs ?? startMs };
      try {
        const isDoubted = (await this.#leave(cameraId, copy, sharers, signal)) === 'doubted';
        // Those that are doubted already are to be copied first.
        if (isDoubted && !backlog.doubt(place)) this.#skip(place);
      } catch (thrown) {
        const fault = await judge(thrown, signal);
        if (signal.aborted || (isOfStore(fault) && !mayBeItsOwn(fault))) throw fault;
        this.#skip(place);
        if (isOfStore(fault)) {
          // It may tell of none of this camera's: those of others leave before.
          this.#refused.delete(cameraId);
          this.#refused.add(cameraId);
          this.#cameras.delete(cameraId);
          this.#cameras.add(cameraId);
          throw fault;
        }
        this.#tellStuck(cameraId, copy, fault);
      }
      if (this.#stuck >= MOST_STUCK) this.#cameras.clear();
    }
    if (due.length > 0) this.#refused.delete(cameraId);
    if (due.length <= FILES_A_STEP) this.#cameras.delete(cameraId);
    return cameraId;
  }

  /** A camera of which it can't be told has its next turn when it begins anew. */
  #dueOf(cameraId: string): Copy[] {
    try {
      return this.#due(cameraId);
    } catch (fault) {
      this.#cameras.delete(cameraId);
      throw fault;
    }
  }

  #skip(place: Due): void {
    this.#stuck += 1;
    this.#patience.fail(dueKey(place), this.#deps.nowMs());
  }

  /** Once, not for each of a disk's. */
  #tellStuck(cameraId: string, { recording }: Copy, fault: unknown): void {
    if (!this.#isTold)
      this.#deps.log.warn('a recording can not be deleted on the disk, though the store has it', {
        camera_id: cameraId,
        file: closedName(recording.startMs, recording.endMs ?? recording.startMs),
        reason: messageOf(fault),
      });
    this.#isTold = true;
  }

  /** Those that the disk has, too. */
  #due(cameraId: string): Copy[] {
    const [beforeMs, order] = [this.#beforeMs, this.#order];
    const names = this.#deps.names.lookAt(cameraId);
    if (names === null || beforeMs === null || order === null) return [];
    const here = new Set(Array.from(names.startsMs, (startMs, at) => copyKey(startMs, names.endsMs[at]!)));
    const { backlog, notes, nowMs } = this.#deps;
    const copies = notes.read(cameraId);
    const due: Copy[] = [];
    const stuck: Copy[] = [];
    for (let index = 0; index < (copies?.count ?? 0); index += 1) {
      const key = copies!.keyAt(index);
      const place = { cameraId, ...timesOfKey(key) };
      const isDue = here.has(key) && order.rightEndMs(place.endMs) < beforeMs;
      if (!isDue || copies!.isLeavingAt(index) || backlog.isDoubted(place)) continue;
      if (this.#patience.isWaiting(dueKey(place), nowMs())) continue;
      (this.#patience.has(dueKey(place)) ? stuck : due).push(copies!.at(index));
    }
    // What failed before is the last to be tried again.
    return [...due, ...stuck];
  }

  /** What is written of one that is doubted stays until it is copied anew: there is no better copy before that. */
  async #leave(
    cameraId: string,
    copy: Copy,
    sharers: Sharers,
    signal: AbortSignal,
  ): Promise<'looked at' | 'doubted'> {
    const { client, names, log, isThere } = this.#deps;
    const { startMs, endMs } = copy.recording;
    const [folder, fileName] = [join(this.#archiveDir, cameraId), closedName(startMs, endMs ?? startMs)];
    const stamp = statFile({ folder, fileName });
    if (stamp === null) return 'looked at';
    // One that was found in the store is compared when it is copied, and so is one that somebody wrote to.
    if (copy.stamp === null || !isSameStamp(stamp, copy.stamp)) return 'doubted';
    const object = objectOf(cameraId, copy);
    const there = await client.head(object, signal);
    if (there?.bytes !== copy.sizeBytes || markOf(there.etag) !== copy.mark) {
      log.warn('the store does not have what was copied to it: it is copied anew', {
        camera_id: cameraId,
        file: fileName,
      });
      return 'doubted';
    }
    // What was seen in it may have been written to since it was copied.
    const sidecarBytes = statFile({ folder, fileName: sidecarName(startMs) })?.sizeBytes ?? 0;
    const beside = sidecarBytes === 0 ? null : await client.head(sidecarObject(object), signal);
    const isSame = sidecarBytes === copy.sidecarBytes || sidecarBytes === 0;
    if (!isSame || (sidecarBytes > 0 && beside?.bytes !== sidecarBytes)) return 'doubted';
    const now = (await isThere()) ? statFile({ folder, fileName }) : null;
    if (now === null || !isSameStamp(now, stamp)) return 'looked at';
    names.deleteFile(cameraId, fileName, () => {
      unlinkSync(join(folder, fileName));
      return deleteBelongings(folder, fileName, sharers);
    });
    return 'looked at';
  }
}
