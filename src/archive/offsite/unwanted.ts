import { closedName } from '../files/file-name.js';
import { type Recording, recordingOf } from '../list/recording.js';
import type { Copy } from './copy.js';
import type { Unwanted } from './messages.js';

/** As lists show it. */
export const listed = ({ recording, inspection, sizeBytes, box, epoch }: Copy): Recording => {
  const name = closedName(recording.startMs, recording.endMs ?? recording.startMs);
  const stamp = { ino: 0, sizeBytes, mtimeMs: 0, ctimeMs: 0 };
  return recordingOf(name, recording, stamp, inspection, box, () => epoch);
};

/** Whether somebody who wants others gone lets it stay. */
export const staysBy = ({ fromMs, toMs, fileNames }: Unwanted): ((copy: Copy) => boolean) => {
  const names = new Set(fileNames);
  return (copy) => {
    const { startMs, endMs, fileName } = listed(copy);
    return !names.has(fileName) && !(startMs >= fromMs && endMs <= toMs);
  };
};
