import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Accounts } from '../../src/auth/accounts.js';
import { hashPassword } from '../../src/auth/passwords.js';
import { Sessions } from '../../src/auth/sessions.js';
import { Tokens } from '../../src/auth/tokens.js';
import { Viewers } from '../../src/auth/viewers.js';
import type { SnapshotFault } from '../../src/backup/check.js';
import { restoreSnapshot } from '../../src/backup/restore.js';
import { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import { type ImportedConfiguration, Store } from '../../src/store/store.js';
import { sampleCamera } from '../store/samples.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { weakHash } from '../support/weak-hash.js';

const setUp = (t: TestContext) => {
  const store = new Store(join(tempFolder(t), 'framering.db'));
  t.after(() => store.close());
  const viewers = new Viewers({ clock: new FakeClock(), log: createLogger(() => undefined) });
  const restore = (wanted: ImportedConfiguration): Promise<void> =>
    restoreSnapshot(wanted, { store, viewers });
  /** The faults that a configuration is refused with. */
  const faultsOf = async (wanted: ImportedConfiguration): Promise<readonly SnapshotFault[]> => {
    try {
      await restore(wanted);
    } catch (thrown) {
      assert.ok(thrown instanceof AppError);
      assert.deepEqual([thrown.code, thrown.message], ['bad_snapshot', "the snapshot can't be imported"]);
      return thrown.details['errors'] as SnapshotFault[];
    }
    return [];
  };
  return { store, viewers, restore, faultsOf };
};

const pathsOf = (faults: readonly SnapshotFault[]): string[] => faults.map(({ path }) => path);

test('a snapshot with faults is refused with all of them, and nothing changes', async (t) => {
  const { store, restore, faultsOf } = setUp(t);
  const hash = weakHash('correct horse');
  const admin = { username: 'admin', password_hash: hash, role: 'admin' } as const;
  await restore({ cameras: [sampleCamera('kept')], tags: [], folders: [], users: [admin] });
  const before = store.exportAll();
  const folder = (id: string, parent_id: string) => ({ id, name: id, parent_id });
  const faults = await faultsOf({
    cameras: [sampleCamera('a'), sampleCamera('b'), sampleCamera('a')],
    tags: [
      { id: 't', name: 't', color: '#000000' },
      { id: 't', name: 'u', color: '#000000' },
    ],
    folders: [
      folder('root', ''),
      folder('x', 'y'),
      folder('y', 'z'),
      folder('z', 'x'),
      folder('below', 'x'),
      folder('self', 'self'),
      folder('lost', 'nowhere'),
      folder('root', ''),
    ],
    users: [
      { username: 'u', password_hash: hash, role: 'viewer' },
      { username: 'u', password_hash: hash, role: 'operator' },
    ],
  });
  assert.deepEqual(pathsOf(faults), [
    'cameras[2].id',
    'tags[1].id',
    'folders[7].id',
    'folders[1].parent_id',
    'folders[2].parent_id',
    'folders[3].parent_id',
    'folders[5].parent_id',
    'folders[6].parent_id',
    'users[1].username',
    'users',
  ]);
  assert.deepEqual(store.exportAll(), before);
});

test('a restore ends what the snapshot no longer allows, and a restored password still opens', async (t) => {
  const { store, viewers, restore } = setUp(t);
  const { users, logins, facts } = store;
  const clock = new FakeClock();
  const secret = Buffer.alloc(32, 1);
  const tokens = new Tokens(secret, { users, clock });
  const sessions = new Sessions({ sessions: store.sessions, users, tokens, clock });
  const accounts = new Accounts(secret, {
    change: store.change,
    users,
    logins,
    facts,
    tokens,
    sessions,
    viewers,
    clock,
  });
  await accounts.create({ username: 'root', password: 'correct horse', role: 'admin' });
  await accounts.create({ username: 'eve', password: 'correct horse', role: 'viewer' });
  for (const id of ['kept', 'locked', 'gone']) store.cameras.create(sampleCamera(id));
  const signedIn = await accounts.signIn('root', 'correct horse', 'a', { isRemembered: true });
  const { token, session } = signedIn;
  const ended: string[] = [];
  for (const id of ['kept', 'locked', 'gone'])
    for (const name of ['root', 'eve'])
      viewers.takePlace(id, name, (reason) => ended.push(`${id} ${name} ${reason}`));
  await restore({
    cameras: [sampleCamera('kept'), sampleCamera('locked', { token_auth: true })],
    tags: [],
    folders: [],
    users: store.exportAll().users.filter(({ username }) => username === 'root'),
  });
  assert.deepEqual(ended.sort(), [
    'gone eve camera_deleted',
    'gone root camera_deleted',
    'kept eve access_withdrawn',
    'locked eve access_withdrawn',
    'locked root access_withdrawn',
  ]);
  assert.equal(tokens.verifyAccess(token).username, 'root', 'who stays the same stays logged in');
  assert.throws(() => sessions.renew(session!.secret), { code: 'session_ended' });
  await accounts.login('root', 'correct horse', 'a');
});

test('a restore that would lock everybody out, or cost too much to log in, is refused with all faults', async (t) => {
  const { store, faultsOf } = setUp(t);
  const hash = await hashPassword('correct horse');
  const user = (username: string, password_hash: string) =>
    ({ username, password_hash, role: 'admin' }) as const;
  const users = [
    user('a', hash),
    user('b', 'plain text'),
    user('c', hash.replace('ln=15', 'ln=31')),
    user('a', hash),
  ];
  const faults = await faultsOf({ cameras: [], tags: [], folders: [], users });
  assert.deepEqual(pathsOf(faults), [
    'users[3].username',
    'users[1].password_hash',
    'users[2].password_hash',
  ]);
  assert.ok(!JSON.stringify(faults).includes('plain text'));
  assert.deepEqual(store.users.list(), []);
});
