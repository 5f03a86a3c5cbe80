import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MonotonicMs } from '../../src/base/clock.js';
import { LinkLag } from '../../src/relay/send/link-lag.js';

test('a link is as late as the oldest of what was sent and not read', () => {
  const lag = new LinkLag();
  const lagAt = (nowMs: number): number => lag.lagMs(nowMs as MonotonicMs);
  assert.equal(lagAt(5_000), 0);
  for (const sentMs of [1_000, 1_040, 1_200, 2_000]) lag.onSent(100, sentMs as MonotonicMs);
  assert.equal(lagAt(2_500), 1_500);
  assert.equal(lag.onSeen(100), true);
  assert.equal(lagAt(2_500), 1_300);
  assert.equal(lag.onSeen(400), true);
  assert.equal(lagAt(9_000), 0);
  for (const nonsense of [399, 401, Number.NaN]) assert.equal(lag.onSeen(nonsense), false, String(nonsense));
});
