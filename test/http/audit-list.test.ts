import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

const list = async (query = '') => (await app.asAdmin('GET', `/api/audit${query}`)).body;
const actionsOf = (records: readonly { action: string }[]) => records.map(({ action }) => action);

test('the audit log is listed as it is logged, the newest first, in pages', async () => {
  await app.asAdmin('POST', '/api/tags', { id: 'gate', name: 'Gate', color: '#123456' });
  await app.asAdmin('DELETE', '/api/tags/gate');
  await app.call('POST', '/api/login', { body: { username: 'viewer', password: 'wrong password' } });
  const logged = app
    .logText()
    .split('\n')
    .filter((line) => line.includes('"audit":true'))
    .map((line) => JSON.parse(line))
    .map(({ level: _, audit: __, msg: ___, time: ____, ...record }) => record);
  const listed = await list();
  assert.deepEqual(
    listed.map(({ time, ...record }: { time: string }) => {
      assert.ok(Math.abs(Date.now() - Date.parse(time)) < 600_000);
      return record;
    }),
    logged.toReversed(),
  );
  assert.deepEqual(actionsOf(listed.slice(0, 3)), ['login_failed', 'delete_tag', 'create_tag']);
  assert.deepEqual(actionsOf(await list('?user=viewer&action=login_failed')), ['login_failed']);
  assert.deepEqual(actionsOf(await list('?action=create_tag')), ['create_tag']);
  assert.deepEqual(await list('?to=2020-01-01'), []);
  assert.equal((await list('?from=2020-01-01&to=2100-01-01')).length, listed.length);
  const paged: object[] = [];
  let path: string | undefined = '/api/audit?from=2020-01-01&limit=2';
  while (path !== undefined) {
    const { headers, body } = await app.asAdmin('GET', path);
    assert.ok(body.length <= 2 && body.length > 0);
    paged.push(...body);
    path = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual(paged, listed);
  assert.ok(!JSON.stringify(listed).includes('wrong password'));
  assert.ok(!JSON.stringify(listed).includes(USER_PASSWORD));
});

test('what is asked for is checked', async () => {
  for (const query of ['limit=0', 'limit=1001', 'cursor=1', 'action=DROP', 'from=never', 'user=%00'])
    assert.equal((await app.asAdmin('GET', `/api/audit?${query}`)).status, 400, query);
  assert.equal((await app.asAdmin('GET', '/api/audit?from=2026-01-02&to=2026-01-01')).status, 400);
});
