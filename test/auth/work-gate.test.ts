import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkGate } from '../../src/auth/work-gate.js';

test('a few jobs run, a few wait in order, and the rest is refused at once', async () => {
  const gate = new WorkGate({ maxRunning: 2, maxWaiting: 3 });
  const started: number[] = [];
  const finish: (() => void)[] = [];
  const ask = (job: number): Promise<number> =>
    gate.run(async () => {
      started.push(job);
      await new Promise<void>((resolve) => finish.push(resolve));
      return job;
    });
  const jobs = [0, 1, 2, 3, 4].map(ask);
  await assert.rejects(ask(5), { code: 'login_busy' });
  await Promise.resolve();
  assert.deepEqual(started, [0, 1]);
  for (let job = 0; job < 5; job++) {
    finish[job]!();
    assert.equal(await jobs[job], job);
    await Promise.resolve();
    assert.ok(started.length <= job + 3);
  }
  assert.deepEqual(started, [0, 1, 2, 3, 4]);
});

test('a job that fails makes room for the next', async () => {
  const gate = new WorkGate({ maxRunning: 1, maxWaiting: 5 });
  const failing = gate.run(() => Promise.reject(new Error('broken')));
  const next = gate.run(() => Promise.resolve('done'));
  await assert.rejects(failing, /broken/);
  assert.equal(await next, 'done');
  assert.equal(await gate.run(() => Promise.resolve('again')), 'again');
});
