import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetadataTrust } from '../../../src/camera/ingest/metadata-trust.js';
import { FakeClock } from '../../support/fake-clock.js';

const setUp = () => {
  const clock = new FakeClock();
  const trust = new MetadataTrust();
  /** Sessions in which it was asked for, by how long they lasted; whether it is asked for in the end. */
  const after = (hadPicture: boolean, ...seconds: number[]): boolean => {
    for (const lasted of seconds) {
      clock.advance(lasted * 1_000);
      trust.onEnded(lasted * 1_000, hadPicture, clock.monotonicMs());
    }
    return trust.isAsked(clock.monotonicMs());
  };
  return { clock, after };
};

test('two sessions in a row without a picture hold the track off for an hour, then one is enough', () => {
  const { clock, after } = setUp();
  assert.equal(after(true), true);
  assert.equal(after(false, 5), true);
  assert.equal(after(true, 60), true);
  assert.equal(after(false, 5), true, 'a good one lies between them');
  assert.equal(after(false, 40), false);
  clock.advance(3_599_000);
  assert.equal(after(true), false);
  clock.advance(1_000);
  assert.equal(after(true), true);
  assert.equal(after(false, 29), false);
});

test('five that end soon after their picture do so too: a network that breaks now and then does not', () => {
  const { clock, after } = setUp();
  assert.equal(after(true, 10, 10, 10, 10, 31), true);
  assert.equal(after(true, 10, 10, 10, 10), true);
  assert.equal(after(true, 10), false);
  clock.advance(3_600_000);
  assert.equal(after(true, 31, 10), true);
});
