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

/**
 * Deletes what belonged to a file that is deleted; returns how many bytes that should have freed. What can't be
 * deleted now leaves by its age.
 */
export const deleteBelongings = (folder: string, fileName: string): number => {
  const sidecar = sidecarOf(fileName);
  if (sidecar === null) return 0;
  try {
    const path = join(folder, sidecar);
    const freedBytes = blockBytesOf(path);
    if (freedBytes === null) return 0;
    // A second can see a recording end and another begin: they share what was seen.
    if (listFolder(folder).some((other) => other !== fileName && sidecarOf(other) === sidecar)) return 0;
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
  if (listFolder(folder).some((other) => other !== fileName && sidecarOf(other) === sidecar)) return;
  renameSync(join(folder, sidecar), join(folder, aside));
};

/** The sidecars that these files have, or would have. */
export const sidecarsOf = (fileNames: readonly string[]): ReadonlySet<string> =>
  new Set(fileNames.flatMap((fileName) => sidecarOf(fileName) ?? []));
