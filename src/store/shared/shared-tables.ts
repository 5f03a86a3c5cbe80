import type Database from 'better-sqlite3';

/** One kind of what all boxes of a cluster have alike. */
export type SharedTable = {
  /** What its records are called by, before their ids. */
  readonly kind: string;
  readonly table: string;
  /** The column that a record is found by. */
  readonly id: string;
  /** Columns that are each box's own. */
  readonly own?: readonly string[];
  /** No two have the same name, nothing hangs on them, and in one change they may take each other's names. */
  readonly isNamed?: boolean;
  /** Of facts: the only ones that are shared. */
  readonly only?: readonly string[];
};

/** Folders before cameras, users before what is theirs: as they are written. */
export const sharedTables: readonly SharedTable[] = [
  { kind: 'folder', table: 'folders', id: 'id' },
  { kind: 'tag', table: 'tags', id: 'id' },
  { kind: 'user', table: 'users', id: 'username' },
  { kind: 'key', table: 'api_keys', id: 'id', own: ['used_ms'], isNamed: true },
  { kind: 'cam', table: 'cameras', id: 'id' },
  { kind: 'gone', table: 'deleted_cameras', id: 'camera_id' },
  { kind: 'wall', table: 'layouts', id: 'id' },
  { kind: 'pref', table: 'preferences', id: 'username' },
  { kind: 'hook', table: 'webhooks', id: 'id' },
  { kind: 'set', table: 'settings', id: 'name' },
  { kind: 'fact', table: 'facts', id: 'name', only: ['first_admin_epoch'] },
];

/** `cam/door`: a kind has no slash, an id may. */
export const sharedKey = (kind: string, id: string): string => `${kind}/${id}`;

/** The columns that are shared, as the tables are now. */
export const sharedColumns = (db: Database.Database, { table, own = [] }: SharedTable): string[] =>
  (db.pragma(`table_info(${table})`) as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !own.includes(name));

/** Not by OR IGNORE: the conflict clause of whatever statement fires a trigger overrides those in it. */
const noted = (kind: string, row: 'NEW' | 'OLD', column: string): string =>
  `INSERT INTO touched SELECT '${kind}', ${row}.${column}
   WHERE NOT EXISTS (SELECT 1 FROM touched WHERE kind = '${kind}' AND id = ${row}.${column});`;

const watching = (kind: string, table: string, column: string, only: readonly string[] = []): string => {
  const when = (row: string): string =>
    only.length === 0 ? '' : `WHEN ${row}.${column} IN (${only.map((name) => `'${name}'`).join(', ')})`;
  const events = [
    ['INSERT', 'NEW'],
    ['UPDATE', 'NEW'],
    ['DELETE', 'OLD'],
  ] as const;
  return events
    .map(
      ([event, row]) =>
        `CREATE TEMP TRIGGER touch_${table}_${event} AFTER ${event} ON main.${table} ${when(row)}
         BEGIN ${noted(kind, row, column)} END;`,
    )
    .join('\n');
};

/**
 * Has SQLite note which records are written, by whatever statement, for as long as the database is open. The noting is
 * part of the transaction, and gone with it.
 */
export const watchSharedTables = (db: Database.Database): void => {
  db.exec(`
    CREATE TEMP TABLE touched (kind TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID;
    ${sharedTables.map(({ kind, table, id, only }) => watching(kind, table, id, only)).join('\n')}
    ${watching('cam', 'camera_tags', 'camera_id')}
  `);
};
