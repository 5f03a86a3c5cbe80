import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { noteServiceTime, serviceClock, serviceNowMs } from '../../src/web/data/service-clock.js';
import { monotonicMs } from '../../src/web/player/monotonic.js';

const HOUR_MS = 3_600_000;
const ownNow = Date.now.bind(Date);
let sleptMs = 0;
mock.method(Date, 'now', () => ownNow() + sleptMs);
after(() => mock.restoreAll());

/** The service's clock goes on while this machine sleeps. */
const toldAt = (ms: number): string => new Date(ms).toISOString();
const assertRight = (): void => {
  const wrongMs = Math.abs(serviceNowMs() - Date.now());
  assert.ok(wrongMs < 60_000, `${wrongMs} ms`);
};

for (const isFoundBefore of [false, true])
  test(`an answer that was told before the machine slept says nothing of the time behind it, ${isFoundBefore ? 'though somebody asked meanwhile' : 'as the first to notice'}`, () => {
    noteServiceTime(monotonicMs(), toldAt(Date.now()));
    assertRight();
    const sentMs = monotonicMs();
    const told = toldAt(Date.now());
    sleptMs += HOUR_MS;
    if (isFoundBefore) serviceClock();
    noteServiceTime(sentMs, told);
    assertRight();
  });

test('an answer to what was asked behind the sleep counts', async () => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  noteServiceTime(monotonicMs(), toldAt(Date.now() + 3 * HOUR_MS));
  assert.ok(serviceNowMs() - Date.now() > 2 * HOUR_MS);
});
