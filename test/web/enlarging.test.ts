import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Enlarging } from '../../src/web/pages/wall/enlarging.js';

const anywhere = (): boolean => true;

test('the newest event of a camera that is here is shown large, for five seconds at least', () => {
  const enlarging = new Enlarging();
  assert.equal(enlarging.shown(0, anywhere), null);
  enlarging.begin('1', 'gate', 1_000);
  assert.equal(enlarging.shown(1_000, anywhere), 'gate');
  enlarging.begin('2', 'yard', 2_000);
  assert.equal(enlarging.shown(2_000, anywhere), 'gate', 'nobody could see anything else');
  assert.equal(enlarging.shown(6_000, anywhere), 'yard');
  assert.equal(
    enlarging.shown(6_500, (id) => id === 'gate'),
    'gate',
    'the other one is elsewhere',
  );
});

test('it is small again five seconds after the end, and of what goes on after a minute', () => {
  const enlarging = new Enlarging();
  enlarging.begin('1', 'gate', 0);
  enlarging.shown(0, anywhere);
  enlarging.end('1', 10_000);
  enlarging.end('1', 14_000);
  assert.equal(enlarging.shown(14_900, anywhere), 'gate');
  assert.equal(enlarging.shown(15_000, anywhere), null);
  enlarging.begin('2', 'gate', 20_000);
  assert.equal(enlarging.shown(79_900, anywhere), 'gate');
  assert.equal(enlarging.shown(80_000, anywhere), null);
  enlarging.begin('3', 'gate', 90_000);
  enlarging.dismiss();
  assert.equal(enlarging.shown(90_000, anywhere), null, 'as somebody wants');
});

test('whatever happens, it changes no oftener than each five seconds but to nothing', () => {
  const happenings = fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 4_000 }),
      id: fc.constantFrom('1', '2', '3', '4'),
      camera: fc.constantFrom('gate', 'yard', 'dock'),
      isEnd: fc.boolean(),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(happenings, (all) => {
      const enlarging = new Enlarging();
      let nowMs = 0;
      let shown: string | null = null;
      let sinceMs = 0;
      for (const { afterMs, id, camera, isEnd } of all) {
        nowMs += afterMs;
        if (isEnd) enlarging.end(id, nowMs);
        else enlarging.begin(id, camera, nowMs);
        const next = enlarging.shown(nowMs, anywhere);
        if (next === shown) continue;
        if (shown !== null && next !== null) assert.ok(nowMs - sinceMs >= 5_000);
        shown = next;
        sinceMs = nowMs;
      }
      assert.equal(enlarging.shown(nowMs + 60_000, anywhere), null);
    }),
  );
});
