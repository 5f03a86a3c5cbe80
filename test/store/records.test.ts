import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { WallMs } from '../../src/base/clock.js';
import { Database } from '../../src/base/sqlite.js';
import { SharedRecords } from '../../src/store/shared/shared-records.js';
import { Store } from '../../src/store/store.js';
import { utcMonth } from '../../src/store/traffic.js';
import { tempFolder } from '../support/temp-folder.js';
import { shortestMsOf } from '../support/took.js';
import { anyCamera, anyId, sampleCamera } from './samples.js';

const openStore = (t: TestContext): Store => {
  const store = new Store(join(tempFolder(t), 'framering.db'));
  t.after(() => store.close());
  return store;
};

const admin = { username: 'admin', password_hash: 'hash-a', role: 'admin' } as const;
const viewer = { username: 'eve', password_hash: 'hash-e', role: 'viewer' } as const;

test('any camera comes back as it was stored, also after any update', (t) => {
  const { cameras } = openStore(t);
  cameras.create(sampleCamera('c'));
  fc.assert(
    fc.property(anyCamera, (camera) => {
      const { id: _, ...fields } = camera;
      assert.deepEqual(cameras.update('c', fields), { ...camera, id: 'c' });
      assert.deepEqual(cameras.find('c'), { ...camera, id: 'c' });
      assert.deepEqual(cameras.list(), [{ ...camera, id: 'c' }]);
    }),
    { numRuns: 50 },
  );
});

test('an update changes just the fields that are sent, and never the id', (t) => {
  const { cameras } = openStore(t);
  cameras.create(sampleCamera('a', { tags: ['t1', 't2'], comment: 'gate' }));
  const changes = { record: true, id: 'b' };
  const wanted = sampleCamera('a', { tags: ['t1', 't2'], comment: 'gate', record: true });
  assert.deepEqual(cameras.update('a', changes), wanted);
  assert.deepEqual(cameras.list(), [wanted]);
});

test('what is listed for all can be changed by nobody', (t) => {
  const { cameras } = openStore(t);
  const created = cameras.create(sampleCamera('a', { tags: ['t'] }));
  for (const camera of [created, cameras.get('a'), ...cameras.list()]) {
    assert.throws(() => Object.assign(camera, { url: 'rtsp://other' }), TypeError);
    assert.throws(() => (camera.tags as string[]).push('u'), TypeError);
  }
});

test('cameras are listed as they are, whoever changed them, and not as something had them that was undone', (t) => {
  const path = join(tempFolder(t), 'framering.db');
  const store = new Store(path);
  t.after(() => store.close());
  const ids = (): string[] => store.cameras.list().map(({ id }) => id);
  store.cameras.create(sampleCamera('a'));
  assert.deepEqual(ids(), ['a']);
  let records: SharedRecords | null = null;
  store.share((db) => {
    records = new SharedRecords(db);
    return { change: async (work) => work() };
  });
  const seen = (records! as SharedRecords).rehearse(() => {
    store.cameras.create(sampleCamera('b'));
    return ids();
  });
  assert.deepEqual([seen.result, ids()], [['a', 'b'], ['a']]);
  const other = new Database(path);
  other.exec("UPDATE cameras SET comment = 'theirs'");
  other.close();
  assert.equal(store.cameras.list()[0]?.comment, 'theirs');
});

test('lists are sorted by id', (t) => {
  const store = openStore(t);
  for (const id of ['b', 'a', 'Z', '10', '9']) {
    store.cameras.create(sampleCamera(id));
    store.tags.create({ id, name: id, color: '#000000' });
    store.folders.create({ id, name: id, parent_id: '' });
    store.users.create({ ...viewer, username: id });
  }
  const order = ['10', '9', 'Z', 'a', 'b'];
  assert.deepEqual(
    store.cameras.list().map(({ id }) => id),
    order,
  );
  assert.deepEqual(
    store.tags.list().map(({ id }) => id),
    order,
  );
  assert.deepEqual(
    store.folders.list().map(({ id }) => id),
    order,
  );
  assert.deepEqual(
    store.users.list().map(({ username }) => username),
    order,
  );
});

test('a second one of the same id is refused and changes nothing', (t) => {
  const store = openStore(t);
  store.cameras.create(sampleCamera('a'));
  store.tags.create({ id: 'a', name: 'first', color: '#000000' });
  store.folders.create({ id: 'a', name: 'first', parent_id: '' });
  store.users.create(admin);
  const before = store.exportAll();
  assert.throws(() => store.cameras.create(sampleCamera('a', { comment: 'x' })), { code: 'exists' });
  assert.throws(() => store.tags.create({ id: 'a', name: 'x', color: '#ffffff' }), { code: 'exists' });
  assert.throws(() => store.folders.create({ id: 'a', name: 'x', parent_id: '' }), { code: 'exists' });
  assert.throws(() => store.users.create({ ...viewer, username: 'admin' }), { code: 'exists' });
  assert.deepEqual(store.exportAll(), before);
});

