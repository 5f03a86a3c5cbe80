import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from '../../src/base/within.js';
import { FakeClock } from '../support/fake-clock.js';

test('work that is done in time leaves no timer behind', async () => {
  const clock = new FakeClock();
  let end = (): void => {};
  const isDone = within(clock, 1_000, new Promise<void>((resolve) => (end = resolve)));
  clock.advance(999);
  end();
  assert.equal(await isDone, true);
  assert.equal(clock.pendingTimers, 0);
});

test('work that takes longer is waited for no more, and its failure is nobody’s then', async () => {
  const clock = new FakeClock();
  let fail = (_reason: Error): void => {};
  const isDone = within(clock, 1_000, new Promise((_resolve, reject) => (fail = reject)));
  clock.advance(1_000);
  assert.equal(await isDone, false);
  fail(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('work that fails in time fails for whoever waits, and leaves no timer behind', async () => {
  const clock = new FakeClock();
  await assert.rejects(within(clock, 1_000, Promise.reject(new Error('no'))), /no/);
  assert.equal(clock.pendingTimers, 0);
});
