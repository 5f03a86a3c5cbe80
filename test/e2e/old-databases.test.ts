import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type Sqlite from 'better-sqlite3';
import { type Clock, systemClock, type WallMs } from '../../src/base/clock.js';
import { Database } from '../../src/base/sqlite.js';
import { steps } from '../../src/store/migrate.js';
import { Store } from '../../src/store/store.js';
import { runService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { startTestApp } from '../support/test-app.js';

const folder = join(import.meta.dirname, '../../..', 'test/fixtures/databases');
const PASSWORD = 'written long ago';

type Backup = {
  readonly version: number;
  readonly exported_at: string;
  readonly cameras: readonly object[];
  readonly tags: readonly object[];
  readonly folders: readonly object[];
  readonly users: readonly object[];
  readonly layouts?: readonly object[];
  readonly settings?: object;
  readonly webhooks?: readonly object[];
  readonly keys?: readonly object[];
};

/** A database of an older program, and the backup that it made. */
type Old = { readonly version: number; readonly sql: string; readonly backup: Backup };

const olds: readonly Old[] = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => ({
    version: Number(/\d+/.exec(name)?.[0]),
    sql: readFileSync(join(folder, name), 'utf8'),
    backup: JSON.parse(readFileSync(join(folder, name.replace(/sql$/, 'json')), 'utf8')),
  }));

/** What older versions didn't know is as it was before. */
const completed = ({
  cameras,
  tags,
  folders,
  users,
  layouts = [],
  settings,
  webhooks = [],
  keys = [],
}: Backup) => ({
  cameras: cameras.map((camera) => ({
    ...{ quirks: {}, sub_url: '', on_demand: false, detection: {} },
    ...{ record_mode: 'continuous', event_retention_days: 0, onvif: {}, box: null },
    ...camera,
  })),
  ...{ tags, folders, users, layouts },
  ...{ settings: settings ?? { time_zone: '' }, webhooks, keys },
});

/** Puts the database there, and answers what each table holds. */
const restore = ({ sql }: Old, dataDir: string): Map<string, { columns: string; rows: unknown[] }> => {
  const db = new Database(join(dataDir, 'framering.db'));
  db.pragma('journal_mode = WAL');
  // Tables and their rows stand in the order of their names.
  db.pragma('foreign_keys = OFF');
  db.exec(sql);
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  const content = tables.map((table) => {
    const columns = db.pragma(`table_info(${table})`) as { name: string }[];
    const names = columns.map(({ name }) => name).join(', ');
    return [table, { columns: names, rows: rowsOf(db, table, names) }] as const;
  });
  db.close();
  return new Map(content);
};

const rowsOf = (db: Sqlite.Database, table: string, columns: string): unknown[] =>
  db.prepare(`SELECT ${columns} FROM ${table} ORDER BY ${columns}`).all();

/** Some minutes after the backup was made: sessions would be too old one day. */
const clockBehind = ({ exported_at }: Backup): Clock => {
  const aheadMs = Date.parse(exported_at) + 300_000 - Date.now();
  const clock: Clock = Object.create(systemClock);
  return Object.assign(clock, { wallMs: () => (systemClock.wallMs() + aheadMs) as WallMs });
};

test('there is a database of each version that was', () => {
  const versions = olds.map(({ version }) => version);
  assert.deepEqual(
    versions,
    versions.map((_, index) => index + 2),
  );
  assert.ok(steps.length - versions.at(-1)! <= 1, 'README.md beside them tells how the last one is made');
});

for (const old of olds)
  test(`a database of version ${old.version} is brought up to date with all that is in it`, async (t) => {
    const dataDir = tempFolder(t);
    const path = join(dataDir, 'framering.db');
    const tables = restore(old, dataDir);
    const store = new Store(path);
    assert.deepEqual(store.exportAll(), completed(old.backup));
    store.close();
    const db = new Database(path, { readonly: true });
    assert.equal(db.pragma('user_version', { simple: true }), steps.length);
    for (const [table, { columns, rows }] of tables)
      assert.deepEqual(rowsOf(db, table, columns), rows, table);
    db.close();

    const clock = clockBehind(old.backup);
    const app = await startTestApp({ dataDir, withUsers: false, clock });
    t.after(() => app.stop());
    assert.equal(app.adminPassword, '', 'no other admin is made');
    const { body: login } = await app.call('POST', '/api/login', {
      body: { username: 'olga', password: PASSWORD },
    });
    const { token } = login;
    const { body: cameras } = await app.call('GET', '/api/cameras', { token });
    assert.deepEqual(
      cameras.map(({ id, state }: { id: string; state: string }) => `${id} ${state}`),
      ['door disabled', 'gate disabled'],
    );
    const changed = await app.call('PUT', '/api/cameras/gate', {
      token,
      body: { sub_url: 'rtsp://192.0.2.1/2' },
    });
    assert.deepEqual([changed.status, changed.body.retention_days], [200, 30]);
    const made = await app.call('POST', '/api/cameras', {
      token,
      body: { id: 'gone', url: 'rtsp://192.0.2.3/' },
    });
    assert.equal(made.status, 201, made.text);
    const { body: preferences } = await app.call('GET', '/api/me/preferences', { token });
    assert.deepEqual(preferences, old.version >= 9 ? { theme: 'dark' } : {});
    if (old.version < 8) return;
    const cookie = /^-- (\S+)$/m.exec(old.sql)?.[1] ?? '';
    const renewed = await app.call('POST', '/api/session', { headers: { cookie, origin: app.url } });
    assert.equal(renewed.status, 200, 'the browser is signed in still');
  });

test('a backup of each older version can be imported', async (t) => {
  const app = await startTestApp({ dataDir: tempFolder(t), withUsers: false });
  t.after(() => app.stop());
  const login = async (username: string, password: string): Promise<string> =>
    (await app.call('POST', '/api/login', { body: { username, password } })).body.token;
  let token = await login('admin', app.adminPassword);
  for (const { version, backup } of olds) {
    const imported = await app.call('POST', '/api/system/backup/import', { token, body: backup });
    assert.equal(imported.status, 200, `${version}: ${imported.text}`);
    token = await login('olga', PASSWORD);
    const { body } = await app.call('GET', '/api/system/backup/export', { token });
    const { version: _, exported_at: __, ...lists } = body;
    const wanted = completed(backup);
    // A hash of former strength is made anew at a login.
    const withoutHashes = (users: readonly object[]) => users.map((user) => ({ ...user, password_hash: '' }));
    assert.deepEqual(
      { ...lists, users: withoutHashes(lists.users) },
      { ...wanted, users: withoutHashes(wanted.users) },
      `version ${version}`,
    );
  }
});

const newerIn = (t: TestContext): string => {
  const dataDir = tempFolder(t);
  const path = join(dataDir, 'framering.db');
  new Store(path).close();
  const db = new Database(path);
  db.pragma(`user_version = ${steps.length + 1}`);
  db.close();
  return dataDir;
};

test('a program that finds the database of a newer one does not start, says so in one line, and changes nothing', async (t) => {
  const dataDir = newerIn(t);
  const before = readFileSync(join(dataDir, 'framering.db'));
  const service = runService({ DATA_DIR: dataDir });
  assert.notEqual(await service.exited, 0);
  const said = `${service.out()}${service.err()}`.trim();
  assert.match(said, /^[^\n]*newer version of this program[^\n]*Start the newer program again[^\n]*$/);
  assert.ok(readFileSync(join(dataDir, 'framering.db')).equals(before));
});
