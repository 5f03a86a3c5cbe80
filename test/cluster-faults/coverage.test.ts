import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coverageOf, spansOf } from './coverage.js';

const FRAME_MS = 100;

const framesAt = (...sentMs: readonly number[]) =>
  sentMs.map((ms) => ({ sentMs: ms, number: Math.round(ms / FRAME_MS) }));
const every = (fromMs: number, toMs: number) =>
  framesAt(...Array.from({ length: (toMs - fromMs) / FRAME_MS }, (_, at) => fromMs + at * FRAME_MS));

test('a missing frame is a break, a late one is none', () => {
  assert.deepEqual(spansOf(framesAt(0, 100, 249, 300, 500), FRAME_MS), [
    { fromMs: 0, toMs: 400 },
    { fromMs: 500, toMs: 600 },
  ]);
});

test('what no box has is the gap, what two have is doubled, each within the time that is asked for', () => {
  const first = spansOf(every(0, 5_000), FRAME_MS);
  const second = [...spansOf(every(4_000, 6_000), FRAME_MS), ...spansOf(every(7_500, 9_000), FRAME_MS)];
  assert.deepEqual(coverageOf([first, second], { fromMs: 1_000, toMs: 8_000 }), {
    ...{ longestGapMs: 1_500, doubledMs: 1_000 },
  });
  assert.deepEqual(coverageOf([first, second], { fromMs: 8_000, toMs: 12_000 }).longestGapMs, 3_000);
  assert.deepEqual(coverageOf([[], []], { fromMs: 0, toMs: 700 }), { longestGapMs: 700, doubledMs: 0 });
});
