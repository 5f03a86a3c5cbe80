import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { type Clock, type MonotonicMs, systemClock } from '../../src/base/clock.js';
import { lagBucketsSeconds, readThreadFigures, ThreadStats } from '../../src/base/thread-stats.js';

test('a beat counts in the bucket of its lag', () => {
  let nowMs = 1_000;
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs as MonotonicMs };
  const stats = new ThreadStats(clock);
  for (const lagMs of [0, 3, 30, 700, 9_000]) {
    nowMs += 200 + lagMs;
    stats.sample();
  }
  nowMs += 150; // Early: no lag.
  stats.sample();
  const figures = readThreadFigures(stats.shared);
  assert.deepEqual(lagBucketsSeconds, [0.005, 0.02, 0.1, 0.5, 2]);
  assert.deepEqual(figures.lagCounts, [3, 0, 1, 0, 1, 1]);
  assert.ok(Math.abs(figures.lagSumSeconds - 9.733) < 1e-9);
});

test('a worker thread publishes its own figures, and measuring does not keep it alive', async () => {
  const module = new URL('../../src/base/thread-stats.js', import.meta.url).href;
  const clock = new URL('../../src/base/clock.js', import.meta.url).href;
  const code = `
    import { parentPort } from 'node:worker_threads';
    import { ThreadStats } from '${module}';
    import { systemClock } from '${clock}';
    const stats = new ThreadStats(systemClock);
    stats.start();
    const until = performance.now() + 150;
    let kept = [];
    while (performance.now() < until) kept = [...kept.slice(-1000), new Array(100).fill({})];
    parentPort.postMessage(stats.shared);
    setTimeout(() => {}, 1300);
  `;
  const startedMs = performance.now();
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const [shared] = (await once(worker, 'message')) as [SharedArrayBuffer];
  await once(worker, 'exit');
  assert.ok(performance.now() - startedMs < 10_000);
  const figures = readThreadFigures(shared);
  assert.ok(figures.gcCount > 0, 'collections were seen');
  assert.ok(figures.gcSeconds > 0);
  assert.ok(figures.heapUsedBytes > 1_000_000 && figures.heapTotalBytes >= figures.heapUsedBytes);
  assert.ok(figures.allocatedBytes >= figures.heapUsedBytes);
  assert.ok(figures.lagCounts.reduce((sum, count) => sum + count, 0) >= 5, 'the timer ran');
  if (process.platform === 'linux') assert.ok(figures.cpuSeconds > 0.05, `${figures.cpuSeconds} s of CPU`);
});
