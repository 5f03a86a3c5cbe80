import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Accounts } from '../../src/auth/accounts.js';
import { hashPassword } from '../../src/auth/passwords.js';
import { Sessions } from '../../src/auth/sessions.js';
import { Tokens } from '../../src/auth/tokens.js';
import { Viewers } from '../../src/auth/viewers.js';
import type { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import { Store } from '../../src/store/store.js';
import { storeError } from '../../src/store/store-error.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { weakHash } from '../support/weak-hash.js';

const setUp = (t: TestContext) => {
  const folder = tempFolder(t);
  const store = new Store(join(folder, 'framering.db'));
  t.after(() => store.close());
  const clock = new FakeClock();
  const { users } = store;
  const viewers = new Viewers({ clock, log: createLogger(() => undefined) });
  const secret = Buffer.alloc(32, 1);
  const tokens = new Tokens(secret, { users, clock });
  const sessions = new Sessions({ sessions: store.sessions, users, tokens, clock });
  const makeAccounts = () =>
    new Accounts(secret, {
      change: store.change,
      users,
      logins: store.logins,
      facts: store.facts,
      tokens,
      sessions,
      viewers,
      clock,
    });
  const accounts = makeAccounts();
  return { folder, store, clock, viewers, tokens, accounts, makeAccounts };
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

const DAY_MS = 86_400_000;

test('failures elsewhere lock no one out of where the name logged in before, for 30 days and over restarts', async (t) => {
  const { accounts, clock, makeAccounts } = setUp(t);
  await accounts.create({ username: 'eve', password: 'correct horse', role: 'viewer' });
  assert.equal(await outcomeOf(accounts.login('eve', 'correct horse', '2001:db8::1')), 'ok');
  const restarted = makeAccounts();
  const attack = async (): Promise<void> => {
    clock.advance(61_000);
    const guesses = Array.from({ length: 10 }, (_, index) =>
      restarted.login('eve', 'guess', `10.0.0.${index}`),
    );
    await Promise.allSettled(guesses);
    assert.equal(await outcomeOf(restarted.login('eve', 'correct horse', '192.0.2.1')), 'too_many_attempts');
  };
  await attack();
  assert.equal(
    await outcomeOf(restarted.login('eve', 'correct horse', '2001:db8::2')),
    'ok',
    'of the same /64',
  );
  clock.advance(29 * DAY_MS);
  await attack();
  assert.equal(
    await outcomeOf(restarted.login('eve', 'correct horse', '2001:db8::1')),
    'ok',
    'each time counts',
  );
  clock.advance(30 * DAY_MS);
  await attack();
  assert.equal(await outcomeOf(restarted.login('eve', 'correct horse', '2001:db8::1')), 'too_many_attempts');
});

test('where names are at home is kept as hashes, bounded, and only of those who exist', async (t) => {
  const { accounts, folder, store, clock } = setUp(t);
  await accounts.create({ username: 'root', password: 'correct horse', role: 'admin' });
  await accounts.create({ username: 'eve', password: 'correct horse', role: 'viewer' });
  for (let index = 0; index < 40; index++) store.logins.note('eve', Buffer.alloc(16, index), clock.wallMs());
  assert.equal(await outcomeOf(accounts.login('eve', 'correct horse', '192.0.2.77')), 'ok');
  assert.equal(await outcomeOf(accounts.login('root', 'wrong horse', '192.0.2.77')), 'bad_credentials');
  assert.equal(store.logins.count(), 32);
  await accounts.remove('eve');
  assert.equal(await outcomeOf(accounts.login('root', 'correct horse', '192.0.2.78')), 'ok');
  assert.equal(store.logins.count(), 1);
  store.close();
  for (const name of readdirSync(folder))
    assert.doesNotMatch(readFileSync(join(folder, name), 'latin1'), /192\.0\.2/);
});

test('a login renews a hash that is weaker than today, and ends no token by it', async (t) => {
  const { accounts, store, tokens } = setUp(t);
  const weak = weakHash('correct horse');
  store.users.create({ username: 'eve', password_hash: weak, role: 'viewer' });
  assert.equal(await outcomeOf(accounts.login('eve', 'wrong horse', 'a')), 'bad_credentials');
  assert.equal(store.users.find('eve')?.password_hash, weak);
  const [first, second] = await Promise.all([
    accounts.login('eve', 'correct horse', 'a'),
    accounts.login('eve', 'correct horse', 'a'),
  ]);
  assert.match(store.users.find('eve')?.password_hash ?? '', /ln=15,r=8,p=3/);
  for (const token of [first, second]) assert.equal(tokens.verifyAccess(token).username, 'eve');
  assert.equal(await outcomeOf(accounts.login('eve', 'correct horse', 'a')), 'ok');
});

test('a database that takes no writes keeps nobody from logging in', async (t) => {
  const { accounts, store } = setUp(t);
  store.users.create({ username: 'eve', password_hash: weakHash('correct horse'), role: 'viewer' });
  const fail = (): never => {
    throw storeError('database_unavailable', 'the disk is full');
  };
  t.mock.method(store.logins, 'note', fail);
  t.mock.method(store.users, 'renewHash', fail);
  assert.equal(await outcomeOf(accounts.login('eve', 'correct horse', 'a')), 'ok');
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
  const { accounts, tokens, viewers } = setUp(t);
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
    const { id } = viewers.openViewing('gate', 'eve', token);
    let isEnded = false;
    viewers.takePlace('gate', 'eve', () => {
      isEnded = true;
    });
    await accounts.update('eve', {});
    await accounts.update('eve', { role: tokens.verifyAccess(token).role });
    assert.equal(isEnded, false, 'an update that changes nothing ends nothing');
    await change();
    assert.throws(() => tokens.verifyAccess(token), { code: 'token_revoked' });
    assert.equal(viewers.useViewing(id, 'gate'), null);
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

test('a hash that another login renews while a password is checked is still that password', async (t) => {
  const { accounts, store } = setUp(t);
  const before = weakHash('correct horse');
  store.users.create({ username: 'eve', password_hash: before, role: 'viewer' });
  const login = outcomeOf(accounts.login('eve', 'correct horse', 'a'));
  await Promise.resolve();
  store.users.renewHash('eve', before, await hashPassword('correct horse'));
  assert.equal(await login, 'ok');
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
  await assert.rejects(accounts.remove('root'), { code: 'last_admin' });
  await assert.rejects(accounts.remove('nobody'), { code: 'not_found' });
  assert.deepEqual(store.exportAll(), before);
});
