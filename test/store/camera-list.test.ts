import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { Database } from '../../src/base/sqlite.js';
import { SharedRecords } from '../../src/store/shared/shared-records.js';
import { Store } from '../../src/store/store.js';
import { tempFolder } from '../support/temp-folder.js';
import { anyConfiguration, sampleCamera } from './samples.js';

const openStore = (t: TestContext): { store: Store; path: string } => {
  const path = join(tempFolder(t), 'framering.db');
  const store = new Store(path);
  t.after(() => store.close());
  return { store, path };
};

const idOf = (index: number): string => `cam${index}`;
/** Every other one has some. */
const tagsOf = (index: number): string[] => (index % 4 === 0 ? [] : ['a', 'b']);
const fill = (store: Store, count: number): void =>
  store.cameras.changeMany({
    create: Array.from({ length: count }, (_, index) =>
      sampleCamera(idOf(2 * index), { tags: tagsOf(2 * index) }),
    ),
    ...{ update: [], remove: [], isPurged: false },
  });

/** What stands there, told one by one. */
const assertRight = (store: Store): void => {
  const listed = store.cameras.list();
  const ids = listed.map(({ id }) => id);
  assert.deepEqual(ids, [...ids].sort());
  assert.deepEqual(
    listed,
    ids.map((id) => store.cameras.find(id)),
  );
  assert.deepEqual(listed, store.exportAll().cameras);
};

test('whatever is done to cameras, in whichever order, the list says what is there', (t) => {
  const { store } = openStore(t);
  const index = fc.nat({ max: 99 });
  const step = fc.record({
    kind: fc.constantFrom('create', 'update', 'retag', 'remove', 'undo', 'tag', 'import'),
    index,
    value: fc.nat(1_000),
  });
  const doIt = ({ kind, index: at, value }: { kind: string; index: number; value: number }): void => {
    const { cameras, tags } = store;
    const id = idOf(at);
    if (kind === 'create') {
      // Before, among and behind all others.
      const made = `${'bcd'[value % 3]}${id.slice(1)}`;
      cameras.create(sampleCamera(made, { tags: tagsOf(at + 1), detection: { min_size: value / 1e3 } }));
    }
    if (kind === 'update') cameras.update(id, { retention_days: value });
    if (kind === 'retag') cameras.update(id, { tags: ['b', `t${value % 3}`] });
    if (kind === 'remove') cameras.remove(id);
    if (kind === 'tag') tags.create({ id: 'b', name: `${value}`, color: '#000000' });
    if (kind === 'tag') tags.remove('b');
    if (kind === 'import') store.importAll({ ...store.exportAll(), cameras: [sampleCamera(id)] });
    if (kind !== 'undo') return;
    // As a change of a cluster is rehearsed.
    cameras.changeMany({
      ...{ create: [], update: [{ id, changes: { comment: `${value}` } }], isPurged: false },
      remove: [id, 'nobody'],
    });
  };
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      store.importAll({ ...store.exportAll(), cameras: [] });
      fill(store, 50);
      for (const one of steps) {
        try {
          doIt(one);
        } catch (thrown) {
          assert.match(String((thrown as { code?: string }).code), /^(exists|not_found)$/);
        }
        assertRight(store);
      }
    }),
    { numRuns: 40 },
  );
});

test('a camera that did not change is the same object, whatever else is written', async (t) => {
  const { store } = openStore(t);
  fill(store, 50);
  const before = store.cameras.list();
  store.facts.setTimeMs('archive_time_ms', 1);
  store.traffic.add('2026-11', new Map([[idOf(0), 5]]));
  assert.equal(store.cameras.list(), before);
  await store.change(() => store.cameras.update(idOf(2), { comment: 'new' }));
  const now = store.cameras.list();
  const changed = now.filter((camera, at) => camera !== before[at]);
  assert.deepEqual(changed, [sampleCamera(idOf(2), { tags: ['a', 'b'], comment: 'new' })]);
});

test('what another process changed is seen at once', (t) => {
  const { store, path } = openStore(t);
  fill(store, 50);
  store.cameras.list();
  const other = new Database(path);
  t.after(() => other.close());
  other.prepare('UPDATE cameras SET comment = ? WHERE id = ?').run('theirs', idOf(4));
  assert.equal(store.cameras.list().find(({ id }) => id === idOf(4))?.comment, 'theirs');
  store.cameras.update(idOf(6), { comment: 'ours' });
  other.prepare('DELETE FROM cameras WHERE id = ?').run(idOf(8));
  assertRight(store);
  assert.equal(store.cameras.list().length, 49);
});

test('what is undone is listed to nobody but whoever did it', async (t) => {
  const { store } = openStore(t);
  fill(store, 50);
  const before = store.cameras.list();
  const undone = store.change(() => {
    store.cameras.remove(idOf(0));
    assert.equal(store.cameras.list().length, 49);
    throw new Error('not so');
  });
  await assert.rejects(undone, /not so/);
  assert.deepEqual(store.cameras.list(), before);
  assertRight(store);
});

test('on a box that joins a cluster, what that rehearses and brings is listed as it is', (t) => {
  const [one, other] = [openStore(t).store, openStore(t).store];
  const recordsOf = (store: Store): SharedRecords => {
    fill(store, 50);
    store.cameras.list();
    let records: SharedRecords | null = null;
    store.share((db) => {
      records = new SharedRecords(db);
      return { change: async (work) => work() };
    });
    return records! as SharedRecords;
  };
  const [ours, theirs] = [recordsOf(one), recordsOf(other)];
  const { records } = ours.rehearse(() => one.cameras.update(idOf(2), { comment: 'new' }));
  assertRight(one);
  ours.apply(records);
  assertRight(one);
  assert.equal(one.cameras.list().find(({ id }) => id === idOf(2))?.comment, 'new');
  theirs.replaceBy(ours.all());
  assertRight(other);
  fc.assert(
    fc.property(anyConfiguration, (wanted) => {
      one.importAll(wanted);
      theirs.replaceBy(ours.all());
      assertRight(other);
      assert.deepEqual(other.cameras.list(), one.cameras.list());
    }),
    { numRuns: 20 },
  );
});

test('ids that no camera should have are listed once, too', (t) => {
  const { store } = openStore(t);
  fill(store, 50);
  for (const id of ['\u{1f600}', '\uff07']) store.cameras.create(sampleCamera(id));
  store.cameras.list();
  store.cameras.update('\u{1f600}', { comment: 'new' });
  assert.deepEqual(store.cameras.list(), store.exportAll().cameras);
});
