import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

let app: TestApp;

before(async () => {
  app = await startTestApp();
  await app.asAdmin('POST', '/api/cameras', {
    ...{ id: 'door', url: 'rtsp://127.0.0.1:9/1', token_auth: true, disabled: true },
  });
});
after(() => app.stop());

const make = async (body: object) => {
  const answer = await app.asAdmin('POST', '/api/keys', { role: 'operator', ...body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body as { id: string; key: string };
};

test('a key is shown once, and does what its role may, where a token does', async () => {
  const { id, key } = await make({ name: 'robot' });
  const listed = await app.asAdmin('GET', '/api/keys');
  assert.ok(!listed.text.includes(key));
  const [robot] = listed.body;
  assert.deepEqual([robot.id, robot.name, robot.role, robot.last_used], [id, 'robot', 'operator', null]);
  const as = async (method: string, path: string, body?: object) =>
    (await app.call(method, path, { token: key, ...(body && { body }) })).status;
  assert.equal(await as('GET', '/api/cameras'), 200);
  assert.equal(await as('PUT', '/api/cameras/door', { comment: 'x' }), 200);
  assert.equal(await as('GET', '/api/users'), 403);
  assert.equal(await as('GET', '/api/wall-token'), 200);
  // What only a person may.
  assert.equal(await as('PUT', '/api/me/password', { old: 'x', new: 'long enough' }), 403);
  assert.equal(await as('POST', '/api/layouts', { name: 'x' }), 403);
  assert.equal(await as('GET', `/stream/hls/door/index.m3u8?token=${key}`), 503);
  assert.equal((await app.call('GET', `/stream/hls/door/index.m3u8?token=${key}`)).status, 503);
  const me = await app.call('GET', '/api/me', { token: key });
  assert.equal(me.body.username, 'key:robot');
  const { body } = await app.call('GET', '/api/cameras/door/stream-token', { token: key });
  assert.equal((await app.call('GET', `/stream/hls/door/index.m3u8?token=${body.token}`)).status, 503);
  const [used] = (await app.asAdmin('GET', '/api/keys')).body;
  assert.ok(Date.parse(used.last_used) > 0);
  const audit = await app.asAdmin('GET', '/api/audit?user=key:robot');
  assert.deepEqual(
    audit.body.map(({ action, user }: { action: string; user: string }) => [action, user]),
    [['update_camera', 'key:robot']],
  );
  const events = await openEvents(app.url, '/api/events/stream', key);
  assert.equal((await app.asAdmin('DELETE', `/api/keys/${id}`)).status, 200);
  assert.equal(await events.ended, true);
  assert.equal(await as('GET', '/api/cameras'), 401);
  assert.equal((await app.call('GET', `/stream/hls/door/index.m3u8?token=${body.token}`)).status, 401);
  const made = await app.asAdmin('GET', '/api/audit?action=create_key');
  assert.deepEqual([made.body[0].target, made.body[0].role], ['robot', 'operator']);
  const gone = await app.asAdmin('GET', '/api/audit?action=delete_key');
  assert.equal(gone.body[0].target, 'robot');
});

test('a key that is limited to a camera sees that alone', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'yard', url: 'rtsp://127.0.0.1:9/1', disabled: true });
  const { key } = await make({ name: 'one-camera', cameras: ['door'] });
  const { body } = await app.call('GET', '/api/cameras', { token: key });
  assert.deepEqual(
    body.map(({ id }: { id: string }) => id),
    ['door'],
  );
  assert.equal((await app.call('GET', '/api/cameras/yard', { token: key })).status, 404);
  const camera = { id: 'new', url: 'rtsp://127.0.0.1:9/1' };
  assert.equal((await app.call('POST', '/api/cameras', { token: key, body: camera })).status, 400);
});

test('what makes no sense is refused', async () => {
  for (const body of [
    { name: 'a', role: 'admin', folders: ['yard'] },
    { name: 'a', role: 'viewer', folders: [] },
    { name: 'a', role: 'root' },
    { name: 'a b', role: 'viewer' },
    { name: 'a', role: 'viewer', expires: '2020-01-01T00:00:00Z' },
    { name: 'a', role: 'viewer', key: 'framering_mine' },
  ])
    assert.equal((await app.asAdmin('POST', '/api/keys', body)).status, 400, JSON.stringify(body));
});

test('a backup brings keys back, and ends what they had not', async () => {
  const { key } = await make({ name: 'kept' });
  const { body: snapshot } = await app.asAdmin('GET', '/api/system/backup/export');
  assert.ok(!JSON.stringify(snapshot).includes(key.slice(10)));
  const later = await make({ name: 'later' });
  assert.equal((await app.asAdmin('POST', '/api/system/backup/import', snapshot)).status, 200);
  assert.equal((await app.call('GET', '/api/cameras', { token: key })).status, 200);
  assert.equal((await app.call('GET', '/api/cameras', { token: later.key })).status, 401);
  const twice = { ...snapshot, keys: [snapshot.keys[0], snapshot.keys[0]] };
  const refused = await app.asAdmin('POST', '/api/system/backup/import', twice);
  assert.deepEqual(
    refused.body.errors.map(({ path }: { path: string }) => path),
    ['keys[1].id', 'keys[1].name', 'keys[1].secret_hash'],
  );
  assert.ok(!refused.text.includes(snapshot.keys[0].secret_hash));
  const { keys: _, ...former } = { ...snapshot, version: 2 };
  assert.equal((await app.asAdmin('POST', '/api/system/backup/import', former)).status, 200);
  assert.equal((await app.call('GET', '/api/cameras', { token: key })).status, 200, 'it knew of none');
});

test('wrong keys count like failed logins from their address, and each once', async (t) => {
  const fresh = await startTestApp();
  t.after(() => fresh.stop());
  const ask = async (key: string) => (await fresh.call('GET', '/api/cameras', { token: key })).status;
  const wrong = (at: number): string => `framering_${String(at).padStart(64, '0')}`;
  for (let time = 0; time < 20; time++) assert.equal(await ask(wrong(0)), 401);
  for (let at = 1; at < 10; at++) assert.equal(await ask(wrong(at)), 401);
  assert.equal(await ask(wrong(10)), 429);
  const body = { username: 'admin', password: fresh.adminPassword };
  assert.equal((await fresh.call('POST', '/api/login', { body })).status, 429);
  const { body: good } = await fresh.asAdmin('POST', '/api/keys', { name: 'good', role: 'viewer' });
  assert.equal(await ask(good.key), 200, 'whoever has a key guesses nothing');
  await until('failures are told', async () => {
    const { body: failures } = await fresh.asAdmin('GET', '/api/audit?action=use_key_failed');
    return failures.length === 10;
  });
  assert.doesNotMatch(fresh.logText(), /framering_0/);
});
