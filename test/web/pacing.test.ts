import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_PACE_MS, Pacer, PictureQueue } from '../../src/web/player/pacing.js';

const INTERVAL_MS = 40;
/** A screen draws so often. */
const TURN_MS = 1000 / 60;

const arrivals = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 });

/** Pictures that come late by these times: when each was due, and shown at the screen's turns. */
const play = (lateMs: readonly number[]) => {
  const pacer = new Pacer();
  const queue = new PictureQueue<{ readonly frame: { close(): void }; readonly at: number }>();
  const state = {
    shown: [] as { at: number; ms: number }[],
    closed: new Array<number>(lateMs.length).fill(0),
  };
  let nowMs = 0;
  let nextTurnMs = 0;
  const turnUntil = (ms: number): void => {
    for (; nextTurnMs <= ms; nextTurnMs += TURN_MS) {
      const taken = queue.take(nextTurnMs);
      if (taken === null) continue;
      state.shown.push({ at: taken.at, ms: nextTurnMs });
      taken.frame.close();
    }
  };
  for (const [at, late] of lateMs.entries()) {
    // They come in their order.
    nowMs = Math.max(nowMs, at * INTERVAL_MS + late);
    turnUntil(nowMs);
    const dueMs = pacer.dueMs(nowMs, at * INTERVAL_MS);
    assert.ok(dueMs >= nowMs && dueMs <= nowMs + MAX_PACE_MS, `due ${dueMs} at ${nowMs}`);
    const frame = {
      close: () => {
        state.closed[at] = (state.closed[at] ?? 0) + 1;
      },
    };
    queue.add({ frame, at }, dueMs, nowMs);
  }
  turnUntil(nowMs + MAX_PACE_MS + TURN_MS);
  assert.ok(queue.isEmpty);
  return { ...state, delayMs: pacer.delayMs };
};

test('a paced picture is due within 150 ms, in its order, and is closed once, whatever comes', () => {
  fc.assert(
    fc.property(arrivals, (lateMs) => {
      const { shown, closed } = play(lateMs);
      assert.ok(closed.every((times) => times === 1));
      assert.ok(shown.every(({ at }, index) => index === 0 || at > (shown[index - 1]?.at ?? 0)));
      assert.equal(shown.at(-1)?.at, lateMs.length - 1, 'the last one is shown');
    }),
  );
});

test('pictures that come unevenly are shown evenly, and none is left out for being early', () => {
  // Two together each 80 ms, and a little jitter.
  const lateMs = Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? 40 + (at % 7) : at % 7));
  const { shown, delayMs } = play(lateMs);
  assert.ok(delayMs >= 40 && delayMs <= 50, `${delayMs} ms`);
  const settled = shown.filter(({ at }) => at > 80);
  assert.equal(settled.length, 119);
  const apartMs = settled.slice(1).map(({ ms }, index) => ms - (settled[index]?.ms ?? 0));
  assert.ok(Math.max(...apartMs) <= INTERVAL_MS + 1.5 * TURN_MS, `${Math.max(...apartMs)} ms`);
  assert.ok(Math.min(...apartMs) >= INTERVAL_MS - 1.5 * TURN_MS, `${Math.min(...apartMs)} ms`);
});

test('what comes evenly is not held back', () => {
  const { delayMs } = play(new Array(100).fill(120));
  assert.equal(delayMs, 0);
});

test('of pictures that no screen takes six wait, and the newest stay', () => {
  const queue = new PictureQueue<{ readonly frame: { close(): void }; readonly at: number }>();
  const closed: number[] = [];
  for (let at = 0; at < 10; at++) queue.add({ frame: { close: () => closed.push(at) }, at }, 1_000 + at, 0);
  assert.deepEqual(closed, [0, 1, 2, 3]);
  assert.equal(queue.take(0)?.at, 4, 'the oldest goes before it is due');
  queue.add({ frame: { close: () => closed.push(10) }, at: 10 }, 0, 0);
  assert.deepEqual(closed, [0, 1, 2, 3, 5, 6, 7, 8, 9]);
  assert.equal(queue.take(0)?.at, 10);
});
