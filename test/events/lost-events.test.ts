import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Database } from '../../src/base/sqlite.js';
import { EventLog } from '../../src/events/kept/event-log.js';
import { logLines } from '../archive/log-lines.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { ids, manyEvents, open } from './open-events.js';

test('a disk that can not be written costs the file nothing, and the service no more than events that last', (t) => {
  const folder = tempFolder(t);
  const { events: before } = open(t, folder);
  const kept = before.add({ cameraId: 'a', type: 'motion', fromMs: 1 });
  before.stop();
  // In its place something that SQLite can't open, as on a disk that fails.
  renameSync(join(folder, 'events.db'), join(folder, 'good.db'));
  mkdirSync(join(folder, 'events.db'));
  const { events, lines } = open(t, folder);
  const now = events.add({ cameraId: 'a', type: 'motion', fromMs: 2 });
  assert.deepEqual(ids(events), [now.id]);
  assert.equal(events.protectedSpans(), null, 'the file may have some');
  assert.ok(events.has(kept.id), 'and events whose pictures are there');
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['error'],
  );
  assert.deepEqual(readdirSync(folder).sort(), ['events.db', 'good.db']);
  events.stop();
  rmdirSync(join(folder, 'events.db'));
  renameSync(join(folder, 'good.db'), join(folder, 'events.db'));
  assert.deepEqual(ids(open(t, folder).events), [kept.id]);
});

test('a file that could not be opened is tried again, and gets what happened meanwhile', (t) => {
  const folder = tempFolder(t);
  const { events: before } = open(t, folder);
  const old = before.add({ cameraId: 'a', type: 'motion', fromMs: 1 });
  before.stop();
  renameSync(join(folder, 'events.db'), join(folder, 'good.db'));
  mkdirSync(join(folder, 'events.db'));
  const { clock, events } = open(t, folder);
  clock.advance(1);
  const meanwhile = events.add({ cameraId: 'b', type: 'motion', fromMs: 2 });
  clock.advance(5_000);
  assert.ok(!events.isLasting);
  rmdirSync(join(folder, 'events.db'));
  renameSync(join(folder, 'good.db'), join(folder, 'events.db'));
  clock.advance(5_000);
  assert.ok(events.isLasting);
  const later = events.add({ cameraId: 'a', type: 'motion', fromMs: 3 });
  assert.deepEqual(ids(events), [later.id, meanwhile.id, old.id]);
  events.stop();
  assert.deepEqual(ids(open(t, folder).events), [later.id, meanwhile.id, old.id]);
});

test('what is protected outlives a database that is lost, until it is protected no more', (t) => {
  const folder = tempFolder(t);
  const clock = new FakeClock();
  let stored: string | null = 'no events';
  const protectedMemory = {
    stored: () => stored,
    store: (text: string) => {
      stored = text;
    },
  };
  const start = () => {
    const events = new EventLog(join(folder, 'events.db'), { clock, log: logLines().log, protectedMemory });
    t.after(() => events.stop());
    return events;
  };
  const remove = () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `events.db${suffix}`), { force: true });
  };
  const events = start();
  const [kept, ended, other, gone] = ['a', 'a', 'a', 'b'].map((cameraId) =>
    events.add({ cameraId, type: 'detection', label: 'cat', score: 0.5, fromMs: 50_000, toMs: 60_000 }),
  );
  for (const one of [kept!, ended!, gone!]) events.protect(one.id, true);
  events.protect(ended!.id, false);
  events.forgetCamera('b');
  const spans = [{ cameraId: 'a', fromMs: 40_000, toMs: 70_000 }];
  assert.deepEqual(events.protectedSpans(), spans);
  remove();
  clock.advance(5_000);
  assert.deepEqual(ids(events), [kept!.id], `${other!.id} is lost`);
  assert.deepEqual(events.protectedSpans(), spans);
  events.stop();
  remove();
  const again = start();
  assert.deepEqual(again.find(kept!.id, 'eve')?.event, { ...kept, isProtected: true });
  again.protect(kept!.id, false);
  again.stop();
  remove();
  assert.deepEqual(start().protectedSpans(), []);
});

test('a protected event that goes on keeps an hour of what is recorded, not all that ever will be', (t) => {
  const { events } = open(t);
  const { id } = events.add({ cameraId: 'a', type: 'camera_lost', fromMs: 100_000 });
  events.protect(id, true);
  assert.deepEqual(events.protectedSpans(), [{ cameraId: 'a', fromMs: 90_000, toMs: 3_710_000 }]);
});

