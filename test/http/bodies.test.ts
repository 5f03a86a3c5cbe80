import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

/** JSON of this object, padded with spaces to a length. */
const padded = (value: unknown, lengthBytes: number): string => JSON.stringify(value).padEnd(lengthBytes);

/** Text as a client may send it at the worst: each character escaped. */
const escaped = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[^"]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const statusOf = async (method: string, path: string, body: string): Promise<number> =>
  (await app.asAdmin(method, path, body)).status;

test('a body may be as large as its route needs, and no larger', async () => {
  const login = { username: 'admin', password: app.adminPassword };
  for (const [method, path, value, limitBytes, status] of [
    ['POST', '/api/login', login, 4_096, 200],
    ['POST', '/api/tags', { id: 't', name: 'T', color: '#000000' }, 16_384, 201],
    ['POST', '/api/folders', { id: 'f', name: 'F' }, 16_384, 201],
    ['POST', '/api/users', { username: 'eve', password: '12345678', role: 'viewer' }, 16_384, 201],
    ['PUT', '/api/users/eve', { role: 'operator' }, 16_384, 200],
    ['POST', '/api/cameras', { id: 'c', url: 'rtsp://127.0.0.1/1', disabled: true }, 131_072, 201],
    ['PUT', '/api/cameras/c', { comment: 'x' }, 131_072, 200],
  ] as const) {
    assert.equal(await statusOf(method, path, padded(value, limitBytes + 1)), 413, `${method} ${path}`);
    assert.equal(await statusOf(method, path, padded(value, limitBytes)), status, `${method} ${path}`);
  }
});

test('whatever is valid fits, however it is written', async () => {
  const password = escaped('\u{1f511}'.repeat(256));
  const username = escaped('u'.repeat(64));
  const user = `{"username":${username},"password":${password},"role":"viewer"}`;
  assert.equal(await statusOf('POST', '/api/users', user), 201);
  assert.equal(await statusOf('POST', '/api/login', `{"username":${username},"password":${password}}`), 200);
  const tags = Array.from({ length: 100 }, (_, index) => escaped(String(index).padStart(64, 'x')));
  const camera = `{"id":"big","url":${escaped(`rtsp://127.0.0.1/${'x'.repeat(2_000)}`)},"disabled":true,
    "comment":${escaped('x'.repeat(4_096))},"tags":[${tags.join(',')}]}`;
  assert.equal(await statusOf('POST', '/api/cameras', camera), 201);
});

test('an answer lists 50 faults at most, and says how many there are', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]));
  const refused = await app.asAdmin('PUT', '/api/cameras/big', unknown);
  assert.deepEqual([refused.status, refused.body.errors.length], [400, 50]);
  assert.match(refused.body.detail, /the first 50 of 5000/);
  assert.ok(refused.text.length < 10_000);
  const { body: snapshot } = await app.asAdmin('GET', '/api/system/backup/export');
  const folders = Array.from({ length: 200 }, (_, index) => ({
    id: `f-${index}`,
    name: 'x',
    parent_id: 'nobody',
  }));
  const imported = await app.asAdmin('POST', '/api/system/backup/import', { ...snapshot, folders });
  assert.deepEqual([imported.status, imported.body.errors.length], [400, 50]);
  assert.match(imported.body.detail, /the first 50 of 200/);
});
