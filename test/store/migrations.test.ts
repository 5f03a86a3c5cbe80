import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type Sqlite from 'better-sqlite3';
import { Database } from '../../src/base/sqlite.js';
import { migrate, steps } from '../../src/store/migrate.js';
import { openDatabase } from '../../src/store/open-database.js';
import { Store } from '../../src/store/store.js';
import { tempFolder } from '../support/temp-folder.js';

const storeFolder = join(import.meta.dirname, '../../..', 'src/store');
const schemaSql = readFileSync(join(storeFolder, 'schema.sql'), 'utf8');

/** Each statement that made the schema, without comments and with single spaces. */
const schemaOf = (db: Sqlite.Database): Map<string, string> => {
  const made = db
    .prepare<[], { name: string; sql: string }>('SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL')
    .all();
  const tidy = (sql: string): string =>
    sql
      .replace(/--.*$/gm, ' ')
      .replace(/\s+/g, ' ')
      .replace(/\s*([(),])\s*/g, '$1');
  return new Map(made.map(({ name, sql }) => [name, tidy(sql)]));
};

const documented = (): Map<string, string> => {
  const db = new Database(':memory:');
  db.exec(schemaSql);
  return schemaOf(db);
};

test('the steps lead to exactly what schema.sql says, from nothing and from each older version', (t) => {
  for (let version = 0; version < steps.length; version++) {
    const path = join(tempFolder(t), 'framering.db');
    if (version > 0) {
      const older = new Database(path);
      migrate(older, version);
      assert.equal(older.pragma('user_version', { simple: true }), version);
      older.close();
    }
    const db = openDatabase(path);
    assert.deepEqual(schemaOf(db), documented(), `from version ${version}`);
    assert.equal(db.pragma('user_version', { simple: true }), steps.length);
    db.close();
  }
});

test('each step has a file with its number', () => {
  const files = readdirSync(join(storeFolder, 'migrations'))
    .filter((name) => name.endsWith('.ts'))
    .sort();
  assert.equal(files.length, steps.length);
  for (const [index, file] of files.entries()) assert.ok(file.startsWith(String(index + 1).padStart(3, '0')));
});

test('every column is explained', () => {
  const columns = schemaSql.split('\n').filter((line) => /^ {2}[a-z_]+ [A-Z]/.test(line));
  assert.ok(columns.length > 25);
  for (const line of columns) assert.match(line, /-- \S/, line);
});

test('what version 1 held is all there in the newest', (t) => {
  const path = join(tempFolder(t), 'framering.db');
  const older = new Database(path);
  older.pragma('journal_mode = WAL');
  migrate(older, 1);
  older.exec(`
    INSERT INTO cameras VALUES ('gate', 'rtsp://c/1', 1, 30, 'yard', 'Gate', '+49', '8949', 0, 'udp', 1, 500, 0, 1);
    INSERT INTO camera_tags VALUES ('gate', 'b', 0), ('gate', 'a', 1);
    INSERT INTO tags VALUES ('a', 'A', '#aabbcc');
    INSERT INTO folders VALUES ('site', 'Site', NULL), ('yard', 'Yard', 'site');
    INSERT INTO users VALUES ('admin', 'hash', 'admin', 'epoch-1');
  `);
  older.close();
  const store = new Store(path);
  t.after(() => store.close());
  assert.deepEqual(store.exportAll(), {
    cameras: [
      {
        id: 'gate',
        url: 'rtsp://c/1',
        record: true,
        retention_days: 30,
        tags: ['b', 'a'],
        folder_id: 'yard',
        comment: 'Gate',
        sim_phone: '+49',
        sim_iccid: '8949',
        lazy_hls: false,
        transport: 'udp',
        token_auth: true,
        traffic_limit: 500,
        disabled: false,
        detect: true,
        quirks: {},
        detection: {},
        sub_url: '',
        on_demand: false,
        record_mode: 'continuous',
        event_retention_days: 0,
        onvif: {},
        box: null,
      },
    ],
    tags: [{ id: 'a', name: 'A', color: '#aabbcc' }],
    folders: [
      { id: 'site', name: 'Site', parent_id: '' },
      { id: 'yard', name: 'Yard', parent_id: 'site' },
    ],
    users: [{ username: 'admin', password_hash: 'hash', role: 'admin' }],
    layouts: [],
    webhooks: [],
    settings: { time_zone: '' },
    keys: [],
  });
  assert.equal(store.users.find('admin')?.token_epoch, 'epoch-1', 'an upgrade logs nobody out');
});

test('a step that fails leaves the version that was there', () => {
  const db = new Database(':memory:');
  migrate(db, 1);
  db.exec('CREATE TABLE traffic (a INT) STRICT');
  const before = schemaOf(db);
  assert.throws(() => migrate(db), /already exists/);
  assert.equal(db.pragma('user_version', { simple: true }), 1);
  assert.deepEqual(schemaOf(db), before);
});
