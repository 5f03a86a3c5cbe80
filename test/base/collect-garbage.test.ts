import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { collectGarbage } from '../../src/base/collect-garbage.js';
import { askToCollect, ThreadStats } from '../../src/base/thread-stats.js';
import { until } from '../support/until.js';

const MB = 1 << 20;

const sharedBytes = (count: number): SharedArrayBuffer[] => {
  const buffers = Array.from({ length: count }, () => new SharedArrayBuffer(32 * MB));
  for (const buffer of buffers) new Uint8Array(buffer).fill(1);
  return buffers;
};

test('a collection gives shared memory back that nobody knows any more, with the first beat after it was asked for', async () => {
  const stats = new ThreadStats(systemClock);
  let kept = sharedBytes(6);
  const fullBytes = process.memoryUsage.rss();
  collectGarbage();
  assert.ok(process.memoryUsage.rss() > fullBytes - 30 * MB, 'it is in use');
  kept = [];
  stats.sample();
  assert.ok(process.memoryUsage.rss() > fullBytes - 30 * MB, 'nothing frees it by itself');
  askToCollect(stats.shared);
  stats.sample();
  await until('it is free', () => process.memoryUsage.rss() < fullBytes - 150 * MB, { deadlineMs: 10_000 });
  assert.equal(kept.length, 0);
});
