import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { eachCamera } from './archive-folders.js';

/** Cameras whose folders are others than at the last look, those that are gone among them; `isAll`: all there are, since there was none. */
export type ChangedFolders = {
  readonly look: number;
  readonly isAll: boolean;
  readonly cameraIds: readonly string[];
  /** So long it took. */
  readonly tookMs: number;
};

/** Of this thread; it has one archive. */
let last: {
  readonly archiveDir: string;
  readonly look: number;
  readonly stamps: ReadonlyMap<string, string>;
} | null = null;

const stampOf = (folder: string): string | null => {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true ? `${stat.dev} ${stat.ino} ${stat.mtimeMs} ${stat.ctimeMs}` : null;
};

/** Job: which cameras' folders had files that came or went since the look that whoever asks knows of; null: none. */
export const changedFolders = (input: {
  readonly archiveDir: string;
  readonly since: number | null;
}): ChangedFolders => {
  const { archiveDir, since } = input;
  const startMs = performance.now();
  const before = last !== null && last.archiveDir === archiveDir && last.look === since ? last : null;
  const stamps = new Map<string, string>();
  eachCamera(archiveDir, (cameraId) => {
    const stamp = stampOf(join(archiveDir, cameraId));
    if (stamp !== null) stamps.set(cameraId, stamp);
  });
  const known = before?.stamps ?? new Map<string, string>();
  const cameraIds = [
    ...[...stamps].filter(([cameraId, stamp]) => known.get(cameraId) !== stamp),
    ...[...known].filter(([cameraId]) => !stamps.has(cameraId)),
  ].map(([cameraId]) => cameraId);
  const look = (last?.look ?? Math.floor(Math.random() * 2 ** 32)) + 1;
  last = { archiveDir, look, stamps };
  return { look, isAll: before === null, cameraIds, tookMs: performance.now() - startMs };
};
