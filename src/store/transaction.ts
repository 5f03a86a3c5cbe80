import type Database from 'better-sqlite3';
import { isEnvironmental, storeError } from './store-error.js';

/**
 * Runs `work` in one write transaction: when this returns, the change is on the disk; when it throws, nothing has
 * changed. IMMEDIATE takes the write lock first, so what `work` reads can't change before it writes.
 */
export const inTransaction = <T>(db: Database.Database, work: () => T): T => {
  try {
    return db.transaction(work).immediate();
  } catch (thrown) {
    if (!isEnvironmental(thrown)) throw thrown;
    throw storeError('database_unavailable', `the database can't be written: ${thrown.message}`, {
      cause: thrown,
      details: { sqlite: thrown.code },
    });
  }
};