test('what is unknown can be neither changed nor deleted', (t) => {
  const store = openStore(t);
  const notFound = { code: 'not_found' };
  assert.throws(() => store.cameras.get('a'), notFound);
  assert.throws(() => store.cameras.update('a', {}), notFound);
  assert.throws(() => store.cameras.remove('a'), notFound);
  assert.throws(() => store.tags.remove('a'), notFound);
  assert.throws(() => store.folders.remove('a'), notFound);
  assert.throws(() => store.users.update('a', {}), notFound);
  assert.throws(() => store.users.remove('a'), notFound);
  assert.equal(store.cameras.find('a'), null);
  assert.equal(store.users.find('a'), null);
});

test('deleting a tag takes it off all cameras and leaves the others in order', (t) => {
  const { cameras, tags } = openStore(t);
  tags.create({ id: 'mid', name: 'Middle', color: '#123456' });
  cameras.create(sampleCamera('a', { tags: ['z', 'mid', 'b'] }));
  cameras.create(sampleCamera('b', { tags: ['mid'] }));
  tags.remove('mid');
  assert.deepEqual(
    cameras.list().map((camera) => camera.tags),
    [['z', 'b'], []],
  );
  assert.deepEqual(tags.list(), []);
});

test('a camera names a tag once, however often it was sent', (t) => {
  const { cameras } = openStore(t);
  assert.deepEqual(cameras.create(sampleCamera('a', { tags: ['x', 'y', 'x'] })).tags, ['x', 'y']);
});

test('a folder can have neither itself nor an unknown folder as its parent', (t) => {
  const { folders } = openStore(t);
  assert.throws(() => folders.create({ id: 'a', name: 'a', parent_id: 'a' }), { code: 'folder_cycle' });
  assert.throws(() => folders.create({ id: 'a', name: 'a', parent_id: 'b' }), { code: 'unknown_parent' });
  assert.deepEqual(folders.list(), []);
});

type Step = { kind: 'create' | 'remove'; id: string; parent_id: string } | { kind: 'put'; camera: string };

test('any order of folder changes keeps a tree, and gives what a folder held to its parent', (t) => {
  const store = openStore(t);
  const someId = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const anyStep: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      kind: fc.constant('create' as const),
      id: someId,
      parent_id: fc.oneof(fc.constant(''), someId),
    }),
    fc.record({ kind: fc.constant('remove' as const), id: someId, parent_id: fc.constant('') }),
    fc.record({ kind: fc.constant('put' as const), camera: someId }),
  );
  const oneRun = (steps: readonly Step[]): void => {
    for (const { id } of store.folders.list()) store.folders.remove(id);
    for (const { id } of store.cameras.list()) store.cameras.remove(id);
    const parents = new Map<string, string>();
    const places = new Map<string, string>();
    for (const step of steps) {
      if (step.kind === 'put') {
        if (places.has(step.camera)) continue;
        store.cameras.create(sampleCamera(`camera-${step.camera}`, { folder_id: step.camera }));
        places.set(step.camera, step.camera);
      } else if (step.kind === 'create') {
        const { id, parent_id } = step;
        const isGood = !parents.has(id) && parent_id !== id && (parent_id === '' || parents.has(parent_id));
        const create = (): unknown => store.folders.create({ id, name: id, parent_id });
        if (isGood) parents.set(id, parent_id);
        if (isGood) create();
        else assert.throws(create);
      } else if (!parents.has(step.id)) {
        assert.throws(() => store.folders.remove(step.id), { code: 'not_found' });
      } else {
        store.folders.remove(step.id);
        const heir = parents.get(step.id)!;
        parents.delete(step.id);
        for (const [id, parent] of parents) if (parent === step.id) parents.set(id, heir);
        for (const [camera, place] of places) if (place === step.id) places.set(camera, heir);
      }
    }
    const listed = store.folders.list();
    assert.deepEqual(new Map(listed.map((folder) => [folder.id, folder.parent_id])), parents);
    for (const camera of store.cameras.list()) assert.equal(camera.folder_id, places.get(camera.id.slice(7)));
    for (const { id } of listed) {
      let depth = 0;
      for (let at = id; at !== ''; at = parents.get(at)!) assert.ok(++depth <= parents.size, 'a cycle');
    }
  };
  fc.assert(fc.property(fc.array(anyStep, { maxLength: 15 }), oneRun), { numRuns: 40 });
});

