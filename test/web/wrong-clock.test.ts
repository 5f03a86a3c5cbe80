import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteServiceTime } from '../../src/web/data/service-clock.js';
import { startWrongClock, wrongByMinutes } from '../../src/web/data/wrong-clock.js';
import { monotonicMs } from '../../src/web/player/monotonic.js';

const MINUTE_MS = 60_000;
const told = (agoMs: number): string => new Date(Date.now() - agoMs).toISOString();

test("a clock is called wrong only where the service's is known well enough for that", () => {
  startWrongClock();
  // The answer took six minutes: its time may be of any moment of them.
  noteServiceTime(monotonicMs() - 6 * MINUTE_MS, told(6 * MINUTE_MS));
  assert.equal(wrongByMinutes.value, 0);
  noteServiceTime(monotonicMs(), told(6 * MINUTE_MS));
  assert.equal(wrongByMinutes.value, 6);
});
