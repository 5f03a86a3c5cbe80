import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs } from '../../../src/base/clock.js';
import { Backoff } from '../../../src/camera/fleet/backoff.js';

const at = (ms: number): MonotonicMs => ms as MonotonicMs;
const noJitter = (): number => 0.5;

test('a lost camera is asked after 0.25 s, doubling to 2 s in the first minute, to 15 s later', () => {
  const backoff = new Backoff(noJitter);
  const delays = Array.from({ length: 6 }, () => backoff.nextDelayMs(at(1_000), false));
  assert.deepEqual(delays, [250, 500, 1_000, 2_000, 2_000, 2_000]);
  assert.equal(backoff.nextDelayMs(at(60_999), false), 2_000);
  assert.equal(backoff.nextDelayMs(at(61_001), false), 15_000);
});

test('frames that flowed long enough make the next loss a new one', () => {
  const backoff = new Backoff(noJitter);
  for (let tries = 0; tries < 20; tries++) backoff.nextDelayMs(at(tries * 10_000), false);
  backoff.reset();
  assert.equal(backoff.nextDelayMs(at(300_000), false), 250);
});

test('a camera that refuses us is asked slower, and ever slower up to a minute', () => {
  const backoff = new Backoff(noJitter);
  const delays = Array.from({ length: 6 }, () => backoff.nextDelayMs(at(0), true));
  assert.deepEqual(delays, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
});

test('jitter keeps every delay within 20 % of its middle', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.nat(3),
      (random, failures) => {
        const backoff = new Backoff(() => random);
        let delayMs = 0;
        for (let tries = 0; tries <= failures; tries++) delayMs = backoff.nextDelayMs(at(0), false);
        const middleMs = 250 * 2 ** failures;
        return delayMs >= middleMs * 0.8 && delayMs <= middleMs * 1.2;
      },
    ),
  );
});
