import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ClockEstimate } from '../../src/web/data/clock-estimate.js';

const HOUR_MS = 3_600_000;
const delay = fc.integer({ min: 0, max: 3_000 });
const trips = fc.array(fc.record({ there: delay, back: delay, isTick: fc.boolean() }), {
  minLength: 1,
  maxLength: 60,
});

test('the service is never further off than is said, however slow the way is and however far the clocks are apart', () => {
  const apart = fc.integer({ min: -48 * HOUR_MS, max: 48 * HOUR_MS });
  const drift = fc.integer({ min: -400, max: 400 });
  fc.assert(
    fc.property(trips, apart, drift, (all, apartMs, ppm) => {
      const estimate = new ClockEstimate();
      const serverAt = (localMs: number): number => localMs * (1 + ppm / 1e6) + apartMs;
      let nowMs = 0;
      for (const { there, back, isTick } of all) {
        const sentMs = nowMs;
        const serverMs = Math.round(serverAt(nowMs + there));
        nowMs += there + back;
        if (isTick) estimate.noteTick(serverMs, nowMs);
        else estimate.noteAnswer(sentMs, serverMs, nowMs);
        const known = estimate.at(nowMs);
        assert.ok(known !== null);
        const wrongMs = Math.abs(nowMs + known.offsetMs - serverAt(nowMs));
        assert.ok(wrongMs <= known.errorMs + 2, `${wrongMs} ms off, said ${known.errorMs}`);
        nowMs += 5_000;
      }
    }),
  );
});

test('one quick answer among slow ones is what counts, and late ones change nothing', () => {
  const estimate = new ClockEstimate();
  assert.equal(estimate.at(0), null);
  estimate.noteAnswer(0, 10_000, 2_000);
  estimate.noteAnswer(3_000, 12_010, 3_020);
  estimate.noteAnswer(4_000, 15_900, 8_000);
  const known = estimate.at(8_000);
  assert.ok(known !== null && Math.abs(known.offsetMs - 9_000) < 5 && known.errorMs < 20);
});

test('a clock that is set is followed: at once by an answer, by the second tick where only those come', () => {
  const estimate = new ClockEstimate();
  const offsetMs = (nowMs: number): number => Math.round((estimate.at(nowMs)?.offsetMs ?? 0) / 100) * 100;
  estimate.noteAnswer(0, 10, 20);
  estimate.noteAnswer(1_000, HOUR_MS + 1_010, 1_020);
  assert.equal(offsetMs(1_020), HOUR_MS);
  estimate.noteTick(5_000, 5_010);
  assert.equal(offsetMs(5_010), HOUR_MS, 'one may have been late');
  estimate.noteTick(10_000, 10_010);
  assert.equal(offsetMs(10_010), 0);
  estimate.noteTick(HOUR_MS + 15_000, 15_010);
  assert.equal(offsetMs(15_010), HOUR_MS, 'no tick comes from the future');
});

test('after a sleep the clock that stood still is behind by it', () => {
  const estimate = new ClockEstimate();
  estimate.noteAnswer(0, 10, 20);
  estimate.stoodStill(8 * HOUR_MS);
  assert.equal(Math.round((estimate.at(1_000)?.offsetMs ?? 0) / 100) * 100, 8 * HOUR_MS);
});
