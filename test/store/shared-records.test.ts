import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { WallMs } from '../../src/base/clock.js';
import { type SharedRecord, SharedRecords } from '../../src/store/shared/shared-records.js';
import { Store } from '../../src/store/store.js';
import { tempFolder } from '../support/temp-folder.js';
import { anyConfiguration, sampleCamera } from './samples.js';

const tag = { id: 'a/b', name: 'Gate', color: '#000000' };

const openShared = (t: TestContext) => {
  const store = new Store(join(tempFolder(t), 'framering.db'));
  t.after(() => store.close());
  let records: SharedRecords | null = null;
  store.share((db) => {
    records = new SharedRecords(db);
    return { change: async (work) => work() };
  });
  return { store, records: records! as SharedRecords };
};

const begin = (store: Store, id: string, username: string): boolean =>
  store.sessions.begin(
    {
      ...{ id, username, isRemembered: true, usedMs: 1, begunMs: 1 as WallMs, userAgent: '' },
      tokenEpoch: store.users.find(username)!.token_epoch,
    },
    Buffer.from(id),
  );

test('a rehearsal tells what would be written, whatever statement writes it, and writes nothing', (t) => {
  const { store, records } = openShared(t);
  store.tags.create(tag);
  store.cameras.create(sampleCamera('door', { tags: ['a/b', 'c'] }));
  records.replaceBy(records.all());
  const before = store.exportAll();
  const { result, records: changed } = records.rehearse(() => {
    store.tags.remove('a/b');
    store.cameras.create(sampleCamera('new'));
    store.cameras.remove('new', { isPurged: true });
    return 'done';
  });
  assert.equal(result, 'done');
  const found = new Map(changed.map(({ key, text }) => [key, text && JSON.parse(text)]));
  assert.deepEqual([...found.keys()].sort(), ['cam/door', 'gone/new', 'tag/a/b']);
  assert.deepEqual(found.get('cam/door')?.tags, ['c'], 'what a tag takes along is a change, too');
  assert.equal(found.get('gone/new')?.is_purged, 1);
  assert.deepEqual(store.exportAll(), before);
  assert.throws(() => records.rehearse(() => store.tags.create(tag)), { code: 'exists' });
  assert.deepEqual(records.rehearse(() => store.tags.update('a/b', { name: 'Gate' })).records, []);
});

test('any configuration is the same on a box that takes its records over, and then nothing is left to take', (t) => {
  const [one, other] = [openShared(t), openShared(t)];
  fc.assert(
    fc.property(anyConfiguration, (wanted) => {
      one.store.importAll(wanted);
      other.records.replaceBy(one.records.all());
      assert.deepEqual(other.store.exportAll(), one.store.exportAll());
      assert.deepEqual(
        other.store.users.list().map(({ username }) => other.store.users.find(username)),
        one.store.users.list().map(({ username }) => one.store.users.find(username)),
      );
      assert.equal(other.records.replaceBy(one.records.all()).kinds.size, 0);
    }),
    { numRuns: 40 },
  );
});

test('who has another password elsewhere is signed out here, but for the sessions that are kept', (t) => {
  const { store, records } = openShared(t);
  store.users.create({ username: 'eve', password_hash: 'h', role: 'viewer' });
  store.users.create({ username: 'bob', password_hash: 'h', role: 'viewer' });
  for (const [id, username] of [
    ['one', 'eve'],
    ['two', 'eve'],
    ['three', 'bob'],
  ] as const)
    assert.ok(begin(store, id, username));
  const renamed = records.rehearse(() => store.users.update('eve', { password_hash: 'other' }, 'two'));
  assert.deepEqual(renamed.keptSessionIds, ['two']);
  const effects = records.apply(renamed.records, renamed);
  assert.deepEqual(effects.revokedUsernames, ['eve']);
  assert.deepEqual(
    store.sessions.of('eve').map(({ id }) => id),
    ['two'],
  );
  assert.equal(store.sessions.of('bob').length, 1);
});

test('what a newer version knows of a record outlives a change by this one', (t) => {
  const { store, records } = openShared(t);
  const text = JSON.stringify({ ...tag, shape: 'round' });
  records.apply([
    { key: 'tag/a/b', text },
    { key: 'thing/x', text: '{}' },
  ]);
  assert.equal(store.tags.list()[0]?.name, 'Gate');
  const { records: changed } = records.rehearse(() => store.tags.update('a/b', { name: 'Door' }));
  assert.deepEqual(
    changed.map(({ text }) => JSON.parse(text ?? '')),
    [{ ...tag, name: 'Door', shape: 'round' }],
  );
});

