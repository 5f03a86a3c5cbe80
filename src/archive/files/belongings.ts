import { lstatSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { listFolder } from './scan-folder.js';
import { sidecarOf } from './sidecar-name.js';

/**
 * What belongs to a recording's file, besides itself: its sidecar. Whoever deletes, moves or cuts a recording does so
 * by what is in here, and in `detections/share-out.ts`.
 */

/** Bytes on the disk of a regular file; null: there is none. */
const blockBytesOf = (path: string): number | null => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat.blocks * 512 : null;
};

/** How large what belongs to a file is. */
export const belongingBytes = (folder: string, fileName: string): number => {
  const sidecar = sidecarOf(fileName);
  const stat = sidecar === null ? undefined : lstatSync(join(folder, sidecar), { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat.size : 0;
};

/** Which recordings of a folder share a sidecar: a second can see one end and another begin. */
export class Sharers {
  /** By folder and sidecar; each folder is listed once. */
  readonly #byFolder = new Map<string, Map<string, Set<string>>>();

  /** Whether a file that goes leaves its sidecar to another. */
  isLeftToAnother(folder: string, fileName: string, sidecar: string): boolean {
    const sharers = this.#of(folder).get(sidecar);
    sharers?.delete(fileName);
    return sharers !== undefined && sharers.size > 0;
  }

  #of(folder: string): Map<string, Set<string>> {
    const known = this.#byFolder.get(folder);
    if (known !== undefined) return known;
    const bySidecar = new Map<string, Set<string>>();
    for (const name of listFolder(folder)) {
      const sidecar = sidecarOf(name);
      if (sidecar === null) continue;
      const sharers = bySidecar.get(sidecar);
      if (sharers === undefined) bySidecar.set(sidecar, new Set([name]));
      else sharers.add(name);
    }
    this.#byFolder.set(folder, bySidecar);
    return bySidecar;
  }
}

/**
 * Deletes what belonged to a file that is deleted; returns how many bytes that should have freed. What can't be
 * deleted now leaves by its age. `sharers`: of this round, where more than one file goes.
 */
export const deleteBelongings = (folder: string, fileName: string, sharers = new Sharers()): number => {
  const sidecar = sidecarOf(fileName);
  if (sidecar === null) return 0;
  try {
    const path = join(folder, sidecar);
    const freedBytes = blockBytesOf(path);
    if (freedBytes === null || sharers.isLeftToAnother(folder, fileName, sidecar)) return 0;
    unlinkSync(path);
    return freedBytes;
  } catch {
    return 0;
  }
};

/** Moves aside what belonged to a file that was moved aside. */
export const moveBelongingsAside = (folder: string, fileName: string, brokenName: string): void => {
  const [sidecar, aside] = [sidecarOf(fileName), sidecarOf(brokenName)];
  if (sidecar === null || aside === null || sidecar === aside) return;
  if (blockBytesOf(join(folder, sidecar)) === null) return;
  // Another recording of the same second keeps it.
  if (new Sharers().isLeftToAnother(folder, fileName, sidecar)) return;
  renameSync(join(folder, sidecar), join(folder, aside));
};

/** The sidecars that these files have, or would have. */
export const sidecarsOf = (fileNames: readonly string[]): ReadonlySet<string> =>
  new Set(fileNames.flatMap((fileName) => sidecarOf(fileName) ?? []));
