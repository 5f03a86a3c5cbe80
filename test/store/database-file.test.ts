import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type Sqlite from 'better-sqlite3';
import { AppError } from '../../src/base/errors.js';
import { Database } from '../../src/base/sqlite.js';
import { openDatabase } from '../../src/store/open-database.js';
import { Store } from '../../src/store/store.js';
import { tempFolder } from '../support/temp-folder.js';
import { shortestMsOf } from '../support/took.js';
import { sampleCamera } from './samples.js';

const dbPath = (t: TestContext): string => join(tempFolder(t), 'framering.db');

/** A closed database of ours with enough in it to span many pages. */
const filled = (t: TestContext): string => {
  const path = dbPath(t);
  const store = new Store(path);
  for (let index = 0; index < 200; index++)
    store.cameras.create(sampleCamera(`camera-${index}`, { comment: 'x'.repeat(300), tags: ['a', 'b'] }));
  store.close();
  return path;
};

const filesOf = (folder: string): Map<string, string> =>
  new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')]));

/** The start is refused with this code; what lay there before is the same to the byte afterwards. */
const assertRefused = (path: string, code: string, hint: RegExp): void => {
  const folder = join(path, '..');
  const before = filesOf(folder);
  assert.throws(
    () => new Store(path),
    (thrown) => {
      assert.ok(thrown instanceof AppError);
      assert.equal(thrown.code, code, thrown.message);
      assert.match(thrown.message, hint);
      assert.ok(thrown.message.includes(path), 'the message names the file');
      return true;
    },
  );
  const after = filesOf(folder);
  for (const [name, bytes] of before)
    if (!name.endsWith('-shm')) assert.equal(after.get(name), bytes, `${name} changed`);
  // SQLite may leave an empty WAL and its index beside what it read; never anything with content.
  for (const [name, bytes] of after)
    if (!before.has(name)) assert.ok(name.endsWith('-shm') || bytes === '', `${name} appeared`);
};

/** Runs `change` in the page cache and the WAL only: what a crashed process leaves behind. */
const leftInWal = (path: string, change: (db: Sqlite.Database) => void): void => {
  const db = new Database(path);
  db.pragma('wal_autocheckpoint = 0');
  change(db);
  const wal = readFileSync(`${path}-wal`);
  const main = readFileSync(path);
  db.close();
  writeFileSync(path, main);
  writeFileSync(`${path}-wal`, wal);
};

test('the first start makes a private database in a folder that it makes too', (t) => {
  const folder = join(tempFolder(t), 'deep', 'data');
  const path = join(folder, 'framering.db');
  const store = new Store(path);
  t.after(() => store.close());
  store.cameras.create(sampleCamera('a'));
  for (const name of readdirSync(folder))
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
  assert.deepEqual(readdirSync(folder).sort(), ['framering.db', 'framering.db-shm', 'framering.db-wal']);
  store.close();
  assert.deepEqual(readdirSync(folder), ['framering.db'], 'closing folds the WAL into the file');
});

