import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

test('the running service writes its history, and tells what is asked for', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'door', url: 'rtsp://127.0.0.1/1', disabled: true });
  const get = async (query: string) =>
    (await app.call('GET', `/api/stats/history${query}`, { token: app.tokens.viewer })).body;
  const { from, step_sec } = await until('three seconds are told', async () => {
    const answer = await get('');
    return answer.series.cpu_percent.length >= 3 && answer.series.cameras.at(-1) === 1 && answer;
  });
  assert.ok(Math.abs(Date.parse(from) - Date.now()) < 60_000 && step_sec === 1);
  const { series } = await get('?series=cameras,memory_bytes,unknown');
  assert.deepEqual(Object.keys(series), ['cameras', 'memory_bytes']);
  assert.ok(series.memory_bytes.every((bytes: number) => bytes > 1e7));
  await until('the room on the disk is known', async () =>
    Number.isInteger((await get('?series=storage_free_bytes')).series.storage_free_bytes.at(-1)),
  );
  const later = new Date(Date.now() + 60_000).toISOString();
  assert.deepEqual((await get(`?from=${later}&series=cameras`)).series, { cameras: [] });
  assert.equal((await get('?span=day')).step_sec, 60);
});