test('the last admin can be neither deleted nor demoted, others can', (t) => {
  const { users } = openStore(t);
  assert.equal(users.hasAdmin(), false);
  users.create(admin);
  users.create(viewer);
  assert.equal(users.hasAdmin(), true);
  assert.throws(() => users.remove('admin'), { code: 'last_admin' });
  assert.throws(() => users.update('admin', { role: 'operator', password_hash: 'new' }), {
    code: 'last_admin',
  });
  assert.equal(users.find('admin')?.password_hash, 'hash-a', 'a refused update changes nothing');
  users.update('admin', { password_hash: 'new' });
  users.update('eve', { role: 'admin' });
  users.remove('admin');
  assert.throws(() => users.remove('eve'), { code: 'last_admin' });
});

test('a role or password that is another one begins a new epoch; so does being made again', (t) => {
  const { users } = openStore(t);
  users.create(admin);
  const first = users.create(viewer).token_epoch;
  assert.equal(users.update('eve', { role: 'viewer' }).token_epoch, first);
  const second = users.update('eve', { role: 'operator' }).token_epoch;
  const third = users.update('eve', { password_hash: 'other' }).token_epoch;
  users.remove('eve');
  const fourth = users.create(viewer).token_epoch;
  assert.equal(new Set([first, second, third, fourth]).size, 4);
  assert.deepEqual(users.list(), [
    { username: 'admin', role: 'admin' },
    { username: 'eve', role: 'viewer' },
  ]);
});

test('traffic adds up by camera and month, and goes with its camera', (t) => {
  const { cameras, traffic } = openStore(t);
  cameras.create(sampleCamera('a'));
  cameras.create(sampleCamera('b'));
  traffic.add(
    '2026-11',
    new Map([
      ['a', 5],
      ['b', 2 ** 40],
      ['gone', 7],
    ]),
  );
  traffic.add('2026-11', new Map([['a', 6]]));
  traffic.add('2026-12', new Map([['a', 1]]));
  traffic.add('2026-12', new Map());
  cameras.update('a', { comment: 'an update keeps the count' });
  assert.deepEqual(
    traffic.usedBytes('2026-11'),
    new Map([
      ['a', 11],
      ['b', 2 ** 40],
    ]),
  );
  assert.deepEqual(traffic.usedBytes('2026-12'), new Map([['a', 1]]));
  cameras.remove('a');
  cameras.create(sampleCamera('a'));
  assert.deepEqual(traffic.usedBytes('2026-12'), new Map());
});

test('a month begins and ends in UTC', () => {
  assert.equal(utcMonth(Date.parse('2026-11-30T23:59:59.999Z') as WallMs), '2026-11');
  assert.equal(utcMonth(Date.parse('2026-12-01T00:00:00.000Z') as WallMs), '2026-12');
});

test('any two ids that differ in case or punctuation are two cameras', (t) => {
  const { cameras } = openStore(t);
  fc.assert(
    fc.property(fc.uniqueArray(anyId, { minLength: 1, maxLength: 6 }), (ids) => {
      for (const id of ids) cameras.create(sampleCamera(id));
      assert.deepEqual(new Set(cameras.list().map(({ id }) => id)), new Set(ids));
      for (const id of ids) cameras.remove(id);
    }),
    { numRuns: 30 },
  );
});

test('what the service remembers for itself is no change of what was configured', (t) => {
  const store = openStore(t);
  const before = store.revision;
  store.audit.add([{ timeMs: 1, action: 'login', username: 'eve', record: '{}' }]);
  store.audit.keepNewest('login', 0);
  store.facts.setText('archive_decided', '{}');
  assert.equal(store.revision, before);
  store.cameras.create(sampleCamera('c'));
  assert.notEqual(store.revision, before);
});

test('a record of what was done waits for no other program, and is written when that is done', (t) => {
  const path = join(tempFolder(t), 'framering.db');
  const store = new Store(path);
  t.after(() => store.close());
  const other = new Database(path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const entry = { timeMs: 1, action: 'login', username: 'eve', record: '{}' };
  const tookMs = shortestMsOf(() =>
    assert.throws(() => store.audit.add([entry]), { code: 'database_unavailable' }),
  );
  assert.ok(tookMs < 1_000, 'the usual patience is two seconds');
  other.exec('ROLLBACK');
  store.audit.add([entry]);
  const all = { fromMs: null, toMs: null, username: null, action: null, before: null, limit: 9 };
  assert.equal(store.audit.list(all).length, 1);
});
