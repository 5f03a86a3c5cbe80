import { type FileStamp, isSameStamp, regularStamp } from '../files/scan-folder.js';
import { type Copy, readCopies } from '../offsite/copies.js';

/** Null stands for no such file. */
export type StoredCopies = { readonly stamp: FileStamp | null; readonly copies: readonly Copy[] };

/** Job: what of a camera is in the store, as it is written; null: it is as it was. */
export const storedCopies = (input: {
  readonly path: string;
  readonly known: FileStamp | null;
}): StoredCopies | null => {
  const stamp = regularStamp(input.path);
  if (stamp === null) return { stamp, copies: [] };
  if (input.known !== null && isSameStamp(stamp, input.known)) return null;
  return { stamp, copies: (readCopies(input.path) ?? []).filter(({ isLeaving }) => !isLeaving) };
};
