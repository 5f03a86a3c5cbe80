import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Detections } from '../../src/detect/detections.js';

const MINUTE_MS = 60_000;
const NOW_MS = Date.UTC(2026, 10, 23, 12);

test('what was seen in the last two minutes is there in order, also once a clock that was wrong is set back', () => {
  const detections = new Detections();
  const see = (wallMs: number): void => detections.add('a', { wallMs, source: 'model', objects: [] });
  const kept = (): number[] =>
    detections
      .between('a', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
      .map(({ wallMs }) => wallMs - NOW_MS);
  for (const wallMs of [NOW_MS, NOW_MS + 3_000, NOW_MS + 1_000, NOW_MS + MINUTE_MS]) see(wallMs);
  assert.deepEqual(kept(), [0, 1_000, 3_000, MINUTE_MS]);
  see(NOW_MS + 2 * MINUTE_MS + 2_000);
  assert.deepEqual(kept(), [3_000, MINUTE_MS, 2 * MINUTE_MS + 2_000]);
  // An hour ahead, and back.
  see(NOW_MS + 60 * MINUTE_MS);
  see(NOW_MS);
  see(NOW_MS + 1_000);
  assert.deepEqual(kept(), [0, 1_000]);
});

test('a camera is blind while objects can not be found on it, or its own analytics are not asked for', () => {
  const detections = new Detections();
  assert.equal(detections.isBlind('a'), false);
  detections.isUnasked = (cameraId) => cameraId === 'a';
  assert.deepEqual([detections.isBlind('a'), detections.isBlind('b')], [true, false]);
  detections.errorOf = (cameraId) => (cameraId === 'b' ? 'no model' : '');
  assert.equal(detections.isBlind('b'), true);
});
