import { type FileStamp, isSameStamp } from '../files/scan-folder.js';

/** What makes a file this very one, as text. */
export const sourceOf = ({ ino, sizeBytes, mtimeMs, ctimeMs }: FileStamp): string =>
  [ino, sizeBytes, mtimeMs, ctimeMs].join(' ');

/** Null: it is no such text. */
export const stampIn = (source: string): FileStamp | null => {
  const numbers = source.split(' ').map(Number);
  const [ino = Number.NaN, sizeBytes = Number.NaN, mtimeMs = Number.NaN, ctimeMs = Number.NaN] = numbers;
  return numbers.length === 4 && numbers.every(Number.isFinite) ? { ino, sizeBytes, mtimeMs, ctimeMs } : null;
};

export const isSource = (stamp: FileStamp, source: string): boolean => {
  const other = stampIn(source);
  return other !== null && isSameStamp(stamp, other);
};
