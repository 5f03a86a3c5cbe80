import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, type MonotonicMs, systemClock } from '../../src/base/clock.js';
import { ThreadStats } from '../../src/base/thread-stats.js';
import { durationText, Stats, type StatsSource } from '../../src/ops/stats.js';
import { Threads } from '../../src/ops/threads.js';

test('a duration has the form of the interface', () => {
  const cases: [number, string][] = [
    [0, '0h0m0s'],
    [59.9, '0h0m59s'],
    [3_661, '1h1m1s'],
    [172_800, '48h0m0s'],
    [-5, '0h0m0s'],
  ];
  for (const [seconds, text] of cases) assert.equal(durationText(seconds), text);
});

const sampleStats = () => {
  let nowMs = 5_000;
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs as MonotonicMs };
  const threads = new Threads();
  const shared = { ring: 10_000_000 };
  const source: StatsSource = {
    threads,
    cameras: () => [
      { cameraId: 'a', isStreaming: true, isRecording: true, fps: 24.97, bitrateKbps: 4_000.4 },
      { cameraId: 'b', isStreaming: true, isRecording: false, fps: 12.5, bitrateKbps: 800.3 },
      { cameraId: 'c', isStreaming: false, isRecording: false, fps: 0, bitrateKbps: 0 },
    ],
    ringBytes: () => shared.ring,
    storageFault: () => 'the disk is full',
  };
  const stats = new Stats('1.2.3', { clock, source });
  return { stats, threads, shared, wait: (durationMs: number) => (nowMs += durationMs) };
};

test('the record has every field of the interface, and the sums are right', () => {
  const { stats, threads, wait } = sampleStats();
  const thread = new ThreadStats(systemClock);
  thread.start();
  thread.stop();
  threads.add('main', thread.shared);
  threads.add('tasks', null);
  wait(90_500);
  const { memory_alloc_mb, total_alloc_mb, sys_memory_mb, num_gc, ...rest } = stats.record();
  assert.deepEqual(rest, {
    version: '1.2.3',
    uptime_sec: 90,
    uptime: '0h1m30s',
    goroutines: 2,
    active_streams: 2,
    total_cameras: 3,
    total_fps: 37.47,
    total_bitrate_kbps: 4_801,
    active_recordings: 1,
    storage_fault: 'the disk is full',
  });
  assert.ok(memory_alloc_mb > 10 && total_alloc_mb >= memory_alloc_mb && sys_memory_mb > 10);
  assert.ok(Number.isInteger(num_gc));
});

test('totals outlive the thread, and the ring, that they came from', () => {
  const { stats, threads, shared } = sampleStats();
  const thread = new ThreadStats(systemClock);
  thread.start();
  thread.stop();
  new Float64Array(thread.shared).fill(3_000_000);
  const remove = threads.add('camera-worker-1', thread.shared);
  const before = stats.record();
  remove();
  remove();
  shared.ring = 0;
  const after = stats.record();
  assert.equal(after.total_alloc_mb, before.total_alloc_mb);
  assert.equal(after.num_gc, 3_000_000);
  assert.equal(after.goroutines, 0);
  assert.equal(after.memory_alloc_mb, 0);
  shared.ring = 5_000_000;
  assert.equal(stats.record().total_alloc_mb, Math.round((before.total_alloc_mb + 5) * 100) / 100);
});
