import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DirectDisk } from '../../src/archive/write/direct-disk.js';
import { type MonotonicMs, systemClock } from '../../src/base/clock.js';

const diskAt = (told: boolean[]) => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs as MonotonicMs };
  const disk = new DirectDisk({ clock, onChange: (isSlow) => told.push(isSlow) });
  return (idleMs: number, tookMs: number) => {
    nowMs += idleMs;
    const askedMs = disk.nowMs;
    nowMs += tookMs;
    disk.note(askedMs);
  };
};

test('a write that is late now and then, with nothing written between, is no slow disk', () => {
  const told: boolean[] = [];
  const write = diskAt(told);
  for (const _ of [1, 2, 3]) write(60_000, 400);
  assert.deepEqual(told, []);
  for (const _ of [1, 2]) write(0, 400);
  assert.deepEqual(told, [true], 'one after another');
});

test('writes that are late one after another are a slow disk, whatever each takes', () => {
  for (const tookMs of [350, 500, 790]) {
    const told: boolean[] = [];
    const write = diskAt(told);
    for (const _ of [1, 2, 3]) write(100, tookMs);
    assert.deepEqual(told, [true], `${tookMs} ms`);
  }
});
