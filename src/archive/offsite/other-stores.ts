import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../files/disk-fault.js';
import { regularStamp } from '../files/scan-folder.js';
import { copiesPath, readCopies } from './copies-file.js';
import type { Unwanted } from './messages.js';
import { Notes } from './notes.js';
import { Outbox } from './outbox.js';
import { isStoreFolder } from './store-folder.js';
import { staysBy } from './unwanted.js';

const foldersIn = (storesDir: string): string[] => {
  try {
    return readdirSync(storesDir).filter(isStoreFolder);
  } catch (fault) {
    if (codeOf(fault) === 'ENOENT') return [];
    throw fault;
  }
};

type OtherStores = {
  readonly storesDir: string;
  /** Of the one that is set, which has a thread of its own; null: none is. */
  readonly copiesDir: string | null;
  readonly cameraId: string;
};

const othersIn = ({ storesDir, copiesDir }: OtherStores): string[] =>
  foldersIn(storesDir)
    .map((name) => join(storesDir, name))
    .filter((folder) => folder !== copiesDir);

const forgetIn = (folder: string, cameraId: string, unwanted: Unwanted): void => {
  const stays = staysBy(unwanted);
  const known = readCopies(copiesPath(folder, cameraId));
  const notesOf = (): Notes => new Notes(folder, { nowMs: () => 0, leaveMs: 0 });
  const outbox = new Outbox(join(folder, 'outbox.json'), () => notesOf().doubtAll());
  if (known !== null && !known.isPartial && outbox.sendings.length === 0 && [...known.table].every(stays))
    return;
  // Once it is set again they are listed before it is asked anything.
  if (known !== null) notesOf().leave(cameraId, (copies, index) => !stays(copies.at(index)));
  // All of a camera, whose id is free then: that has to be certain. A store that nobody ever sets again refuses no other request.
  if (unwanted.fromMs === Number.NEGATIVE_INFINITY || outbox.mayWish)
    outbox.wish({ cameraId, ...unwanted, markedMs: null });
};

/** Job: what stores have of a camera to which nothing is copied now is to go from there, once one of them is set again. Synced, or it throws. */
export const forgetInOtherStores = (input: OtherStores & { readonly unwanted: Unwanted }): void => {
  for (const folder of othersIn(input)) forgetIn(folder, input.cameraId, input.unwanted);
};

/** Job: whether one of these has recordings of a camera, or may have some. */
export const keptInOtherStores = (input: OtherStores): boolean =>
  othersIn(input).some((folder) => {
    const path = copiesPath(folder, input.cameraId);
    return regularStamp(path) !== null && readCopies(path)?.table.kept !== 0;
  });
