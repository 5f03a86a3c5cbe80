import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { type Configuration, Store } from '../../src/store/store.js';
import { tempFolder } from '../support/temp-folder.js';
import { anyConfiguration, sampleCamera, sorted } from './samples.js';

const admin = { username: 'admin', password_hash: 'hash-a', role: 'admin' } as const;
const empty: Configuration = {
  cameras: [],
  tags: [],
  folders: [],
  users: [admin],
  layouts: [],
  settings: { time_zone: '' },
  webhooks: [],
  keys: [],
};

const openStore = (t: TestContext): Store => {
  const store = new Store(join(tempFolder(t), 'framering.db'));
  t.after(() => store.close());
  return store;
};

test('any backup, through JSON and over anything else, brings back exactly what was there', (t) => {
  const store = openStore(t);
  fc.assert(
    fc.property(anyConfiguration, anyConfiguration, (wanted, other) => {
      store.importAll(wanted);
      const backup = JSON.stringify(store.exportAll());
      assert.deepEqual(JSON.parse(backup), sorted(wanted));
      store.importAll(other);
      assert.deepEqual(store.exportAll(), sorted(other));
      store.importAll(empty);
      store.importAll(JSON.parse(backup) as Configuration);
      assert.deepEqual(store.exportAll(), sorted(wanted));
    }),
    { numRuns: 60 },
  );
});

test('an import that fails half-way changes nothing', (t) => {
  const store = openStore(t);
  store.importAll({ ...empty, cameras: [sampleCamera('kept')] });
  const before = store.exportAll();
  // Too late to be seen by the checks between records: the database itself refuses the role.
  const users = [admin, { username: 'x', password_hash: 'h', role: 'emperor' }] as Configuration['users'];
  assert.throws(() => store.importAll({ ...empty, users }), /CHECK/);
  assert.deepEqual(store.exportAll(), before);
});

test('an import says whose rights to watch it took away, and spares everybody else', (t) => {
  const store = openStore(t);
  const user = (username: string, role: 'viewer' | 'operator', password_hash = 'h') =>
    ({ username, role, password_hash }) as const;
  store.importAll({
    ...empty,
    cameras: [
      sampleCamera('gone'),
      sampleCamera('locked'),
      sampleCamera('open'),
      sampleCamera('was', { token_auth: true }),
    ],
    users: [
      admin,
      user('same', 'viewer'),
      user('raised', 'viewer'),
      user('rekeyed', 'viewer'),
      user('gone', 'viewer'),
    ],
  });
  store.traffic.add('2026-11', new Map([['open', 5]]));
  const epochBefore = store.users.find('same')?.token_epoch;
  const effects = store.importAll({
    ...empty,
    cameras: [
      sampleCamera('locked', { token_auth: true }),
      sampleCamera('new', { token_auth: true }),
      sampleCamera('open'),
      sampleCamera('was', { token_auth: true }),
    ],
    users: [
      admin,
      user('same', 'viewer'),
      user('raised', 'operator'),
      user('rekeyed', 'viewer', 'h2'),
      user('new', 'viewer'),
    ],
  });
  assert.deepEqual(effects, {
    removedCameraIds: ['gone'],
    lockedCameraIds: ['locked'],
    revokedUsernames: ['gone', 'raised', 'rekeyed'],
  });
  assert.equal(store.users.find('same')?.token_epoch, epochBefore);
  assert.deepEqual(store.traffic.usedBytes('2026-11'), new Map([['open', 5]]), 'traffic counts stay');
});

test('a change of several tables is made whole, or not at all', async (t) => {
  const store = openStore(t);
  const tag = { id: 'a', name: 'a', color: '#000000' };
  assert.equal(await store.change(() => store.tags.create(tag).id), 'a');
  const failing = store.change(() => {
    store.cameras.create(sampleCamera('left'));
    store.tags.create(tag);
  });
  await assert.rejects(failing, { code: 'exists' });
  assert.equal(store.cameras.find('left'), null);
});
