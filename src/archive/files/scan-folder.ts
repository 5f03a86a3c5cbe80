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
const ifThere = { throwIfNoEntry: false } as const;

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): FileStamp => ({
  ino,
  sizeBytes: size,
  mtimeMs,
  ctimeMs,
});

/** The stamp of one file of a scan. */
export const stampAt = ({ stamps }: FolderScan, index: number): FileStamp => {
  const at = index * STAMP_FIELDS;
  return {
    ino: stamps[at] ?? 0,
    sizeBytes: stamps[at + 1] ?? 0,
    mtimeMs: stamps[at + 2] ?? 0,
    ctimeMs: stamps[at + 3] ?? 0,
  };
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
export const regularStamp = (path: string): FileStamp | null => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stampOf(stat) : null;
};

/** Job: all recordings of a camera's folder; none where there is no folder. Other files are passed over. */
export const scanFolder = ({ folder }: { readonly folder: string }): Moved<FolderScan> => {
  const names: string[] = [];
  const stamps: number[] = [];
  for (const name of listFolder(folder)) {
    // Each call counts here: a month of hours has 720 files.
    const stat = parseRecordingName(name) === null ? undefined : lstatSync(`${folder}/${name}`, ifThere);
    if (stat?.isFile() !== true) continue;
    names.push(name);
    stamps.push(stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs);
  }
  const packed = Float64Array.from(stamps);
  return new Moved({ names, stamps: packed }, [packed.buffer]);
};

/** Job: the stamp of one file; null: it isn't there, or isn't a regular file in a real folder. */
export const statFile = (input: { readonly folder: string; readonly fileName: string }): FileStamp | null =>
  isRealFolder(input.folder) ? regularStamp(join(input.folder, input.fileName)) : null;
