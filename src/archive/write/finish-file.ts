import { join } from 'node:path';
import { VIDEO_TRACK_ID } from '../../fmp4/init-segment.js';
import type { PartTable } from '../../fmp4/part-table.js';
import { buildMfra } from '../../fmp4/random-access.js';
import { isDiskFull } from '../files/disk-fault.js';
import type { BlockFile } from './block-file.js';
import { syncCameraFolder } from './camera-folder.js';
import { disk } from './disk.js';
import { giveClosedName } from './free-name.js';

/** All that is to be known of a file to close it. */
export type UnfinishedFile = {
  readonly file: BlockFile;
  readonly folder: string;
  readonly name: string;
  readonly startWallMs: number;
  readonly endWallMs: number;
  /** Where its last fragment ends; 0: it has none. */
  readonly endBytes: number;
  readonly parts: PartTable;
};

/** Where no room is left for the index the file does without: it can be made again from the fragments. */
const appendIndex = async ({ file, endBytes, parts }: UnfinishedFile): Promise<void> => {
  try {
    await file.end(buildMfra(VIDEO_TRACK_ID, parts), endBytes);
  } catch (fault) {
    if (!isDiskFull(fault)) throw fault;
    await file.truncate(endBytes);
  }
};

/** Ends a file with its index, and gives it its closed name once all of it is on the disk for good. */
export const finishFile = async (unfinished: UnfinishedFile): Promise<void> => {
  const { file, folder, name, startWallMs, endWallMs, endBytes } = unfinished;
  try {
    if (endBytes === 0) {
      // Nothing of it ever became a recording.
      await disk.unlink(join(folder, name));
      return;
    }
    await appendIndex(unfinished);
    await file.sync();
    await giveClosedName(folder, name, startWallMs, endWallMs);
  } finally {
    await file.close();
  }
  await syncCameraFolder(folder);
};
