import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../files/disk-fault.js';
import { Notes } from './notes.js';
import { Outbox } from './outbox.js';
import { isStoreFolder } from './store-folder.js';

const foldersIn = (storesDir: string): string[] => {
  try {
    return readdirSync(storesDir).filter(isStoreFolder);
  } catch (fault) {
    if (codeOf(fault) === 'ENOENT') return [];
    throw fault;
  }
};

/**
 * Job: all that stores have of a camera to which nothing is copied now is to go from there, once one of them is set again. Synced, or
 * it throws. `copiesDir`: of the one that is set, which has a thread of its own; null: none is.
 */
export const forgetInOtherStores = (input: {
  readonly storesDir: string;
  readonly copiesDir: string | null;
  readonly cameraId: string;
}): void => {
  const { storesDir, copiesDir, cameraId } = input;
  for (const name of foldersIn(storesDir)) {
    const folder = join(storesDir, name);
    if (folder === copiesDir) continue;
    const notes = new Notes(folder, { nowMs: () => 0, leaveMs: 0 });
    const outbox = new Outbox(join(folder, 'outbox.json'), () => notes.doubtAll());
    const always = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
    outbox.wish({ cameraId, ...always, fileNames: [], markedMs: null });
    // Once it is set again they are listed before it is asked anything.
    if (notes.read(cameraId) !== null) notes.leave(cameraId, () => true);
  }
};
