import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricsPage } from '../../src/ops/metrics-page.js';
import { FakeClock } from '../support/fake-clock.js';

test('however many ask, the metrics are made once a second', async () => {
  const clock = new FakeClock();
  let builds = 0;
  const exposition = async (): Promise<string> => {
    builds += 1;
    return `svc_builds ${builds}\n`;
  };
  const page = new MetricsPage({ contentType: 'text/plain', exposition }, clock);
  const first = await Promise.all(Array.from({ length: 50 }, () => page.read()));
  assert.deepEqual([new Set(first).size, builds], [1, 1]);
  clock.advance(999);
  assert.equal(String(await page.read()), 'svc_builds 1\n');
  clock.advance(1);
  assert.equal(String(await page.read()), 'svc_builds 2\n');
});

test('a build that fails is the answer for that second alone', async () => {
  const clock = new FakeClock();
  let isBroken = true;
  const exposition = async (): Promise<string> => {
    if (isBroken) throw new Error('no figures');
    return 'svc_up 1\n';
  };
  const page = new MetricsPage({ contentType: 'text/plain', exposition }, clock);
  await assert.rejects(page.read(), /no figures/);
  isBroken = false;
  clock.advance(1_000);
  assert.equal(String(await page.read()), 'svc_up 1\n');
});
