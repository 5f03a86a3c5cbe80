import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isCameraId } from './archive-path.js';
import { parseRecordingName } from './file-name.js';

/** A file of the archive, by where it is. */
export type FilePlace = { readonly cameraId: string; readonly fileName: string };

/** The same as one text. */
export const placeKey = ({ cameraId, fileName }: FilePlace): string => `${cameraId}/${fileName}`;

/** Calls back for each folder that may be a camera's, whether the camera still exists or not. */
export const eachCamera = (archiveDir: string, visit: (cameraId: string) => void): void => {
  for (const entry of readdirSync(archiveDir, { withFileTypes: true }))
    if (entry.isDirectory() && isCameraId(entry.name)) visit(entry.name);
};

/** The same with what is in it. */
export const eachFolder = (
  archiveDir: string,
  visit: (cameraId: string, names: readonly string[]) => void,
): void =>
  eachCamera(archiveDir, (cameraId) => {
    let names: string[];
    try {
      names = readdirSync(join(archiveDir, cameraId));
    } catch {
      // Removed meanwhile, or not ours to read: no reason to leave out the others.
      return;
    }
    visit(cameraId, names);
  });

/** Now and this long before and after it; what was written to by another clock may be of the future. */
export type Lately = { readonly nowMs: number; readonly withinMs: number };

const isUntouched = (path: string, lately: Lately | null): boolean => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return false;
  return lately === null || Math.abs(stat.mtimeMs - lately.nowMs) > lately.withinMs;
};

/** Job: all files that were not closed, but for those that were written to lately. */
export const findUnclosed = (input: {
  readonly archiveDir: string;
  /** Null: nobody writes. */
  readonly lately: Lately | null;
}): FilePlace[] => {
  const { archiveDir, lately } = input;
  const found: FilePlace[] = [];
  eachFolder(archiveDir, (cameraId, names) => {
    for (const fileName of names) {
      if (!fileName.endsWith('_ongoing.mp4') || parseRecordingName(fileName) === null) continue;
      if (isUntouched(join(archiveDir, cameraId, fileName), lately)) found.push({ cameraId, fileName });
    }
  });
  return found;
};
