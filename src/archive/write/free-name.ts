import { join } from 'node:path';
import { codeOf } from '../files/disk-fault.js';
import { closedName, openName } from '../files/file-name.js';
import { BlockFile } from './block-file.js';
import type { DirectDisk } from './direct-disk.js';
import { disk } from './disk.js';

/** A file that was just made; `startWallMs`: when it begins by its name, to the millisecond. */
export type NewFile = { readonly file: BlockFile; readonly name: string; readonly startWallMs: number };

/** Seconds that a name is moved on where another file has it already. */
const MAX_NAME_SHIFT_SEC = 60;
const SECOND_MS = 1_000;

/** Makes a file under the first open name that is free: a second can see a file end and another begin. */
export const createUnderFreeName = async (
  folder: string,
  wantedMs: number,
  direct: DirectDisk,
): Promise<NewFile> => {
  for (let shiftSec = 0; ; shiftSec += 1) {
    const startWallMs = wantedMs + shiftSec * SECOND_MS;
    const name = openName(startWallMs);
    try {
      return { file: await BlockFile.create(join(folder, name), direct), name, startWallMs };
    } catch (fault) {
      if (codeOf(fault) !== 'EEXIST' || shiftSec >= MAX_NAME_SHIFT_SEC) throw fault;
    }
  }
};

const exists = async (path: string): Promise<boolean> => {
  try {
    await disk.access(path);
    return true;
  } catch (fault) {
    if (codeOf(fault) === 'ENOENT') return false;
    throw fault;
  }
};

/** Gives a file its closed name, never over another file: a name that is taken moves the end on by a second. */
export const giveClosedName = async (
  folder: string,
  name: string,
  startWallMs: number,
  endWallMs: number,
): Promise<void> => {
  for (let shiftSec = 0; shiftSec <= MAX_NAME_SHIFT_SEC; shiftSec += 1) {
    const closedPath = join(folder, closedName(startWallMs, endWallMs + shiftSec * SECOND_MS));
    if (await exists(closedPath)) continue;
    await disk.rename(join(folder, name), closedPath);
    return;
  }
  throw new Error(`no name is free for ${name}`);
};
