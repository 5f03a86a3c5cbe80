import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../base/log.js';
import type { S3Client } from '../../s3/s3-client.js';
import { deleteBelongings, Sharers } from '../files/belongings.js';
import { closedName } from '../files/file-name.js';
import type { KnownNames } from '../files/known-names.js';
import { type FileStamp, isSameStamp, statFile } from '../files/scan-folder.js';
import type { EraOrder } from '../keep/clock-eras.js';
import { type Copy, copyKey, keyOf, markOf } from './copies.js';
import { objectOf } from './object-name.js';

export type DiskLeaverDeps = {
  readonly client: Pick<S3Client, 'head'>;
  readonly log: Logger;
  readonly names: KnownNames;
  /** Whether the folder of all recordings is there. */
  readonly isThere: () => Promise<boolean>;
  readonly read: (cameraId: string) => readonly Copy[];
  readonly write: (cameraId: string, copies: readonly Copy[]) => void;
  /** An object that was made of a file is to be deleted in the store. */
  readonly unwant: (object: string, stamp: FileStamp) => void;
};

/** Files that leave before others of the thread's work get their turn. */
const FILES_A_STEP = 32;

/** Takes recordings from the disk that are in the store and old enough, once the store has said that it has them. */
export class DiskLeaver {
  readonly #archiveDir: string;
  readonly #deps: DiskLeaverDeps;
  /** Cameras that are yet to be looked at. */
  readonly #cameras = new Set<string>();
  #beforeMs: number | null = null;
  #order: EraOrder | null = null;

  constructor(archiveDir: string, deps: DiskLeaverDeps) {
    this.#archiveDir = archiveDir;
    this.#deps = deps;
  }

  /** All that ended before is to leave; null: nothing. */
  begin(beforeMs: number | null, order: EraOrder, cameraIds: Iterable<string>): void {
    this.#beforeMs = beforeMs;
    this.#order = order;
    this.#cameras.clear();
    if (beforeMs !== null) for (const cameraId of cameraIds) this.#cameras.add(cameraId);
  }

  /** Some of one camera's; the camera, null where there is none left. */
  async step(signal: AbortSignal): Promise<string | null> {
    const [cameraId] = this.#cameras;
    if (cameraId === undefined) return null;
    const due = this.#due(cameraId);
    const sharers = new Sharers();
    for (const copy of due.slice(0, FILES_A_STEP)) await this.#leave(cameraId, copy, sharers, signal);
    if (due.length <= FILES_A_STEP) this.#cameras.delete(cameraId);
    return cameraId;
  }

  /** Those that the disk has, too. */
  #due(cameraId: string): Copy[] {
    const [beforeMs, order] = [this.#beforeMs, this.#order];
    const names = this.#deps.names.lookAt(cameraId);
    if (names === null || beforeMs === null || order === null) return [];
    const here = new Set(Array.from(names.startsMs, (startMs, at) => copyKey(startMs, names.endsMs[at]!)));
    return this.#deps
      .read(cameraId)
      .filter(
        (copy) =>
          !copy.isLeaving &&
          order.rightEndMs(copy.recording.endMs ?? copy.recording.startMs) < beforeMs &&
          here.has(keyOf(copy)),
      );
  }

  async #leave(cameraId: string, copy: Copy, sharers: Sharers, signal: AbortSignal): Promise<void> {
    const { client, names, log, isThere } = this.#deps;
    const { startMs, endMs } = copy.recording;
    const [folder, fileName] = [join(this.#archiveDir, cameraId), closedName(startMs, endMs ?? startMs)];
    const stamp = statFile({ folder, fileName });
    if (stamp === null) return;
    const object = objectOf(cameraId, copy);
    if (copy.stamp !== null && !isSameStamp(stamp, copy.stamp)) {
      // Somebody wrote to it: what is in the store is of no use any more.
      this.#deps.unwant(object, copy.stamp);
      return this.#forget(cameraId, copy);
    }
    const there = copy.stamp === null ? null : await client.head(object, signal);
    if (there?.bytes !== copy.sizeBytes || markOf(there.etag) !== copy.mark) {
      if (copy.stamp !== null)
        log.warn('the store does not have what was copied to it: it is copied anew', {
          camera_id: cameraId,
          file: fileName,
        });
      // One that was found in the store is compared when it is copied.
      return this.#forget(cameraId, copy);
    }
    const now = (await isThere()) ? statFile({ folder, fileName }) : null;
    if (now === null || !isSameStamp(now, stamp)) return;
    names.deleteFile(cameraId, fileName, () => {
      unlinkSync(join(folder, fileName));
      return deleteBelongings(folder, fileName, sharers);
    });
  }

  #forget(cameraId: string, copy: Copy): void {
    const others = this.#deps.read(cameraId).filter((other) => keyOf(other) !== keyOf(copy));
    this.#deps.write(cameraId, others);
  }
}