test('a file that is broken is moved aside, and one that is deleted is begun anew, while the service runs', (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'events.db');
  writeFileSync(path, 'no database at all, though long enough to look like one'.repeat(100));
  const { clock, events, lines } = open(t, folder);
  assert.equal(lines.length, 1);
  assert.ok(existsSync(`${path}.broken`));
  const first = events.add({ cameraId: 'a', type: 'motion', fromMs: 1 });
  assert.deepEqual(ids(events), [first.id]);
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  clock.advance(5_000);
  assert.deepEqual(ids(events), []);
  const second = events.add({ cameraId: 'a', type: 'motion', fromMs: 2 });
  assert.ok(second.id > first.id);
  assert.deepEqual(ids(events, { cameraIds: new Set(['a']) }), [second.id]);
  assert.equal(lines.length, 2);
});

test('another program that holds a lock keeps nobody waiting, and loses nothing', (t) => {
  const { clock, events, folder } = open(t);
  const other = new Database(join(folder, 'events.db'));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const { id } = events.add({ cameraId: 'a', type: 'motion', fromMs: 1 });
  const startMs = performance.now();
  for (let asked = 0; asked < 10; asked++) assert.deepEqual(ids(events), []);
  assert.ok(performance.now() - startMs < 6_000, 'less than a second each');
  other.exec('ROLLBACK');
  clock.advance(5_000);
  assert.deepEqual(ids(events), [id]);
});

test('that events were given up is known to the next service, too', (t) => {
  const { clock, events, folder } = open(t);
  const other = new Database(join(folder, 'events.db'));
  t.after(() => other.close());
  const fromMs = clock.wallMs();
  other.exec('BEGIN IMMEDIATE');
  clock.advance(400);
  for (let added = 0; added <= 10_000; added += 1)
    events.add({ cameraId: 'a', type: 'motion', fromMs, toMs: fromMs });
  other.exec('ROLLBACK');
  assert.equal(events.lostCount, 1);
  const lostMs = clock.wallMs();
  events.stop();
  assert.equal(open(t, folder).events.times('a', fromMs, lostMs)?.sinceMs, lostMs);
});

const PAGE_BYTES = 4_096;

/** Fills all pages of a database with nothing but its first ones, as a disk does that lost what was written last. */
const spoil = (path: string, fromPage: number): void => {
  const bytes = readFileSync(path);
  assert.ok(bytes.length > (fromPage + 2) * PAGE_BYTES);
  writeFileSync(path, bytes.fill(0xaa, fromPage * PAGE_BYTES));
};

test('a file that is broken behind its head is moved aside, too: at the start, and while the service runs', (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'events.db');
  const { events: before } = open(t, folder);
  manyEvents(before, 1_000);
  before.stop();
  spoil(path, 2);
  const { clock, events, lines } = open(t, folder);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['warn'],
  );
  rmSync(`${path}.broken`);
  manyEvents(events, 1_000);
  clock.advance(500);
  // In the file alone, of which another connection has just written all.
  const other = new Database(path);
  other.pragma('wal_checkpoint(TRUNCATE)');
  other.close();
  spoil(path, 2);
  const now = events.add({ cameraId: 'new', type: 'motion', fromMs: 1 });
  for (let tries = 0; tries < 20 && !existsSync(`${path}.broken`); tries++) {
    clock.advance(5_000);
    events.has(1);
  }
  assert.ok(existsSync(`${path}.broken`));
  clock.advance(5_000);
  assert.deepEqual(ids(events), [now.id]);
});

test('an event that can not be read when it ends does end, once the disk answers', (t) => {
  const folder = tempFolder(t);
  const { clock, events } = open(t, folder);
  const { id } = events.add({ cameraId: 'a', type: 'motion', fromMs: 1_000 });
  const gone = events.add({ cameraId: 'b', type: 'motion', fromMs: 1_000 });
  clock.advance(1_000);
  const other = new Database(join(folder, 'events.db'));
  t.after(() => other.close());
  other.exec('ALTER TABLE events RENAME TO elsewhere');
  events.change(id, { score: 0.5 });
  events.change(id, { toMs: 5_000 });
  events.change(gone.id, { toMs: 5_000 });
  assert.equal(events.times('a', 0, 10_000), null, 'nobody knows now');
  clock.advance(10_000);
  other.exec('ALTER TABLE elsewhere RENAME TO events');
  other.prepare('DELETE FROM events WHERE id = ?').run(gone.id);
  clock.advance(5_000);
  assert.deepEqual(events.open(), []);
  const found = events.find(id, 'eve')?.event;
  assert.deepEqual([found?.toMs, found?.score], [5_000, 0.5]);
  assert.deepEqual(events.times('a', 0, 10_000)?.events, [{ fromMs: 1_000, toMs: 5_000 }]);
  assert.equal(events.find(gone.id, 'eve'), null, 'what is gone stays gone');
});
