import assert from 'node:assert/strict';
import type { TestApp } from '../support/test-app.js';

/** Exports of something that is there until it is deleted: all that may come of them. */
export const callExports = async (app: TestApp, item: object, deleteIt: () => void): Promise<void> => {
  const token = app.tokens.viewer;
  const make = (items: readonly object[]) =>
    app.call('POST', '/api/exports', { token, body: { items, zip: true } });
  const { status, body } = await make([item]);
  assert.equal(status, 201);
  const { url } = body.zip;
  const statusOf = async (headers: Record<string, string>) =>
    (await app.call('GET', url, { headers })).status;
  const etag = (await app.call('GET', url)).headers.get('etag') ?? '';
  assert.equal(await statusOf({ range: 'bytes=0-9' }), 206);
  assert.equal(await statusOf({ range: 'bytes=99999999-' }), 416);
  assert.equal(await statusOf({ 'if-none-match': etag }), 304);
  assert.equal((await app.call('GET', `${url}x`)).status, 404);
  assert.equal((await make([{ ...item, camera_id: 'nowhere' }])).status, 404);
  const ids = [body.id];
  let last = await make([item]);
  for (; last.status === 201; last = await make([item])) ids.push(last.body.id);
  assert.equal(last.status, 429);
  deleteIt();
  assert.equal((await app.call('GET', body.files[0].url)).status, 410);
  for (const id of ids) assert.equal((await app.call('DELETE', `/api/exports/${id}`, { token })).status, 200);
  assert.equal((await app.call('DELETE', `/api/exports/${body.id}`, { token })).status, 404);
};
