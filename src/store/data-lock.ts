import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { isEnvironmental, storeError } from './store-error.js';

/** Held while a process uses a data directory. */
export type DataLock = { release(): void };

/**
 * Takes a data directory for this process alone, or throws `data_locked`. The lock is SQLite's own on an empty
 * database: the system lets go of it when the process ends, however that happens, so none is ever left behind.
 */
export const lockDataDir = (dataDir: string): DataLock => {
  let db: Database.Database | null = null;
  try {
    mkdirSync(dataDir, { recursive: true });
    db = new Database(join(dataDir, 'service.lock'), { timeout: 0 });
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db?.close();
    if (isEnvironmental(cause) && /^SQLITE_(BUSY|LOCKED)/.test(cause.code))
      throw storeError(
        'data_locked',
        `another process uses ${dataDir}: stop it, or give this one another DATA_DIR`,
        { cause },
      );
    throw cause;
  }
  const held = db;
  return { release: () => void held.close() };
};
