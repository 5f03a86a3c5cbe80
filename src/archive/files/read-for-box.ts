import { closeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { archiveError, isGone } from '../archive-error.js';
import { codeOf } from './disk-fault.js';
import { parseRecordingName } from './file-name.js';
import { Moved } from './job-result.js';
import { type RecordingSource, withRecording } from './recording-source.js';
import { openRegular, readUpTo } from './regular-file.js';
import { type FileStamp, listFolder, regularStamp } from './scan-folder.js';

export type ReadForBoxInput = {
  readonly path: string;
  /** Of the recording; null: it is what was seen in one, which may have more by now. */
  readonly stamp: FileStamp | null;
  readonly startByte: number;
  readonly endByte: number;
};

const notThere = () => archiveError('not_found', 'there is no such recording');

const besideBytes = (path: string, target: Buffer, startByte: number): void => {
  let opened: ReturnType<typeof openRegular>;
  try {
    opened = openRegular(path);
  } catch (fault) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL'].includes(codeOf(fault))) throw notThere();
    throw fault;
  }
  try {
    if (readUpTo(opened.fd, target, startByte).length < target.length) throw notThere();
  } finally {
    closeSync(opened.fd);
  }
};

/** Where one is that was being written, and was closed meanwhile; null: it is gone. */
const closedPath = (path: string, ino: number): string | null => {
  const folder = dirname(path);
  const startMs = parseRecordingName(basename(path))?.startMs;
  for (const name of listFolder(folder)) {
    const other = parseRecordingName(name);
    if (other === null || other.endMs === null || other.startMs !== startMs) continue;
    if (regularStamp(join(folder, name))?.ino === ino) return join(folder, name);
  }
  return null;
};

/** Job: bytes of a recording, as another box knows it, or of what was seen in it. */
export const readForBox = (input: ReadForBoxInput): Moved<Uint8Array<ArrayBuffer>> => {
  const { path, stamp, startByte, endByte } = input;
  const target = Buffer.from(new ArrayBuffer(endByte - startByte));
  const result = new Moved(new Uint8Array(target.buffer), [target.buffer]);
  if (stamp === null) {
    besideBytes(path, target, startByte);
    return result;
  }
  if (endByte > stamp.sizeBytes) throw notThere();
  const isOpen = parseRecordingName(basename(path))?.endMs === null;
  const read = (source: RecordingSource): void =>
    withRecording(source, (recording) => recording.read(target, startByte));
  try {
    read({ path, stamp, isOpen });
  } catch (fault) {
    const moved = isOpen && isGone(fault) ? closedPath(path, stamp.ino) : null;
    if (moved === null) throw fault;
    read({ path: moved, stamp, isOpen });
  }
  return result;
};
