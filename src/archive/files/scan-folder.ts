import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { parseRecordingName } from './file-name.js';
import { Moved } from './job-result.js';

/** A file as the folder shows it; any change of it changes one of these. */
export type FileStamp = {
  readonly ino: number;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  /** Tells of a file that was overwritten with its old time, as `cp -p` does. */
  readonly ctimeMs: number;
};

/** The recordings in a folder; four numbers a file in `stamps`. */
export type FolderScan = { readonly names: readonly string[]; readonly stamps: Float64Array };

const STAMP_FIELDS = 4;

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): FileStamp => ({
  ino,
  sizeBytes: size,
  mtimeMs,
  ctimeMs,
});

/** The stamp of one file of a scan. */
export const stampAt = ({ stamps }: FolderScan, index: number): FileStamp => {
  const at = index * STAMP_FIELDS;
  const [ino = 0, sizeBytes = 0, mtimeMs = 0, ctimeMs = 0] = stamps.subarray(at, at + STAMP_FIELDS);
  return { ino, sizeBytes, mtimeMs, ctimeMs };
};

/** Whether nothing about the file has changed. */
export const isSameStamp = (a: FileStamp, b: FileStamp): boolean =>
  a.ino === b.ino && a.sizeBytes === b.sizeBytes && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;

/** A folder, not a link to one: a link could lead anywhere. */
export const isRealFolder = (folder: string): boolean =>
  lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;

/** The names in a camera's folder; none where there is no real one. */
export const listFolder = (folder: string): string[] => (isRealFolder(folder) ? readdirSync(folder) : []);

/** The stamp of a regular file; null: there is none. */
const regularStamp = (path: string): FileStamp | null => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stampOf(stat) : null;
};

/** Job: all recordings of a camera's folder; none where there is no folder. Other files are passed over. */
export const scanFolder = ({ folder }: { readonly folder: string }): Moved<FolderScan> => {
  const names: string[] = [];
  const stamps: number[] = [];
  for (const name of listFolder(folder)) {
    const stamp = parseRecordingName(name) === null ? null : regularStamp(join(folder, name));
    if (stamp === null) continue;
    names.push(name);
    stamps.push(stamp.ino, stamp.sizeBytes, stamp.mtimeMs, stamp.ctimeMs);
  }
  const packed = Float64Array.from(stamps);
  return new Moved({ names, stamps: packed }, [packed.buffer]);
};

/** Job: the stamp of one file; null: it isn't there, or isn't a regular file in a real folder. */
export const statFile = (input: { readonly folder: string; readonly fileName: string }): FileStamp | null =>
  isRealFolder(input.folder) ? regularStamp(join(input.folder, input.fileName)) : null;
