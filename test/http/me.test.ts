import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { mayRole, PERMISSIONS } from '../../src/auth/permissions.js';
import { openEvents } from '../support/api-client.js';
import { roleNames, startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

const ANOTHER = 'another password';

/** Signs a browser in: its token, and what it asks for the next one. */
const signIn = async (username: string, password: string) => {
  const body = { username, password, remember: true };
  const login = await app.call('POST', '/api/login', { body });
  const headers = { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '', origin: app.url };
  const renew = async () => (await app.call('POST', '/api/session', { headers })).body;
  return { token: login.body.token as string, renew };
};

const changePassword = (token: string, body: object) => app.call('PUT', '/api/me/password', { token, body });

test('everybody is told who they are, and what they may do', async () => {
  for (const role of roleNames) {
    const { body } = await app.call('GET', '/api/me', { token: app.tokens[role] });
    assert.deepEqual(body, {
      username: role,
      role,
      permissions: PERMISSIONS.filter((permission) => mayRole(role, permission)),
      time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      must_change_password: role === 'admin',
    });
  }
});

test('the password that stood on the console is to be changed, until it was', async (t) => {
  const fresh = await startTestApp({ withUsers: false });
  t.after(() => fresh.stop());
  const login = async (password: string): Promise<string> =>
    (await fresh.call('POST', '/api/login', { body: { username: 'admin', password } })).body.token;
  const mustChange = async (token: string): Promise<boolean> =>
    (await fresh.call('GET', '/api/me', { token })).body.must_change_password;
  const token = await login(fresh.adminPassword);
  assert.equal(await mustChange(token), true);
  const body = { old: fresh.adminPassword, new: ANOTHER };
  const changed = await fresh.call('PUT', '/api/me/password', { token, body });
  assert.equal(await mustChange(changed.body.token), false);
  assert.equal(await mustChange(await login(ANOTHER)), false);
});

test('another password ends all tokens of the user and what they watch, and all other sessions', async () => {
  const [own, other] = [await signIn('operator', USER_PASSWORD), await signIn('operator', USER_PASSWORD)];
  const events = await openEvents(app.url, '/api/logs/stream', other.token);
  const changed = await changePassword(own.token, { old: USER_PASSWORD, new: ANOTHER });
  assert.deepEqual([changed.status, Object.keys(changed.body)], [200, ['token']]);
  assert.equal(await events.ended, true);
  for (const token of [own.token, other.token, app.tokens.operator])
    assert.equal((await app.call('GET', '/api/me', { token })).body.code, 'token_revoked');
  assert.equal((await other.renew()).code, 'session_ended');
  const { token } = await own.renew();
  for (const good of [changed.body.token, token])
    assert.equal((await app.call('GET', '/api/me', { token: good })).status, 200);
  // The token of the answer is of the same session as the one that asked.
  assert.equal((await changePassword(changed.body.token, { old: ANOTHER, new: USER_PASSWORD })).status, 200);
  assert.ok((await own.renew()).token);
  assert.ok((await signIn('operator', USER_PASSWORD)).token);
});

const preferences = {
  get: (token: string, headers: Record<string, string> = {}) =>
    app.call('GET', '/api/me/preferences', { token, headers }),
  put: (token: string, body: unknown, etag: string | null = '*') =>
    app.call('PUT', '/api/me/preferences', {
      token,
      body,
      headers: etag === null ? {} : { 'if-match': etag },
    }),
};

test('preferences are each user’s own, and replaced only as they are known', async () => {
  const { viewer, admin } = app.tokens;
  const empty = await preferences.get(viewer);
  assert.deepEqual([empty.status, empty.body], [200, {}]);
  const etag = empty.headers.get('etag') ?? '';
  const put = await preferences.put(viewer, { theme: 'dark' }, etag);
  assert.deepEqual([put.status, put.body], [200, { theme: 'dark' }]);
  const now = put.headers.get('etag') ?? '';
  assert.notEqual(now, etag);
  const late = await preferences.put(viewer, { theme: 'light' }, etag);
  assert.deepEqual([late.status, late.body.code], [412, 'precondition_failed']);
  const blind = await preferences.put(viewer, { theme: 'light' }, null);
  assert.deepEqual([blind.status, blind.body.code], [428, 'precondition_required']);
  assert.equal((await preferences.put(viewer, {}, `W/${now}`)).status, 412, 'a weak tag is never the same');
  const got = await preferences.get(viewer);
  assert.deepEqual([got.body, got.headers.get('etag')], [{ theme: 'dark' }, now]);
  assert.equal((await preferences.get(viewer, { 'if-none-match': now })).status, 304);
  assert.deepEqual((await preferences.get(admin)).body, {});
  assert.equal((await preferences.put(viewer, { theme: 'light' }, `"x", ${now}`)).status, 200);
});

test('any object comes back as it was sent', async () => {
  const anyObject = fc
    .dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }))
    .map((value) => JSON.parse(JSON.stringify(value).replaceAll('"__proto__"', '"proto"')) as object);
  await fc.assert(
    fc.asyncProperty(anyObject, async (value) => {
      assert.deepEqual((await preferences.put(app.tokens.viewer, value)).body, value);
      assert.deepEqual((await preferences.get(app.tokens.viewer)).body, value);
    }),
    { numRuns: 25 },
  );
});

