import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DirectDisk } from '../../src/archive/write/direct-disk.js';
import { type MonotonicMs, systemClock } from '../../src/base/clock.js';

test('a write that is late now and then, with nothing written between, is no slow disk', () => {
  let nowMs = 0;
  const told: boolean[] = [];
  const clock = { ...systemClock, monotonicMs: () => nowMs as MonotonicMs };
  const disk = new DirectDisk({ clock, onChange: (isSlow) => told.push(isSlow) });
  const write = (tookMs: number) => {
    const askedMs = disk.nowMs;
    nowMs += tookMs;
    disk.note(askedMs);
  };
  for (const _ of [1, 2, 3]) {
    nowMs += 60_000;
    write(400);
  }
  assert.deepEqual(told, []);
  for (const _ of [1, 2]) write(400);
  assert.deepEqual(told, [true], 'one after another');
});
