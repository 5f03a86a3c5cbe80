import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

const login = async (username: string, password: string): Promise<string | undefined> =>
  (await app.call('POST', '/api/login', { body: { username, password } })).body.token;

test('users are shown by name and role alone', async () => {
  const { body } = await app.asAdmin('GET', '/api/users');
  assert.deepEqual(body, [
    { username: 'admin', role: 'admin' },
    { username: 'operator', role: 'operator' },
    { username: 'service', role: 'service' },
    { username: 'viewer', role: 'viewer' },
  ]);
  const made = await app.asAdmin('POST', '/api/users', {
    username: 'eve',
    password: '12345678',
    role: 'viewer',
  });
  assert.deepEqual([made.status, made.body], [201, { username: 'eve', role: 'viewer' }]);
  assert.deepEqual((await app.asAdmin('DELETE', '/api/users/eve')).body, { message: 'user deleted' });
});

test('another role or password ends the tokens of a user at once, and the log that it reads', async () => {
  const old = await login('operator', USER_PASSWORD);
  const events = await openEvents(app.url, '/api/logs/stream', old ?? '');
  assert.equal(events.status, 200);
  const same = await app.asAdmin('PUT', '/api/users/operator', { username: 'operator', role: 'operator' });
  assert.deepEqual(same.body, { username: 'operator', role: 'operator' });
  assert.equal((await app.call('GET', '/api/tags', { token: old ?? '' })).status, 200);
  await app.asAdmin('PUT', '/api/users/operator', { password: 'another password' });
  const refused = await app.call('GET', '/api/tags', { token: old ?? '' });
  assert.deepEqual([refused.status, refused.body.code], [401, 'token_revoked']);
  assert.equal(await login('operator', USER_PASSWORD), undefined);
  const fresh = await login('operator', 'another password');
  await app.asAdmin('PUT', '/api/users/operator', { role: 'viewer' });
  assert.equal((await app.call('GET', '/api/tags', { token: fresh ?? '' })).status, 401);
  assert.equal(await events.ended, true);
});

test('a password of the wrong length or a role that is none is refused by field', async () => {
  for (const [fields, path] of [
    [{ password: 'x'.repeat(7) }, 'password'],
    [{ password: 'x'.repeat(257) }, 'password'],
    [{ role: 'root' }, 'role'],
    [{ username: 'a b' }, 'username'],
    [{ password_hash: 'x' }, 'password_hash'],
  ] as const) {
    const body = { username: 'eve', password: '12345678', role: 'viewer', ...fields };
    const { status, body: problem } = await app.asAdmin('POST', '/api/users', body);
    assert.deepEqual([status, problem.errors[0].path], [400, path]);
  }
  const renamed = await app.asAdmin('PUT', '/api/users/viewer', { username: 'other' });
  assert.deepEqual([renamed.status, renamed.body.errors[0].path], [400, 'username']);
});

test('the right password passes however often it is used, and a name that is none fails like a wrong one', async () => {
  for (let times = 0; times < 12; times++) assert.ok(await login('service', USER_PASSWORD));
  const wrong = await app.call('POST', '/api/login', {
    body: { username: 'viewer', password: 'wrong password' },
  });
  const nobody = await app.call('POST', '/api/login', {
    body: { username: 'nobody', password: 'wrong password' },
  });
  assert.deepEqual([wrong.status, wrong.body], [nobody.status, nobody.body]);
  assert.equal(wrong.headers.get('www-authenticate'), 'Bearer');
});