test('preferences are an object, of 64 KB at most, and no deeper than anybody needs', async () => {
  const { viewer } = app.tokens;
  await preferences.put(viewer, { kept: true });
  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`;
  const filled = (bytes: number): string => JSON.stringify({ a: 'x'.repeat(bytes - 8) });
  for (const [body, outcome] of [
    [filled(65_536), '200'],
    [filled(65_537), '413 body_too_large'],
    // 11 bytes each when they are written out again.
    [`{"a":[${Array(10_000).fill('1e10').join()}]}`, '413 body_too_large'],
    [deep(32), '200'],
    [deep(33), '400 invalid_input'],
    [deep(10_000), '400 invalid_input'],
    [`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, '400 invalid_input'],
    ['[]', '400 invalid_input'],
    ['null', '400 invalid_input'],
    ['"text"', '400 invalid_input'],
    [JSON.stringify({ kept: true }), '200'],
  ] as const) {
    const { status, body: answer } = await preferences.put(viewer, body);
    assert.equal([status, answer.code].filter(Boolean).join(' '), outcome, body.slice(0, 40));
  }
});

test('preferences go with their user, and stay when a backup with that user is restored', async () => {
  const account = { username: 'eve', password: USER_PASSWORD, role: 'viewer' };
  const loginEve = async (): Promise<string> => {
    await app.asAdmin('POST', '/api/users', account);
    return (await signIn('eve', USER_PASSWORD)).token;
  };
  await preferences.put(await loginEve(), { mine: 1 });
  const { body: snapshot } = await app.asAdmin('GET', '/api/system/backup/export');
  assert.ok(!JSON.stringify(snapshot).includes('mine'));
  await app.asAdmin('POST', '/api/system/backup/import', snapshot);
  const { token } = await signIn('eve', USER_PASSWORD);
  assert.deepEqual((await preferences.get(token)).body, { mine: 1 });
  await app.asAdmin('DELETE', '/api/users/eve');
  assert.deepEqual((await preferences.get(await loginEve())).body, {});
  const users = snapshot.users.filter(({ username }: { username: string }) => username !== 'eve');
  await app.asAdmin('POST', '/api/system/backup/import', { ...snapshot, users });
  assert.deepEqual((await preferences.get(await loginEve())).body, {});
});

// The last one: it locks out the address of all of them.
test('a password is changed by who knows the old one, within bounds, and guesses count as logins do', async () => {
  const { token } = await signIn('service', USER_PASSWORD);
  for (const [body, path] of [
    [{ old: USER_PASSWORD, new: 'x'.repeat(7) }, 'new'],
    [{ old: USER_PASSWORD }, 'new'],
    [{ new: ANOTHER }, 'old'],
    [{ old: USER_PASSWORD, new: ANOTHER, role: 'admin' }, 'role'],
  ] as const) {
    const { status, body: problem } = await changePassword(token, body);
    assert.deepEqual([status, problem.errors[0].path], [400, path]);
  }
  const before = app.logText().length;
  const outcomes: string[] = [];
  for (let times = 0; times < 11; times++) {
    const { status, body } = await changePassword(token, { old: 'a wrong guess', new: ANOTHER });
    outcomes.push(`${status} ${body.code}`);
  }
  assert.deepEqual(outcomes, [...Array(10).fill('403 wrong_password'), '429 too_many_attempts']);
  assert.equal((await app.call('GET', '/api/me', { token })).status, 200, 'a wrong guess ends nothing');
  const audited = app
    .logText()
    .slice(before)
    .split('\n')
    .filter((line) => line.includes('"audit":true'))
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    audited.map(({ action, user, reason }) => [action, user, reason]),
    [
      ...Array(10).fill(['change_password_failed', 'service', 'wrong_password']),
      ['change_password_failed', 'service', 'too_many_attempts'],
    ],
  );
  assert.doesNotMatch(app.logText(), /a wrong guess|another password/);
});
