import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ThreadEnders } from '../../src/cluster/owners/thread-enders.js';
import { FakeClock } from '../support/fake-clock.js';

const MINUTE_MS = 60_000;

test('a camera that ends threads is known for an hour after that was told last, and is news after that', () => {
  const clock = new FakeClock();
  const enders = new ThreadEnders(clock);
  assert.deepEqual([enders.has('door'), enders.add('door'), enders.add('door')], [false, true, false]);
  clock.advance(40 * MINUTE_MS);
  assert.equal(enders.add('door'), false);
  clock.advance(59 * MINUTE_MS);
  assert.deepEqual([enders.forgetOld(), enders.has('door')], [[], true]);
  clock.advance(2 * MINUTE_MS);
  assert.deepEqual([enders.forgetOld(), enders.has('door'), enders.add('door')], [['door'], false, true]);
});
