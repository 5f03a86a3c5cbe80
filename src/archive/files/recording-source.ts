import { closeSync } from 'node:fs';
import type { AppError } from '../../base/errors.js';
import { archiveError, isGone } from '../archive-error.js';
import { StoredBytes, type StoredPlace } from '../offsite/stored-bytes.js';
import { codeOf } from './disk-fault.js';
import { FileWalk } from './file-walk.js';
import { type ByteSource, openRegular, readUpTo } from './regular-file.js';
import type { FileStamp } from './scan-folder.js';

/** A recording for a job to read: where it is, and how to tell that it is still the file that was meant. */
export type RecordingSource = {
  readonly path: string;
  readonly stamp: FileStamp;
  /** It is, or was, being written: it may be longer by now, and is read up to the size that it was known to have. */
  readonly isOpen: boolean;
  /** Where else it is. */
  readonly stored?: StoredPlace | undefined;
};

/** A recording that is open for as long as a job reads it. */
export class OpenedRecording {
  readonly fd: ByteSource;
  readonly fileBytes: number;

  constructor(fd: ByteSource, fileBytes: number) {
    this.fd = fd;
    this.fileBytes = fileBytes;
  }

  /** A walk over bytes [0, endBytes) whose moov is read, and which goes on at `fromBytes` unless that is 0. */
  walk(fromBytes: number, endBytes: number): FileWalk {
    const walk = this.walkDescribed(fromBytes, endBytes);
    if (walk === null) throw unreadable('it has no description of its tracks');
    return walk;
  }

  /** The same; null: no moov is whole. */
  walkDescribed(fromBytes: number, endBytes: number): FileWalk | null {
    const walk = new FileWalk(this.fd, endBytes);
    walk.readFirst();
    if (walk.scanner.movie === null) return null;
    if (fromBytes > 0) walk.scanner.skipTo(fromBytes);
    return walk;
  }

  /** Fills all of `target`. */
  read(target: Buffer, offset: number): void {
    if (readUpTo(this.fd, target, offset).length < target.length) throw changed('it was cut');
  }
}

/** An error of a recording that makes no sense. */
export const unreadable = (why: string): AppError =>
  archiveError('recording_unreadable', `the recording can't be played: ${why}`);

/** An error of a recording that isn't what a job was told. */
export const changed = (why: string): AppError =>
  archiveError('recording_changed', `the recording is not what it was: ${why}`);

const isSame = (
  before: FileStamp,
  now: { ino: number; size: number; mtimeMs: number; ctimeMs: number },
): boolean =>
  before.sizeBytes === now.size && before.mtimeMs === now.mtimeMs && before.ctimeMs === now.ctimeMs;

const openSource = (path: string): ReturnType<typeof openRegular> => {
  try {
    return openRegular(path);
  } catch (cause) {
    // ELOOP: a symbolic link.
    if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL'].includes(codeOf(cause))) throw cause;
    throw archiveError('not_found', 'there is no such recording');
  }
};

/** Opens a recording for the time of `use`, if it is still what `source` says. */
export const withRecording = <Result>(
  source: RecordingSource,
  use: (recording: OpenedRecording) => Result,
): Result => {
  const { stored, stamp } = source;
  if (stored === undefined) return withFile(source, use);
  if (!stored.isAlone) {
    try {
      return withFile(source, use);
    } catch (fault) {
      // It has left the disk meanwhile.
      if (!isGone(fault)) throw fault;
    }
  }
  return use(new OpenedRecording(new StoredBytes(stored, stamp.sizeBytes), stamp.sizeBytes));
};

const withFile = <Result>(
  { path, stamp, isOpen }: RecordingSource,
  use: (recording: OpenedRecording) => Result,
): Result => {
  const { fd, stat } = openSource(path);
  try {
    if (stat.ino !== stamp.ino) throw changed('another file has its name');
    if (stat.size < stamp.sizeBytes) throw changed('it was cut');
    if (!isOpen && !isSame(stamp, stat)) throw changed('it was written to');
    // Of an open file only what it was known to hold: what its recorder is at may yet be cut off.
    return use(new OpenedRecording(fd, stamp.sizeBytes));
  } finally {
    closeSync(fd);
  }
};
