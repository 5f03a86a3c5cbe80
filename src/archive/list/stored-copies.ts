import { Moved } from '../files/job-result.js';
import { type FileStamp, isSameStamp, regularStamp } from '../files/scan-folder.js';
import { type ReadUpTo, readAdded, readCopies } from '../offsite/copies-file.js';

/** What whoever asks knows already. */
export type KnownCopies = { readonly stamp: FileStamp; readonly upTo: ReadUpTo | null };

/** What is written of copies, as rows of numbers: all of it, or what was added to what is known. */
export type StoredCopies = {
  /** Null: there is no such file, or it can't be read. */
  readonly stamp: FileStamp | null;
  readonly upTo: ReadUpTo | null;
  readonly isAdded: boolean;
  readonly rows: Float64Array;
  /** Of what was added they are those that are known. */
  readonly boxes: readonly string[];
};

const nothing = { upTo: null, isAdded: false, rows: new Float64Array(), boxes: [] };

/** Where it is written what one box has of a camera, and what of that is known already. */
export type AskedCopies = { readonly path: string; readonly known: KnownCopies | null };

const copiesIn = ({ path, known }: AskedCopies): StoredCopies | null => {
  const stamp = regularStamp(path);
  if (stamp === null) return { ...nothing, stamp };
  if (known !== null && isSameStamp(stamp, known.stamp)) return null;
  const added = known?.upTo == null ? null : readAdded(path, known.upTo);
  if (added !== null) return { stamp, upTo: added.upTo, isAdded: true, rows: added.rows, boxes: [] };
  const written = readCopies(path);
  // It is looked at anew: the disk may give it the next time.
  if (written === null) return { ...nothing, stamp: null };
  const { rows, boxes } = written.table;
  return { stamp, upTo: written.upTo, isAdded: false, rows, boxes };
};

/** Job: what of a camera is elsewhere, as it is written of each box that has some; null: it is as it was. */
export const storedCopies = (input: {
  readonly asked: readonly AskedCopies[];
}): Moved<(StoredCopies | null)[]> => {
  const found = input.asked.map(copiesIn);
  const rows = found.flatMap((one) => (one === null || one.rows.length === 0 ? [] : [one.rows]));
  const memory = new Set(rows.map(({ buffer }) => buffer as ArrayBuffer));
  return new Moved(found, [...memory]);
};
