import { closeSync, constants, fdatasyncSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { writeAt } from '../../base/durable-file.js';
import { folderOf } from '../files/archive-path.js';
import { codeOf } from '../files/disk-fault.js';
import { isRealFolder } from '../files/scan-folder.js';
import { parseSidecarName } from '../files/sidecar-name.js';
import { RECORD_HEAD_BYTES } from './detection-record.js';
import { isSidecar, pagesOf, wholeBytesOf } from './sidecar-pages.js';

/** Records for one sidecar. */
export type Append = {
  readonly cameraId: string;
  readonly sidecar: string;
  /** How long the file is, if the service has written it all; null: that is to be looked at. */
  readonly knownBytes: number | null;
  /** Whether it may not be there yet; else one that isn't there went with its recording. */
  readonly isNew: boolean;
  /** One behind the other. */
  readonly records: Uint8Array;
  /** Nothing is expected to come: what is there is to last. */
  readonly isLast: boolean;
};

/** How long the file is then, or what is wrong. */
export type Appended = { readonly fileBytes: number } | { readonly fault: string };

const FILE_MODE = 0o640;
const FLAGS = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const recordsIn = (bytes: Buffer): Buffer[] => {
  const records: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + RECORD_HEAD_BYTES + bytes.readUInt16BE(at);
    records.push(bytes.subarray(at, end));
    at = end;
  }
  return records;
};

/** Where to write: behind what is whole. A torn end is cut. */
const wholeEnd = (fd: number, knownBytes: number | null): number => {
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw new Error('it is no file');
  if (stat.size === knownBytes) return knownBytes;
  const wholeBytes = wholeBytesOf(fd, stat.size);
  if (wholeBytes > 0 && !isSidecar(fd)) throw new Error('it is of another version');
  if (wholeBytes < stat.size) ftruncateSync(fd, wholeBytes);
  return wholeBytes;
};

const append = (archiveDir: string, one: Append): number => {
  const { cameraId, sidecar, knownBytes, records, isLast, isNew } = one;
  const folder = folderOf(archiveDir, cameraId);
  if (parseSidecarName(sidecar)?.kind !== 'current' || !isRealFolder(folder))
    throw Object.assign(new Error('there is no such place'), { code: 'ENOENT' });
  const create = isNew && records.length > 0 ? constants.O_CREAT : 0;
  const fd = openSync(join(folder, sidecar), FLAGS | create, FILE_MODE);
  try {
    const endBytes = wholeEnd(fd, knownBytes);
    const all = recordsIn(Buffer.from(records.buffer, records.byteOffset, records.length));
    const bytes = all.length === 0 ? Buffer.alloc(0) : pagesOf(all, endBytes);
    try {
      writeAt(fd, bytes, endBytes);
    } catch (fault) {
      // A full disk takes some of it.
      ftruncateSync(fd, endBytes);
      throw fault;
    }
    if (isLast) fdatasyncSync(fd);
    return endBytes + bytes.length;
  } finally {
    closeSync(fd);
  }
};

/** Job: writes what was seen beside the recordings of its time. What is wrong with one file keeps out no other. */
export const appendDetections = (input: {
  readonly archiveDir: string;
  readonly appends: readonly Append[];
}): Appended[] =>
  input.appends.map((one) => {
    try {
      return { fileBytes: append(input.archiveDir, one) };
    } catch (fault) {
      return { fault: codeOf(fault) || String(fault) };
    }
  });
