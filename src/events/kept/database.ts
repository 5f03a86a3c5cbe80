import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Database } from '../../base/sqlite.js';
import { isBrokenFile, isEnvironmental } from '../../store/store-error.js';
import { EventTables } from './event-tables.js';

/** Another schema is begun anew: what happened is worth no migration. */
const VERSION = 1;

const schema = `
CREATE TABLE cameras (
  key INTEGER PRIMARY KEY,
  id TEXT UNIQUE                           -- null: the camera is deleted, and its events are going
) STRICT;

CREATE TABLE kinds (
  key INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  label TEXT NOT NULL,                     -- '' where nothing was seen
  UNIQUE (type, label)
) STRICT;

CREATE TABLE events (
  id INTEGER PRIMARY KEY,                  -- microseconds since 1970 at which it was told, or the next free one
  camera INTEGER NOT NULL,                 -- key of cameras
  kind INTEGER NOT NULL,                   -- key of kinds
  begin_ms INTEGER NOT NULL,               -- wall time
  end_ms INTEGER,                          -- null: it goes on
  score REAL,
  protected INTEGER NOT NULL CHECK (protected IN (0, 1)),
  detail TEXT NOT NULL
) STRICT;

-- With all that a filter asks for, so that events that don't fit are passed over without being read.
CREATE INDEX events_by_begin ON events (begin_ms, id, camera, kind);
-- Whatever is asked for is put together of such lists, each of them in order.
CREATE INDEX events_by_list ON events (camera, kind, begin_ms);
CREATE INDEX events_open ON events (id) WHERE end_ms IS NULL;
CREATE INDEX events_protected ON events (id) WHERE protected = 1;

-- Who has seen what. A row goes with its event and with its user.
CREATE TABLE reviews (
  username TEXT NOT NULL,
  begin_ms INTEGER NOT NULL,               -- of the event, so that they are listed in its order
  event INTEGER NOT NULL,
  PRIMARY KEY (username, begin_ms, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX reviews_by_event ON reviews (event);
`;

/** What came later, and an older program passes over. */
const additions = `
-- Those that may reach into a time though they began long before it.
CREATE INDEX IF NOT EXISTS events_lasting ON events (camera, kind, begin_ms)
  WHERE end_ms IS NULL OR end_ms - begin_ms > 3600000;

-- One row.
CREATE TABLE IF NOT EXISTS known (
  since_ms INTEGER NOT NULL,               -- wall time; what happened before may be missing: it was in another file, or too many
  alive_ms INTEGER NOT NULL                -- when the service was last seen to run while an event went on
) STRICT;
`;

const BUSY_MS = 50;

/** `nowMs`: wall time. */
export type OpeningDeps = { readonly log: Logger; readonly nowMs: number };

const SUFFIXES = ['', '-wal', '-shm'] as const;

/** A database that can be used, and the highest id that was given in it. */
export type OpenEvents = {
  readonly db: Sqlite.Database;
  readonly tables: EventTables;
  readonly lastId: number;
};

const openFile = (path: string, nowMs: number): OpenEvents => {
  const db = new Database(path);
  try {
    db.pragma('journal_mode = WAL');
    // What was told outlives the process; a power cut may cost the last seconds, and the file stays whole.
    db.pragma('synchronous = NORMAL');
    const version = db.pragma('user_version', { simple: true });
    if (version === 0) {
      db.transaction(() => {
        db.exec(schema);
        db.pragma(`user_version = ${VERSION}`);
      }).immediate();
    } else if (version !== VERSION)
      throw new Error(`it is of version ${version}, which this program can't read`);
    db.transaction(() => {
      db.exec(additions);
      // One of an older program has all since it was made, whenever that was.
      db.prepare(
        `INSERT INTO known SELECT CASE WHEN EXISTS (SELECT 1 FROM events) THEN 0 ELSE ? END, 0
         WHERE NOT EXISTS (SELECT 1 FROM known)`,
      ).run(Math.round(nowMs));
    }).immediate();
    // The head of a file may be whole, and what is behind it not: that is found out by reading.
    const tables = new EventTables(db);
    db.transaction(() => tables.keys.forgetUnused()).immediate();
    // From here on all else waits with it for another program that holds a lock, and what isn't written is tried again.
    db.pragma(`busy_timeout = ${BUSY_MS}`);
    return { db, tables, lastId: tables.lastId };
  } catch (fault) {
    db.close();
    throw fault;
  }
};

/** Out of the way, in the place of the one that was moved aside before: a person may want to look at the last one. */
const moveAside = (path: string): void => {
  for (const suffix of SUFFIXES) {
    rmSync(`${path}.broken${suffix}`, { force: true });
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.broken${suffix}`);
  }
};

const inMemory = (fault: unknown, { log, nowMs }: OpeningDeps): OpenEvents => {
  log.error('events are kept in memory until the next start', { reason: messageOf(fault) });
  return openFile(':memory:', nowMs);
};

/**
 * Opens the database of events, or makes it; one that is of no use is moved aside, and another one begun. Where the disk is
 * what fails the file is left as it is, and nothing but events is worse for it.
 */
export const openEventDatabase = (path: string, deps: OpeningDeps): OpenEvents => {
  try {
    // One that was deleted while a process had it open leaves its log behind, which fits no other.
    if (!existsSync(path)) for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
    return openFile(path, deps.nowMs);
  } catch (fault) {
    if (isEnvironmental(fault) && !isBrokenFile(fault)) return inMemory(fault, deps);
    deps.log.warn("the database of events can't be read: it is moved aside, and begun anew", {
      reason: messageOf(fault),
    });
  }
  return replaceEventDatabase(path, deps);
};

/** Tries again what could not be opened; null: it still can't. */
export const reopenEventDatabase = (path: string, { nowMs }: OpeningDeps): OpenEvents | null => {
  try {
    return openFile(path, nowMs);
  } catch {
    return null;
  }
};

/** Begins another one in the place of one that is of no use, though it can be opened. */
export const replaceEventDatabase = (path: string, deps: OpeningDeps): OpenEvents => {
  try {
    moveAside(path);
    return openFile(path, deps.nowMs);
  } catch (fault) {
    return inMemory(fault, deps);
  }
};

/**
 * Names the file that is there, so that one that was deleted or replaced is noticed; null: there is none, `before`: the disk
 * doesn't say.
 */
export const fileNumberOf = (path: string, before: number | null): number | null => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
  } catch {
    return before;
  }
};
