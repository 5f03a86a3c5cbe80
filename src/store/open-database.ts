import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { publishDraft } from '../base/durable-file.js';
import { AppError, messageOf } from '../base/errors.js';
import { Database } from '../base/sqlite.js';
import { APPLICATION_ID, migrate, steps } from './migrate.js';
import { storeError } from './store-error.js';

const KEPT = 'Nothing was changed.';
const HOW_TO_RESTORE =
  'Put a good copy of the file in its place; or, to start with an empty database, move it and its -wal and ' +
  '-shm files elsewhere, start again and import a backup.';

/** SQLite file format, section 1.3: offsets of the fields that say whose file this is. */
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;

const foreign = (path: string, why: string): AppError =>
  storeError(
    'database_foreign',
    `${path} ${why}. ${KEPT} Check DATA_DIR, or move the file elsewhere to start with an empty database.`,
  );

const newer = (path: string, version: number): AppError =>
  storeError(
    'database_newer',
    `${path} was written by a newer version of this program (database version ${version}, this program knows ` +
      `${steps.length}). ${KEPT} Start the newer program again, or put a copy of the file in its place that was ` +
      'made before the upgrade.',
  );

const damaged = (path: string, why: string, cause?: unknown): AppError =>
  storeError('database_damaged', `${path} is damaged: ${why}. ${KEPT} ${HOW_TO_RESTORE}`, { cause });

const unavailable = (path: string, cause: unknown): AppError =>
  storeError(
    'database_unavailable',
    `${path} can't be opened: ${messageOf(cause)}. Check that its folder exists, belongs to the user that runs ` +
      'this program and is on a working disk with free space, and that no other program holds the file.',
    { cause },
  );

const readHeader = (path: string): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(path, 'r');
  try {
    return header.subarray(0, readSync(handle, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(handle);
  }
};

/** Looks at the bytes alone: a file that isn't ours is never handed to SQLite, which would leave files beside it. */
const checkHeader = (path: string): void => {
  if (!statSync(path).isFile()) throw foreign(path, 'is not a file');
  const header = readHeader(path);
  if (header.length === 0) throw damaged(path, 'it is empty');
  const hasMagic = header.toString('latin1', 0, MAGIC.length) === MAGIC.slice(0, header.length);
  if (!hasMagic) throw foreign(path, 'is not a database');
  if (header.length < HEADER_BYTES) throw damaged(path, 'its header is cut off');
  if (header.readInt32BE(APPLICATION_ID_AT) !== APPLICATION_ID)
    throw foreign(path, 'is a database of another program');
  const version = header.readInt32BE(USER_VERSION_AT);
  if (version > steps.length) throw newer(path, version);
};

/** Reads the whole file through a connection that can't write: not even a left-over WAL is folded in. */
const checkContent = (path: string): void => {
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    // The header in the file may be older than the one in the WAL.
    const version = db.pragma('user_version', { simple: true }) as number;
    if (version > steps.length) throw newer(path, version);
    const verdict = db.pragma('integrity_check(1)', { simple: true });
    if (verdict !== 'ok') throw damaged(path, String(verdict));
  } finally {
    db.close();
  }
};

const configure = (db: Sqlite.Database): void => {
  db.pragma('journal_mode = WAL');
  // FULL syncs the WAL at each commit: what was acknowledged outlives kill -9 and a power cut.
  db.pragma('synchronous = FULL');
  // macOS: a plain fsync leaves the data in the drive's cache.
  db.pragma('fullfsync = ON');
  db.pragma('foreign_keys = ON');
  db.pragma('busy_timeout = 2000');
  // Deleted camera credentials and password hashes are overwritten in the file.
  db.pragma('secure_delete = ON');
  // What watches tables is temporary. Set later this would throw that away, without a word.
  db.pragma('temp_store = MEMORY');
};

/** A new database gets its name when it is whole, so a crash at the first start leaves none, not a broken one. */
const create = (path: string): void => {
  const draftPath = `${path}.${randomBytes(6).toString('hex')}.new`;
  closeSync(openSync(draftPath, 'wx', 0o600));
  try {
    const db = new Database(draftPath);
    try {
      configure(db);
      migrate(db);
    } finally {
      db.close();
    }
    publishDraft(draftPath, path);
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draftPath + suffix, { force: true });
  }
};

const prepare = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) {
    const walPath = `${path}-wal`;
    // SQLite would replay an orphaned WAL into the new database.
    if (existsSync(walPath) && statSync(walPath).size > 0)
      throw damaged(path, `it is missing, but ${walPath} is there`);
    create(path);
  }
  checkHeader(path);
  checkContent(path);
};

const openChecked = (path: string): Sqlite.Database => {
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  const db = new Database(path, { fileMustExist: true });
  try {
    configure(db);
    migrate(db);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
};

const isDamage = (thrown: unknown): boolean =>
  thrown instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(thrown.code);

/**
 * Opens our database, makes it at the first start, and brings an older one up to date. A file that is damaged,
 * newer than this program or not ours is refused and left as it is, byte for byte.
 */
export const openDatabase = (path: string): Sqlite.Database => {
  try {
    prepare(path);
    return openChecked(path);
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw isDamage(thrown) ? damaged(path, messageOf(thrown), thrown) : unavailable(path, thrown);
  }
};
