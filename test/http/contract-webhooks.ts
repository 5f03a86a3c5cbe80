import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { MAX_WEBHOOKS } from '../../src/store/webhooks.js';
import { startReceiver } from '../notify/receiver.js';
import type { TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Tests that may run at a time. */
const MAX_TESTS = 4;

/** Makes, changes, tests and removes webhooks, up to the most that there may be. */
export const callWebhooks = async (app: TestApp): Promise<void> => {
  const receiver = await startReceiver();
  const bad = await app.asAdmin('POST', '/api/webhooks', { name: 'x', url: 'http://224.0.0.1/' });
  assert.deepEqual([bad.status, bad.body.code], [400, 'bad_url']);
  const url = `http://u:pass@127.0.0.1:${receiver.port}/`;
  const made = await app.asAdmin('POST', '/api/webhooks', { name: 'office', url });
  assert.equal(made.status, 201);
  assert.match(made.body.secret, /^whsec_/);
  assert.doesNotMatch(made.body.url, /pass/);
  const path = `/api/webhooks/${made.body.id}`;
  const shown = await app.asAdmin('GET', path);
  assert.equal('secret' in shown.body, false);
  const changed = await app.asAdmin('PUT', path, { ...shown.body, types: ['camera_lost'] });
  assert.deepEqual([changed.status, changed.body.types], [200, ['camera_lost']]);
  assert.equal((await app.asAdmin('PUT', path, { id: 'another' })).status, 400);
  const renewed = await app.asAdmin('POST', `${path}/secret`);
  assert.notEqual(renewed.body.secret, made.body.secret);
  const tested = await app.asAdmin('POST', `${path}/test`);
  assert.deepEqual([tested.body.ok, tested.body.detail], [true, 'answered 204 No Content']);
  assert.equal(receiver.received[0]?.headers['authorization'], `Basic ${btoa('u:pass')}`);
  const held: ServerResponse[] = [];
  receiver.answer = (response) => held.push(response);
  const tests = Array.from({ length: MAX_TESTS }, () => app.asAdmin('POST', `${path}/test`));
  await until('all tests wait', () => held.length === MAX_TESTS);
  const busy = await app.asAdmin('POST', `${path}/test`);
  assert.deepEqual([busy.status, busy.headers.get('retry-after')], [429, '5']);
  for (const response of held) response.writeHead(500).end('not today');
  for (const { body } of await Promise.all(tests))
    assert.deepEqual([body.ok, body.status, body.answer], [false, 500, 'not today']);
  for (const status of [200, 404]) assert.equal((await app.asAdmin('DELETE', path)).status, status);
  const body = { name: 'x', url: 'http://192.0.2.1/' };
  const made32 = await Promise.all(
    Array.from({ length: MAX_WEBHOOKS }, () => app.asAdmin('POST', '/api/webhooks', body)),
  );
  assert.equal((await app.asAdmin('POST', '/api/webhooks', body)).status, 409);
  for (const { body } of made32) await app.asAdmin('DELETE', `/api/webhooks/${body.id}`);
  await receiver.close();
};
