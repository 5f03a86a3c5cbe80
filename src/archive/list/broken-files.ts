import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { belongingBytes } from '../files/belongings.js';
import { openEndMs, parseBrokenName } from '../files/file-name.js';
import { knownNames } from '../files/known-names.js';
import { listFolder } from '../files/scan-folder.js';

/** A file that was moved aside since nothing in it can be played. */
export type BrokenFile = {
  readonly fileName: string;
  readonly startMs: number;
  /** When it was written to last. */
  readonly endMs: number;
  readonly sizeBytes: number;
};

/** All of them: how many there are, and how large. */
export type BrokenTotal = { readonly files: number; readonly bytes: number };

/** What a name and the file say; null: it is none of these. */
export const brokenFileAt = (folder: string, fileName: string): BrokenFile | null => {
  const startMs = parseBrokenName(fileName);
  const stat = startMs === null ? undefined : lstatSync(join(folder, fileName), { throwIfNoEntry: false });
  if (startMs === null || stat?.isFile() !== true) return null;
  return { fileName, startMs, endMs: openEndMs(startMs, stat.mtimeMs), sizeBytes: stat.size };
};

/** Job: those of one camera, sorted by start. */
export const listBroken = ({ folder }: { readonly folder: string }): BrokenFile[] =>
  listFolder(folder)
    .flatMap((name) => brokenFileAt(folder, name) ?? [])
    .sort((a, b) => a.startMs - b.startMs);

/** Job: how many there are in the archive. */
export const countBroken = ({ archiveDir }: { readonly archiveDir: string }): BrokenTotal => {
  let [files, bytes] = [0, 0];
  for (const [cameraId, { broken }] of knownNames(archiveDir).look()) {
    for (const name of broken) {
      const found = brokenFileAt(join(archiveDir, cameraId), name);
      if (found === null) continue;
      files += 1;
      bytes += found.sizeBytes + belongingBytes(join(archiveDir, cameraId), name);
    }
  }
  return { files, bytes };
};