test('a record that the tables refuse is told of, and the others come', (t) => {
  const { store, records } = openShared(t);
  const user = (username: string, role: string) => ({
    key: `user/${username}`,
    text: JSON.stringify({ username, role, password_hash: 'h', token_epoch: 'e', folders: 'null' }),
  });
  const folder = { id: 'below', name: 'b', parent_id: 'lost' };
  const effects = records.apply([
    user('a', 'emperor'),
    user('b', 'viewer'),
    { key: 'tag/x', text: '[]' },
    { key: 'tag/y', text: '{"id": {}, "name": 1}' },
    { key: 'folder/below', text: JSON.stringify(folder) },
  ]);
  assert.deepEqual(effects.refused.map(({ key }) => key).sort(), ['tag/x', 'tag/y', 'user/a']);
  assert.deepEqual(
    store.users.list().map(({ username }) => username),
    ['b'],
  );
  assert.deepEqual(
    store.folders.list(),
    [{ ...folder, parent_id: '' }],
    'one without its parent is at the root',
  );
});

test('keys that take the names of each other come, and one that takes the name of a third is refused alone', (t) => {
  const { store, records } = openShared(t);
  const key = (id: string, name: string) => ({
    ...{ id, name, secret_hash: id, role: 'viewer' as const, folders: null, cameras: null },
    ...{ created_ms: 1, expires_ms: null },
  });
  for (const id of ['a', 'b', 'c']) store.keys.create(key(id, id));
  records.replaceBy(records.all());
  const { records: swapped } = records.rehearse(() =>
    store.keys.replaceAll([key('a', 'b'), key('b', 'a'), key('c', 'c')]),
  );
  assert.deepEqual(records.apply(swapped).refused, []);
  const namesOf = () => store.keys.list().map(({ id, name }) => `${id} is ${name}`);
  assert.deepEqual(namesOf().toSorted(), ['a is b', 'b is a', 'c is c']);
  const text = records.text('key/a')!;
  const taken = records.apply([{ key: 'key/a', text: text.replace('"name":"b"', '"name":"c"') }]);
  assert.deepEqual(
    taken.refused.map(({ key: refused }) => refused),
    ['key/a'],
  );
  assert.deepEqual(namesOf().toSorted(), ['a is b', 'b is a', 'c is c']);
});

test('what viewers lose is told: cameras that are gone, or locked', (t) => {
  const { store, records } = openShared(t);
  for (const id of ['gone', 'locked', 'same']) store.cameras.create(sampleCamera(id));
  records.replaceBy(records.all());
  const { records: changed } = records.rehearse(() => {
    store.cameras.remove('gone', { isPurged: true });
    store.cameras.update('locked', { token_auth: true });
    store.cameras.update('same', { comment: 'x' });
  });
  const effects = records.apply(changed);
  assert.deepEqual([...effects.cameraIds].sort(), ['gone', 'locked', 'same']);
  assert.deepEqual(effects.removedCameraIds, ['gone']);
  assert.deepEqual(effects.lockedCameraIds, ['locked']);
  assert.equal(
    store.cameras.deleted.find('gone')?.isPurged,
    true,
    'each box knows that its recordings are to go',
  );
});

test('a camera that is made again keeps its recordings, also where it was forgotten that it was deleted', (t) => {
  const [one, other] = [openShared(t), openShared(t)];
  const both = (work: () => void): readonly SharedRecord[] => {
    const { records: changed } = one.records.rehearse(work);
    one.records.apply(changed);
    other.records.apply(changed);
    return changed;
  };
  both(() => void one.store.cameras.create(sampleCamera('door')));
  const deletion = both(() => one.store.cameras.remove('door', { isPurged: true }));
  // Its recordings here are gone; the other box isn't there yet.
  one.store.cameras.deleted.forget('door');
  const creation = both(() => void one.store.cameras.create(sampleCamera('door')));
  assert.deepEqual(creation.map(({ key, text }) => [key, text === null]).toSorted(), [
    ['cam/door', false],
    ['gone/door', true],
  ]);
  for (const { store } of [one, other]) assert.equal(store.cameras.deleted.find('door'), null);
  const late = openShared(t);
  late.records.apply([
    ...creation.filter(({ text }) => text !== null),
    ...deletion.filter(({ text }) => text !== null),
  ]);
  assert.equal(
    late.store.cameras.deleted.find('door'),
    null,
    'an order of old does nothing to a camera that is there',
  );
});

test('a copy of the database is for its owner alone, takes no place of another file, and is whole or not there', async (t) => {
  const { store } = openShared(t);
  store.tags.create(tag);
  const path = join(tempFolder(t), 'copy.db');
  store.copyTo(path);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const copy = new Store(path);
  assert.deepEqual(copy.tags.list(), [tag]);
  copy.close();
  assert.throws(() => store.copyTo(path));
  const alone = new Store(join(tempFolder(t), 'framering.db'));
  t.after(() => alone.close());
  const failed = join(tempFolder(t), 'failed.db');
  // SQLite makes none in a transaction.
  await assert.rejects(alone.change(() => alone.copyTo(failed)));
  assert.ok(!existsSync(failed));
});
