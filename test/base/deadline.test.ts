import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { collectGarbage } from '../../src/base/collect-garbage.js';
import { startDeadline } from '../../src/base/deadline.js';
import { FakeClock } from '../support/fake-clock.js';

const late = { afterMs: 1_000, reason: () => new Error('too late') };

test('a deadline ends the work when its time is over, and not before', () => {
  const clock = new FakeClock();
  const { signal } = startDeadline(clock, late);
  clock.advance(999);
  assert.equal(signal.aborted, false);
  clock.advance(1);
  assert.match(String(signal.reason), /too late/);
});

test('whoever asked can end it early, even before it begins', () => {
  const clock = new FakeClock();
  const asker = new AbortController();
  const { signal } = startDeadline(clock, late, asker.signal);
  assert.equal(signal.aborted, false);
  asker.abort(new Error('no more wanted'));
  assert.match(String(signal.reason), /no more wanted/);
  assert.match(String(startDeadline(clock, late, asker.signal).signal.reason), /no more wanted/);
});

test('once the work is done nothing ends it', () => {
  const clock = new FakeClock();
  const asker = new AbortController();
  const { signal, end } = startDeadline(clock, late, asker.signal);
  end();
  clock.advance(10_000);
  asker.abort();
  assert.equal(signal.aborted, false);
});

test('the collection of garbage takes no time bound away', { timeout: 30_000 }, async () => {
  const asker = new AbortController();
  const { signal } = startDeadline(systemClock, { ...late, afterMs: 100 }, asker.signal);
  const collecting = setInterval(collectGarbage, 5);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  clearInterval(collecting);
});
