import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstAfter } from '../../src/web/data/first-after.js';

const MOST = 5;
const DAY_MS = 86_400_000;

test('the next event is found however many there are and however far it is, in few questions', async () => {
  const moments = fc.array(fc.oneof(fc.nat(60 * DAY_MS), fc.nat(2_000)), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(moments, fc.nat(60 * DAY_MS), async (times, timeMs) => {
      let asked = 0;
      const load = async (fromMs: number, toMs: number) => {
        asked += 1;
        const found = times.filter((at) => at >= fromMs && at < toMs).sort((a, b) => b - a);
        return found.slice(0, MOST).map((at) => ({ from: new Date(at).toISOString() }));
      };
      const nowMs = 60 * DAY_MS + 1;
      const found = await firstAfter(load, timeMs, nowMs, MOST);
      const expected = times.filter((at) => at > timeMs).sort((a, b) => a - b)[0];
      assert.equal(found === null ? undefined : Date.parse(found.from), expected);
      assert.ok(asked < 30, `${asked} questions`);
    }),
    { numRuns: 300 },
  );
});
