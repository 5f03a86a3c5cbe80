// Before all that makes hashes.
import '../support/quick-passwords.js';

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Accounts } from '../../src/auth/accounts.js';
import { type HeldSession, Sessions } from '../../src/auth/sessions.js';
import { Tokens } from '../../src/auth/tokens.js';
import { Viewers } from '../../src/auth/viewers.js';
import { createLogger } from '../../src/base/log.js';
import { Store } from '../../src/store/store.js';
import { storeError } from '../../src/store/store-error.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';

const PASSWORD = 'correct horse';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const setUp = async (t: TestContext) => {
  const folder = tempFolder(t);
  const store = new Store(join(folder, 'framering.db'));
  t.after(() => store.close());
  const clock = new FakeClock();
  const { users, logins, facts } = store;
  const secret = Buffer.alloc(32, 1);
  const tokens = new Tokens(secret, { users, clock });
  const sessions = new Sessions({ sessions: store.sessions, users, tokens, clock });
  const viewers = new Viewers({ clock, log: createLogger(() => undefined) });
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
  await accounts.create({ username: 'root', password: PASSWORD, role: 'admin' });
  await accounts.create({ username: 'eve', password: PASSWORD, role: 'viewer' });
  /** One more session, without the time that a password takes. */
  const begin = (username = 'eve', isRemembered = true): HeldSession =>
    sessions.begin(users.find(username)!, isRemembered).session!;
  const isAlive = ({ secret }: HeldSession): boolean => {
    try {
      return tokens.verifyAccess(sessions.renew(secret).token).username !== '';
    } catch (thrown) {
      assert.equal((thrown as { code?: string }).code, 'session_ended');
      return false;
    }
  };
  return { folder, store, clock, tokens, sessions, accounts, begin, isAlive };
};

test('who signs in gets tokens by the session alone, as often as wanted, from two tabs at once', async (t) => {
  const { accounts, sessions, tokens } = await setUp(t);
  const { token, session } = await accounts.signIn('eve', PASSWORD, 'a', { isRemembered: true });
  assert.ok(session);
  assert.match(session.secret, /^[A-Za-z0-9_-]{43}$/, '256 bits');
  const [one, two] = [sessions.renew(session.secret), sessions.renew(session.secret)];
  const [first, ...others] = [token, one.token, two.token].map((each) => tokens.verifyAccess(each));
  assert.equal(first?.username, 'eve');
  for (const other of others) assert.deepEqual(other, first, 'all know the session that they came of');
  assert.ok(first.sessionId);
  assert.deepEqual(two.session, session);
});

test('a wrong password begins no session, and counts as ever', async (t) => {
  const { accounts, store } = await setUp(t);
  const signIn = (password: string) => accounts.signIn('eve', password, 'a', { isRemembered: true });
  for (let times = 0; times < 10; times++)
    await assert.rejects(signIn('wrong horse'), { code: 'bad_credentials' });
  await assert.rejects(signIn(PASSWORD), { code: 'too_many_attempts' });
  assert.equal(store.sessions.countOf('eve'), 0);
});

test('a remembered session lasts 30 days from its last use, another one half a day', async (t) => {
  const { clock, begin, isAlive } = await setUp(t);
  const [long, short] = [begin('eve', true), begin('eve', false)];
  for (let times = 0; times < 3; times++) {
    clock.advance(12 * HOUR_MS - 1);
    assert.equal(isAlive(short), true);
  }
  clock.advance(12 * HOUR_MS);
  assert.equal(isAlive(short), false);
  for (let times = 0; times < 3; times++) {
    assert.equal(isAlive(long), true);
    clock.advance(30 * DAY_MS - 1);
  }
  assert.equal(isAlive(long), true);
  clock.advance(30 * DAY_MS);
  assert.equal(isAlive(long), false);
});

test('a clock that ran ahead for a while signs nobody out', async (t) => {
  const { clock, begin, isAlive } = await setUp(t);
  const session = begin();
  clock.setWall(clock.wallMs() + 365 * DAY_MS);
  assert.equal(isAlive(session), false);
  begin();
  clock.setWall(clock.wallMs() - 365 * DAY_MS);
  assert.equal(isAlive(session), true);
});

test('another role, another password and deletion end the sessions of that user, and of no other', async (t) => {
  const { accounts, begin, isAlive } = await setUp(t);
  const other = begin('root');
  const changes: readonly (() => unknown)[] = [
    () => accounts.update('eve', { role: 'operator' }),
    () => accounts.update('eve', { password: 'another horse' }),
    () => accounts.remove('eve'),
  ];
  for (const change of changes) {
    const session = begin();
    await accounts.update('eve', {});
    assert.equal(isAlive(session), true, 'an update that changes nothing ends nothing');
    await change();
    assert.equal(isAlive(session), false);
  }
  assert.equal(isAlive(other), true);
});

test('whoever signs out is signed out there alone', async (t) => {
  const { sessions, begin, isAlive } = await setUp(t);
  const [one, other] = [begin(), begin()];
  assert.equal(sessions.end(one.secret).username, 'eve');
  assert.deepEqual([isAlive(one), isAlive(other)], [false, true]);
  for (const secret of [one.secret, '', 'x'.repeat(43)])
    assert.throws(() => sessions.end(secret), { code: 'session_ended' });
});

test('a user has a hundred sessions, of which the one used longest ago goes; nobody else loses one', async (t) => {
  const { clock, store, begin, isAlive } = await setUp(t);
  const other = begin('root');
  const [oldest, used] = [begin(), begin()];
  clock.advance(HOUR_MS);
  assert.equal(isAlive(used), true);
  for (let count = 0; count < 99; count++) begin();
  assert.deepEqual([oldest, used, other].map(isAlive), [false, true, true]);
  assert.equal(store.sessions.countOf('eve'), 100);
});

test('sessions outlive a restart, and their secrets are nowhere on the disk', async (t) => {
  const { folder, store, clock, tokens, begin } = await setUp(t);
  const { secret } = begin();
  store.close();
  for (const name of readdirSync(folder))
    assert.ok(!readFileSync(join(folder, name), 'latin1').includes(secret), name);
  const again = new Store(join(folder, 'framering.db'));
  t.after(() => again.close());
  const sessions = new Sessions({ sessions: again.sessions, users: again.users, tokens, clock });
  assert.equal(sessions.renew(secret).username, 'eve');
});

test('a database that takes no writes keeps nobody out, and ends no session', async (t) => {
  const { accounts, store, clock, tokens, begin, isAlive } = await setUp(t);
  const session = begin();
  const fail = (): never => {
    throw storeError('database_unavailable', 'the disk is full');
  };
  for (const method of ['begin', 'touch'] as const) t.mock.method(store.sessions, method, fail);
  t.mock.method(store.logins, 'note', fail);
  const signedIn = await accounts.signIn('eve', PASSWORD, 'a', { isRemembered: true });
  assert.equal(tokens.verifyAccess(signedIn.token).username, 'eve');
  assert.equal(signedIn.session, null);
  clock.advance(HOUR_MS);
  assert.equal(isAlive(session), true);
});

test('a password that is changed just when it was found right begins no session', async (t) => {
  const { sessions, store } = await setUp(t);
  const before = store.users.find('eve')!;
  store.users.update('eve', { password_hash: 'other' });
  assert.equal(sessions.begin(before, true).session, null);
  assert.equal(store.sessions.countOf('eve'), 0);
});
