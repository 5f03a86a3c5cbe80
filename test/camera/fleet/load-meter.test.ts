import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoadMeter } from '../../../src/camera/fleet/load-meter.js';
import { FakeClock } from '../../support/fake-clock.js';

test("a thread's load is that of the last ten seconds, and unknown while it starts or where nobody tells", () => {
  const clock = new FakeClock();
  const meter = new LoadMeter();
  let cpuSeconds = 3;
  const pass = (seconds: number, share: number): void => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1_000);
      cpuSeconds += share;
      meter.round(cpuSeconds, 12, clock.monotonicMs());
    }
  };
  pass(25, 0.9);
  assert.equal(meter.measured, null);
  pass(10, 0.25);
  const { cpuShare = 0, cameras = 0 } = meter.measured ?? {};
  assert.deepEqual([Math.round(cpuShare * 1e6) / 1e6, cameras], [0.25, 12]);
  const blind = new LoadMeter();
  for (let round = 0; round < 100; round += 1) blind.round(Number.NaN, 1, clock.monotonicMs());
  assert.equal(blind.measured, null);
});
