import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { startTestApp, type TestApp } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

const url = 'rtsp://root:s3cret@127.0.0.1/1';
const bulk = (body: unknown, query = '') => app.asAdmin('POST', `/api/cameras/bulk${query}`, body);
const list = async (): Promise<{ id: string; comment: string; url: string }[]> =>
  (await app.asAdmin('GET', '/api/cameras')).body;
const idsNow = async (): Promise<string[]> => (await list()).map(({ id }) => id);

beforeEach(async () => {
  const ids = await idsNow();
  if (ids.length > 0) assert.equal((await bulk({ delete: ids })).status, 200);
  assert.equal(
    (
      await bulk({
        create: [
          { id: 'a', url },
          { id: 'b', url },
        ],
      })
    ).status,
    200,
  );
  app.told.length = 0;
});

test('cameras are added, changed and removed together; only those whose source changed begin anew', async () => {
  const { status, body } = await bulk({
    create: [{ id: 'c', url, record: true }],
    update: [{ id: 'a', comment: 'moved', state: 'streaming', url: 'rtsp://root:***@127.0.0.1/1' }],
    delete: ['b'],
  });
  assert.equal(status, 200);
  assert.deepEqual(
    body.cameras.map(({ id, comment, record }: Record<string, unknown>) => [id, comment, record]),
    [
      ['c', '', true],
      ['a', 'moved', false],
    ],
  );
  assert.deepEqual([body.deleted, await idsNow()], [['b'], ['a', 'c']]);
  assert.equal((await list())[0]?.url, url, 'the mask stood for the stored password');
  const touched = new Set(app.told.flatMap((message) => ('cameraId' in message ? [message.cameraId] : [])));
  assert.deepEqual([...touched].sort(), ['b', 'c']);
  const audited =
    app
      .logText()
      .match(/.*"action":"change_cameras".*/g)
      ?.at(-1) ?? '';
  const { created, updated, deleted, user } = JSON.parse(audited);
  assert.deepEqual(
    { created, updated, deleted, user },
    { created: ['c'], updated: ['a'], deleted: ['b'], user: 'admin' },
  );
  assert.doesNotMatch(app.logText(), /s3cret/);
});

test('one fault, and nothing is changed; every fault is listed with its place', async () => {
  const before = await list();
  const bad = {
    create: [
      { id: 'a', url },
      { id: 'new', url: 'http://x' },
      { id: 'other', url, surely: 1 },
      { id: 'fine', url },
      { id: 'fine', url },
    ],
    update: [
      { id: 'b', comment: 7 },
      { comment: 'whose?' },
      { id: 'nowhere', comment: 'x' },
      { id: 'b', url: 'rtsp://somebody:***@127.0.0.1/***' },
    ],
    delete: ['missing', 'a', '../x'],
  };
  const { status, body } = await bulk(bad);
  assert.deepEqual([status, body.code], [400, 'invalid_input']);
  assert.deepEqual(
    body.errors.map(({ path }: { path: string }) => path).sort(),
    [
      ...['create[0].id', 'create[1].url', 'create[2].surely', 'create[4].id'],
      ...['delete[0]', 'delete[1]', 'delete[2]', 'delete[2]'],
      ...['update[0].comment', 'update[2].id', 'update[3].id'],
    ].sort(),
  );
  const masked = await bulk({
    create: [{ id: 'z', url }],
    update: [{ id: 'b', url: 'rtsp://u:***@127.0.0.2/***' }],
  });
  assert.deepEqual([masked.status, masked.body.errors[0].path], [400, 'update[0].url']);
  assert.match((await bulk({ update: [{ comment: 'whose?' }] })).text, /update\[0\].id/);
  assert.deepEqual(
    await idsNow(),
    before.map(({ id }) => id),
  );
});

test('a thousand at once, with a fault in each, and no more than that', async () => {
  const create = Array.from({ length: 1_000 }, (_, index) => ({ id: `n${index}`, url, disabled: true }));
  const faults = (await bulk({ create: create.map((camera) => ({ ...camera, url: 'no' })) })).body.errors;
  assert.deepEqual([faults.length, faults[999].path], [1_000, 'create[999].url']);
  assert.equal((await bulk({ create })).body.cameras.length, 1_000);
  assert.equal((await idsNow()).length, 1_002);
  assert.equal((await bulk({ create, delete: ['a'] })).status, 400);
  assert.equal((await bulk({})).status, 400);
  assert.equal((await bulk({ delete: create.map(({ id }) => id) })).status, 200);
});

test('a camera may be called bulk all the same', async () => {
  assert.equal((await bulk({ create: [{ id: 'bulk', url, disabled: true }] })).status, 200);
  assert.equal((await app.asAdmin('GET', '/api/cameras/bulk')).body.id, 'bulk');
  const { headers } = await app.call('OPTIONS', '/api/cameras/bulk');
  assert.equal(headers.get('allow'), 'POST, GET, HEAD, PUT, DELETE, OPTIONS');
  assert.equal((await app.asAdmin('DELETE', '/api/cameras/bulk')).status, 200);
});

test('recordings go along only where that is asked for, and keep their camera from coming back before they are gone', async () => {
  await bulk({ create: [{ id: 'purged', url }] });
  assert.equal((await bulk({ delete: ['purged'] }, '?recordings=delete')).status, 200);
  const again = await bulk({ create: [{ id: 'purged', url }] });
  if (again.status !== 200) assert.match(again.text, /create\[0\]\.id.*recordings are being deleted/);
  assert.equal((await bulk({ delete: ['b'] }, '?recordings=maybe')).status, 400);
});
