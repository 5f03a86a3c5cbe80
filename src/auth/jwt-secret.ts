import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { publishDraft } from '../base/durable-file.js';
import { AppError, messageOf } from '../base/errors.js';
import { authError } from './auth-error.js';

const MIN_BYTES = 32;
const MAX_FILE_BYTES = 4_096;

const HOW_TO_MEND =
  'Mend it, set JWT_SECRET, or delete the file to have a new one made (everybody must log in again then).';

/** undefined if there is no such file. */
const openIfThere = (path: string): number | undefined => {
  try {
    return openSync(path, 'r');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
};

/** An editor leaves a line end that is no part of the secret. */
const withoutLineEnd = (bytes: Buffer): Buffer => {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] === 0x0a || bytes[end - 1] === 0x0d)) end--;
  return bytes.subarray(0, end);
};

const read = (path: string): Buffer | undefined => {
  const handle = openIfThere(path);
  if (handle === undefined) return undefined;
  try {
    // Of the file that is open, not of whatever has that name by then.
    const stat = fstatSync(handle);
    const bad = (why: string) => authError('bad_jwt_secret', `${path} ${why}. ${HOW_TO_MEND}`);
    if (!stat.isFile()) throw bad('is not a file');
    if ((stat.mode & 0o077) !== 0)
      throw bad(`can be read by others, who could make tokens of their own: chmod 600 ${path}`);
    if (stat.size > MAX_FILE_BYTES) throw bad('is too long to be a secret');
    const secret = withoutLineEnd(readFileSync(handle));
    if (secret.length < MIN_BYTES) throw bad(`holds less than ${MIN_BYTES} bytes`);
    return secret;
  } finally {
    closeSync(handle);
  }
};

/** Under its name the file is always whole; if two make one at the same time, the first one counts for both. */
const make = (path: string): void => {
  const draftPath = `${path}.${randomBytes(6).toString('hex')}.new`;
  const handle = openSync(draftPath, 'wx', 0o600);
  try {
    writeSync(handle, `${randomBytes(32).toString('base64url')}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  publishDraft(draftPath, path);
};

/** The secret that signs tokens: `configured`, or the one in `dataDir`, made at the first start. */
export const loadJwtSecret = (dataDir: string, configured: string | null): Buffer => {
  if (configured !== null) {
    if (Buffer.byteLength(configured) >= MIN_BYTES) return Buffer.from(configured);
    throw authError('bad_jwt_secret', `JWT_SECRET must have at least ${MIN_BYTES} bytes`);
  }
  const path = join(dataDir, 'jwt-secret');
  try {
    mkdirSync(dataDir, { recursive: true });
    const kept = read(path);
    if (kept !== undefined) return kept;
    make(path);
    const made = read(path);
    if (made !== undefined) return made;
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw authError('bad_jwt_secret', `${path} can't be read or made: ${messageOf(thrown)}. ${HOW_TO_MEND}`);
  }
  throw authError('bad_jwt_secret', `${path} vanished while it was read. ${HOW_TO_MEND}`);
};