test('a database that others could read is made private', (t) => {
  const path = filled(t);
  chmodSync(path, 0o644);
  new Store(path).close();
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('each commit is synced, references are held, and deleted secrets are wiped', (t) => {
  const db = openDatabase(dbPath(t));
  t.after(() => db.close());
  const read = (name: string): unknown => db.pragma(name, { simple: true });
  assert.equal(read('journal_mode'), 'wal');
  assert.equal(read('synchronous'), 2);
  assert.equal(read('fullfsync'), 1);
  assert.equal(read('foreign_keys'), 1);
  assert.equal(read('secure_delete'), 1);
  assert.ok((read('busy_timeout') as number) > 0);
});

test('a file that is no database is refused', (t) => {
  const path = dbPath(t);
  writeFileSync(path, 'holiday pictures, the only copy');
  assertRefused(path, 'database_foreign', /move the file elsewhere/);
  writeFileSync(path, Buffer.alloc(50_000, 0xff));
  assertRefused(path, 'database_foreign', /not a database/);
});

test('a folder of that name is refused', (t) => {
  const path = dbPath(t);
  mkdirSync(path);
  assert.throws(() => new Store(path), { code: 'database_foreign' });
});

test("another program's database is refused", (t) => {
  const path = dbPath(t);
  const db = new Database(path);
  db.exec('CREATE TABLE cameras (id TEXT)');
  db.close();
  assertRefused(path, 'database_foreign', /another program/);
});

test('an empty or cut-off file is refused', (t) => {
  const path = filled(t);
  truncateSync(path, 20_000);
  assertRefused(path, 'database_damaged', /import a backup/);
  truncateSync(path, 50);
  assertRefused(path, 'database_damaged', /cut off/);
  truncateSync(path, 0);
  assertRefused(path, 'database_damaged', /empty/);
});

test('a damaged page anywhere is refused', (t) => {
  const path = filled(t);
  const good = readFileSync(path);
  const pageBytes = 4_096;
  for (let page = 0; page < good.length / pageBytes; page++) {
    const [from, to] = [page * pageBytes + 100, (page + 1) * pageBytes];
    // The pages of empty tables hold nothing that could be damaged.
    if (good.subarray(from, to).every((byte) => byte === 0)) continue;
    const bad = Buffer.from(good).fill(0xff, from, to);
    writeFileSync(path, bad);
    assertRefused(path, 'database_damaged', /import a backup/);
  }
  writeFileSync(path, good);
  new Store(path).close();
});

test('a database of a newer program is refused, also if only the WAL says so', (t) => {
  const path = filled(t);
  const closed = new Database(path);
  closed.pragma('user_version = 99');
  closed.close();
  assertRefused(path, 'database_newer', /newer version.*version 99/);

  const crashed = filled(t);
  leftInWal(crashed, (db) => db.exec('CREATE TABLE novelty (a INT) STRICT'));
  leftInWal(crashed, (db) => db.pragma('user_version = 99'));
  assertRefused(crashed, 'database_newer', /newer program/);
});

test('a WAL without its database is refused, not replayed into a new one', (t) => {
  const path = filled(t);
  leftInWal(path, (db) => db.exec("UPDATE cameras SET comment = 'in the WAL'"));
  renameSync(path, `${path}.moved`);
  assertRefused(path, 'database_damaged', /missing/);
  assert.ok(!existsSync(path));
});

test('what a crash left in the WAL is there after the next start', (t) => {
  const path = filled(t);
  leftInWal(path, (db) => db.exec("UPDATE cameras SET comment = 'in the WAL'"));
  const store = new Store(path);
  t.after(() => store.close());
  assert.ok(store.cameras.list().every(({ comment }) => comment === 'in the WAL'));
});

test('a crash while the database is made leaves no half database under its name', (t) => {
  const path = dbPath(t);
  writeFileSync(`${path}.0123456789ab.new`, 'half of it');
  const store = new Store(path);
  t.after(() => store.close());
  assert.deepEqual(store.cameras.list(), []);
});

test('the health probe sees a lock, a replaced file and a closed database, and writes nothing', (t) => {
  const path = filled(t);
  const store = new Store(path);
  t.after(() => store.close());
  const before = filesOf(join(path, '..'));
  assert.equal(store.writeFault(), null);
  assert.equal(store.isWritable(), true);
  const after = filesOf(join(path, '..'));
  for (const name of ['framering.db', 'framering.db-wal']) assert.equal(after.get(name), before.get(name));

  const other = new Database(path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const tookMs = shortestMsOf(() => assert.match(store.writeFault() ?? '', /locked/));
  // Others wait for 2 s.
  assert.ok(tookMs < 1_500, 'the probe must not wait for the lock');
  other.exec('ROLLBACK');
  assert.equal(store.isWritable(), true);

  renameSync(path, `${path}.moved`);
  assert.equal(store.isWritable(), false);
  assert.equal(store.writeFault(), 'the database file is missing', 'where it was is not told to everybody');
  writeFileSync(path, 'another file');
  assert.match(store.writeFault() ?? '', /replaced/);
  renameSync(`${path}.moved`, path);
  assert.equal(store.isWritable(), true);

  store.close();
  store.close();
  assert.equal(store.isWritable(), false);
});

test('a write that is refused changes nothing and says that the database is unavailable', (t) => {
  const path = filled(t);
  const store = new Store(path);
  t.after(() => store.close());
  const other = new Database(path);
  t.after(() => other.close());
  const before = store.exportAll();
  other.exec('BEGIN IMMEDIATE');
  assert.throws(() => store.cameras.remove('camera-1'), { code: 'database_unavailable' });
  other.exec('ROLLBACK');
  assert.deepEqual(store.exportAll(), before);
  store.cameras.remove('camera-1');
});
