import { existsSync, renameSync, rmSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Database } from '../../base/sqlite.js';
import { isBrokenFile, isEnvironmental } from '../../store/store-error.js';

/** Another schema is begun anew: what waits is worth no migration. */
const VERSION = 1;

const schema = `
-- What is yet to be sent: a copy for each receiver.
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,    -- in the order in which it happened
  webhook TEXT NOT NULL,
  message_id TEXT NOT NULL,                -- as the receiver knows it
  body TEXT NOT NULL,
  made_ms INTEGER NOT NULL,                -- wall time
  attempts INTEGER NOT NULL,               -- that failed
  due_ms INTEGER NOT NULL,                 -- wall time before which it is not tried; 0: at once
  UNIQUE (webhook, message_id)
) STRICT;
CREATE INDEX messages_by_order ON messages (webhook, id);
CREATE INDEX messages_by_due ON messages (webhook, due_ms, id);

-- What is known of each receiver.
CREATE TABLE receivers (
  webhook TEXT NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL,               -- of the last message that was made for it
  failures INTEGER NOT NULL,               -- attempts in a row that it didn't take
  not_before_ms INTEGER NOT NULL,          -- wall time until which it is left alone
  dropped INTEGER NOT NULL,                -- messages that were given up
  last TEXT                                -- JSON: what came of the last attempt; NULL: there was none
) STRICT, WITHOUT ROWID;
`;

const BUSY_MS = 50;
const SUFFIXES = ['', '-wal', '-shm'] as const;

const open = (path: string): Sqlite.Database => {
  const db = new Database(path);
  try {
    db.pragma('journal_mode = WAL');
    // What was written outlives the process; a power cut may cost the last moments, and the file stays whole.
    db.pragma('synchronous = NORMAL');
    db.pragma(`busy_timeout = ${BUSY_MS}`);
    const version = db.pragma('user_version', { simple: true });
    if (version === 0) {
      db.transaction(() => {
        db.exec(schema);
        db.pragma(`user_version = ${VERSION}`);
      }).immediate();
    } else if (version !== VERSION)
      throw new Error(`it is of version ${version}, which this program can't read`);
    // The head of a file may be whole, and what is behind it not.
    const verdict = db.pragma('quick_check(1)', { simple: true });
    if (verdict !== 'ok') throw new Error(String(verdict));
    return db;
  } catch (fault) {
    db.close();
    throw fault;
  }
};

/** Out of the way, for a person who may want to look at it. */
const moveAside = (path: string): void => {
  for (const suffix of SUFFIXES) {
    rmSync(`${path}.broken${suffix}`, { force: true });
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.broken${suffix}`);
  }
};

const inMemory = (fault: unknown, log: Logger): Sqlite.Database => {
  log.error('messages are kept in memory until the next start', { reason: messageOf(fault) });
  return open(':memory:');
};

/**
 * Opens what waits, or begins anew where it is of no use. Where the disk is what fails the file is left as it is, and
 * messages are in memory.
 */
export const openOutboxDatabase = (path: string, log: Logger): Sqlite.Database => {
  try {
    if (!existsSync(path)) for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
    return open(path);
  } catch (fault) {
    if (isEnvironmental(fault) && !isBrokenFile(fault)) return inMemory(fault, log);
    log.warn("the messages that wait can't be read: they are moved aside", { reason: messageOf(fault) });
  }
  try {
    moveAside(path);
    return open(path);
  } catch (fault) {
    return inMemory(fault, log);
  }
};
