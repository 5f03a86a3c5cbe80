import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Accounts } from '../../src/auth/accounts.js';
import { hashPassword } from '../../src/auth/passwords.js';
import { restoreSnapshot } from '../../src/auth/restore.js';
import { Tokens } from '../../src/auth/tokens.js';
import { ViewingSessions } from '../../src/auth/viewing-sessions.js';
import { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import type { SnapshotFault } from '../../src/store/snapshot.js';
import { Store } from '../../src/store/store.js';
import { sampleCamera } from '../store/samples.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';

const setUp = (t: TestContext) => {
  const store = new Store(join(tempFolder(t), 'framering.db'));
  t.after(() => store.close());
  const clock = new FakeClock();
  const { users } = store;
  const sessions = new ViewingSessions({ clock, log: createLogger(() => undefined) });
  const tokens = new Tokens(Buffer.alloc(32, 1), { users, clock });
  const accounts = new Accounts({ users, tokens, sessions, clock });
  return { store, clock, sessions, tokens, accounts };
};

const outcomeOf = (login: Promise<string>): Promise<string> =>
  login.then(
    () => 'ok',
    (thrown: AppError) => thrown.code,
  );

test('the first start makes an admin whose password is shown once', async (t) => {
  const { accounts, tokens } = setUp(t);
  const shown: { username: string; password: string }[] = [];
  assert.equal(await accounts.ensureAdmin((account) => shown.push(account)), true);
  assert.equal(await accounts.ensureAdmin((account) => shown.push(account)), false);
  assert.equal(shown.length, 1);
  const { username, password } = shown[0]!;
  assert.equal(username, 'admin');
  assert.equal(password.length, 16);
  const principal = tokens.verifyAccess(await accounts.login('admin', password, '127.0.0.1'));
  assert.equal(principal.role, 'admin');
});

test('a crash between showing the password and keeping it leads to another one, not to a lost one', async (t) => {
  const { accounts } = setUp(t);
  await assert.rejects(
    accounts.ensureAdmin(() => {
      throw new Error('killed');
    }),
    /killed/,
  );
  assert.deepEqual(accounts.list(), []);
  let password = '';
  await accounts.ensureAdmin((account) => {
    password = account.password;
  });
  assert.equal(await outcomeOf(accounts.login('admin', password, 'a')), 'ok');
});

test('a user called admin who is none becomes the admin that is missing', async (t) => {
  const { accounts, store } = setUp(t);
  store.users.create({ username: 'admin', password_hash: 'h', role: 'viewer' });
  assert.equal(await accounts.ensureAdmin(() => undefined), true);
  assert.deepEqual(accounts.list(), [{ username: 'admin', role: 'admin' }]);
});

test('a login needs the right password, and says no more than that it was wrong', async (t) => {
  const { accounts } = setUp(t);
  await accounts.create({ username: 'eve', password: 'correct horse', role: 'viewer' });
  assert.equal(await outcomeOf(accounts.login('eve', 'correct horse', 'a')), 'ok');
  const messages: string[] = [];
  for (const [name, password] of [
    ['eve', 'wrong horse'],
    ['nobody', 'correct horse'],
    ['Eve', 'correct horse'],
  ] as const) {
    await accounts.login(name, password, 'a').catch((thrown: AppError) => {
      assert.equal(thrown.code, 'bad_credentials');
      messages.push(thrown.message + JSON.stringify(thrown.details));
    });
  }
  assert.equal(messages.length, 3);
  assert.equal(new Set(messages).size, 1, 'a wrong name and a wrong password look the same');
  assert.doesNotMatch(messages[0]!, /eve|horse/i);
});

test('many logins at once get 10 guesses, then 429 for a minute', async (t) => {
  const { accounts, clock } = setUp(t);
  await accounts.create({ username: 'eve', password: 'correct horse', role: 'viewer' });
  const guesses = Array.from({ length: 30 }, (_, index) =>
    outcomeOf(accounts.login('eve', `guess number ${index}`, `10.0.0.${index}`)),
  );
  const outcomes = await Promise.all(guesses);
  assert.equal(outcomes.filter((outcome) => outcome === 'bad_credentials').length, 10);
  assert.equal(outcomes.filter((outcome) => outcome === 'too_many_attempts').length, 20);
  assert.equal(await outcomeOf(accounts.login('eve', 'correct horse', 'b')), 'too_many_attempts');
  clock.advance(60_000);
  assert.equal(await outcomeOf(accounts.login('eve', 'correct horse', 'b')), 'ok');
});

test('a flood of logins is refused beyond a bound instead of piling up', async (t) => {
  const { accounts } = setUp(t);
  const flood = Array.from({ length: 80 }, (_, index) =>
    outcomeOf(accounts.login('nobody', 'x', `10.0.0.${index}`)),
  );
  const outcomes = await Promise.all(flood);
  assert.equal(outcomes.filter((outcome) => outcome === 'login_busy').length, 80 - 2 - 64);
});

test('another role or password, or deletion, ends tokens and viewings at once', async (t) => {
  const { accounts, tokens, sessions } = setUp(t);
  await accounts.ensureAdmin(() => undefined);
  await accounts.create({ username: 'eve', password: 'correct horse', role: 'viewer' });
  let password = 'correct horse';
  const changes: readonly (() => Promise<unknown> | unknown)[] = [
    () => accounts.update('eve', { role: 'operator' }),
    () => {
      password = 'another horse';
      return accounts.update('eve', { password });
    },
    () => accounts.remove('eve'),
  ];
  for (const change of changes) {
    const token = await accounts.login('eve', password, 'a');
    const session = sessions.open('gate', 'eve', token);
    let isEnded = false;
    sessions.hold('gate', 'eve', () => {
      isEnded = true;
    });
    await accounts.update('eve', {});
    await accounts.update('eve', { role: tokens.verifyAccess(token).role });
    assert.equal(isEnded, false, 'an update that changes nothing ends nothing');
    await change();
    assert.throws(() => tokens.verifyAccess(token), { code: 'token_revoked' });
    assert.equal(sessions.touch(session, 'gate'), null);
    assert.equal(isEnded, true);
  }
  await accounts.create({ username: 'eve', password: 'correct horse', role: 'viewer' });
  assert.deepEqual(accounts.list(), [
    { username: 'admin', role: 'admin' },
    { username: 'eve', role: 'viewer' },
  ]);
});

test('a password that is changed while it is checked no longer opens', async (t) => {
  const { accounts, store } = setUp(t);
  await accounts.create({ username: 'eve', password: 'correct horse', role: 'viewer' });
  const login = outcomeOf(accounts.login('eve', 'correct horse', 'a'));
  await Promise.resolve();
  store.users.update('eve', { password_hash: 'other' });
  assert.equal(await login, 'bad_credentials');
});

test('bad passwords and impossible changes are refused and change nothing', async (t) => {
  const { accounts, store } = setUp(t);
  await accounts.create({ username: 'root', password: 'correct horse', role: 'admin' });
  const before = store.exportAll();
  const refusals: readonly [() => Promise<unknown>, string][] = [
    [() => accounts.create({ username: 'eve', password: 'short', role: 'viewer' }), 'bad_password'],
    [() => accounts.update('root', { password: 'short' }), 'bad_password'],
    [() => accounts.create({ username: 'root', password: 'correct horse', role: 'viewer' }), 'exists'],
    [() => accounts.update('root', { role: 'viewer', password: 'another horse' }), 'last_admin'],
    [() => accounts.update('nobody', { role: 'viewer' }), 'not_found'],
  ];
  for (const [refusal, code] of refusals) await assert.rejects(refusal, { code });
  assert.throws(() => accounts.remove('root'), { code: 'last_admin' });
  assert.throws(() => accounts.remove('nobody'), { code: 'not_found' });
  assert.deepEqual(store.exportAll(), before);
});

test('a restore ends what the snapshot no longer allows, and a restored password still opens', async (t) => {
  const { accounts, store, sessions, tokens } = setUp(t);
  await accounts.create({ username: 'root', password: 'correct horse', role: 'admin' });
  await accounts.create({ username: 'eve', password: 'correct horse', role: 'viewer' });
  for (const id of ['kept', 'locked', 'gone']) store.cameras.create(sampleCamera(id));
  const token = await accounts.login('root', 'correct horse', 'a');
  const ended: string[] = [];
  for (const id of ['kept', 'locked', 'gone'])
    for (const name of ['root', 'eve'])
      sessions.hold(id, name, (reason) => ended.push(`${id} ${name} ${reason}`));
  const { users } = store.exportAll();
  const snapshot = {
    cameras: [sampleCamera('kept'), sampleCamera('locked', { token_auth: true })],
    tags: [],
    folders: [],
    users: users.filter(({ username }) => username === 'root'),
  };
  restoreSnapshot(snapshot, { store, sessions });
  assert.deepEqual(ended.sort(), [
    'gone eve camera_deleted',
    'gone root camera_deleted',
    'kept eve access_withdrawn',
    'locked eve access_withdrawn',
    'locked root access_withdrawn',
  ]);
  assert.equal(tokens.verifyAccess(token).username, 'root', 'who stays the same stays logged in');
  assert.equal(await outcomeOf(accounts.login('root', 'correct horse', 'a')), 'ok');
});

test('a restore that would lock everybody out, or cost too much to log in, is refused with all faults', async (t) => {
  const { store, sessions } = setUp(t);
  const hash = await hashPassword('correct horse');
  const user = (username: string, password_hash: string) =>
    ({ username, password_hash, role: 'admin' }) as const;
  const users = [
    user('a', hash),
    user('b', 'plain text'),
    user('c', hash.replace('ln=15', 'ln=31')),
    user('a', hash),
  ];
  assert.throws(
    () => restoreSnapshot({ cameras: [], tags: [], folders: [], users }, { store, sessions }),
    (thrown) => {
      assert.ok(thrown instanceof AppError);
      assert.equal(thrown.code, 'bad_snapshot');
      const errors = thrown.details['errors'] as SnapshotFault[];
      assert.deepEqual(
        errors.map(({ path }) => path),
        ['users[3].username', 'users[1].password_hash', 'users[2].password_hash'],
      );
      assert.ok(!JSON.stringify([thrown.message, errors]).includes('plain text'));
      return true;
    },
  );
  assert.deepEqual(store.users.list(), []);
});
