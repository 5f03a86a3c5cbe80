import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { Database } from '../base/sqlite.js';
import { isEnvironmental, storeError } from './store-error.js';

/** Held while a process uses a folder. */
export type FolderLock = { release(): void };

/**
 * Takes a folder for this process alone, by a file in it; null: another process has it. The lock is SQLite's own on an
 * empty database: the system lets go of it when the process ends, however that happens, so none is ever left behind.
 * Throws where the file can't be made, or can't be locked.
 */
const lockByFile = (path: string): FolderLock | null => {
  let db: Sqlite.Database | null = null;
  try {
    db = new Database(path, { timeout: 0 });
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db?.close();
    if (isEnvironmental(cause) && /^SQLITE_(BUSY|LOCKED)/.test(cause.code)) return null;
    throw cause;
  }
  const held = db;
  return { release: () => void held.close() };
};

/** Takes the data directory, or throws `data_locked`. */
export const lockDataDir = (dataDir: string): FolderLock => {
  mkdirSync(dataDir, { recursive: true });
  const lock = lockByFile(join(dataDir, 'service.lock'));
  if (lock !== null) return lock;
  throw storeError(
    'data_locked',
    `another process uses ${dataDir}: stop it, or give this one another DATA_DIR`,
  );
};

/** Takes the folder of the recordings, which may be the data directory; null: another process has it. */
export const lockArchiveDir = (archiveDir: string): FolderLock | null =>
  lockByFile(join(archiveDir, '.framering-lock'));
