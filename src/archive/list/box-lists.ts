import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isBoxName } from '../../base/box-name.js';
import { regularStamp } from '../files/scan-folder.js';
import { camerasWithCopies } from '../offsite/copies-file.js';

/*
 * What is written here of other boxes: a folder of each, a file of each camera in it (box-rows.ts), and when that box was
 * heard last.
 */

/** Its time says it: that costs a box that is heard all the time no blocks of the disk. */
const HEARD = 'heard';

export type BoxLists = {
  readonly box: string;
  readonly cameraIds: readonly string[];
  /** When it told last what is new; null: it isn't known. */
  readonly heardMs: number | null;
};

/** Job: which boxes something is known of, and of which cameras. */
export const listsOfBoxes = (input: { readonly boxesDir: string }): BoxLists[] => {
  const { boxesDir } = input;
  mkdirSync(boxesDir, { recursive: true });
  return readdirSync(boxesDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isBoxName(entry.name))
    .map(({ name }) => {
      const folder = join(boxesDir, name);
      const heardMs = regularStamp(join(folder, HEARD))?.mtimeMs ?? null;
      return { box: name, cameraIds: camerasWithCopies(folder), heardMs };
    });
};

/** Job: writes down when a box was heard last. */
export const keepHeard = (input: { readonly folder: string; readonly heardMs: number }): void => {
  const path = join(input.folder, HEARD);
  mkdirSync(input.folder, { recursive: true });
  if (regularStamp(path) === null) writeFileSync(path, '');
  utimesSync(path, input.heardMs / 1_000, input.heardMs / 1_000);
};

/** Job: nothing is known of a box any more. */
export const forgetBox = ({ boxesDir, box }: { readonly boxesDir: string; readonly box: string }): void => {
  if (isBoxName(box)) rmSync(join(boxesDir, box), { recursive: true, force: true });
};
