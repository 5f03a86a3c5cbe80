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

test('a camera is watched while objects can be found on it, as far as its own analytics are heard', () => {
  const detections = new Detections();
  const always = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
  assert.deepEqual(detections.watched('a'), always);
  const span = { fromMs: NOW_MS, toMs: NOW_MS + MINUTE_MS };
  detections.heard = (cameraId) => (cameraId === 'a' ? span : 'unknown');
  assert.deepEqual([detections.watched('a'), detections.watched('b')], [span, 'unknown']);
  detections.errorOf = (cameraId) => (cameraId === 'a' ? 'no model' : '');
  assert.deepEqual([detections.watched('a'), detections.watched('b')], ['nothing', 'unknown']);
});

test('what another box sees is shown once, and nothing else comes of it', () => {
  const detections = new Detections();
  const [seen, shown]: [number[], number[]] = [[], []];
  detections.seen.on((_, { wallMs }) => seen.push(wallMs));
  detections.shown.on((_, { wallMs }) => shown.push(wallMs));
  const at = (wallMs: number, source: 'model' | 'onvif' = 'onvif') => ({ wallMs, source, objects: [] });
  detections.add('a', at(NOW_MS));
  // By both of its streams, as they are asked for.
  for (const time of [1_000, 1_000, 2_000, 1_000]) detections.hear('a', at(NOW_MS + time));
  detections.hear('a', at(NOW_MS + 1_000, 'model'));
  assert.deepEqual(seen, [NOW_MS]);
  assert.deepEqual(
    shown.map((wallMs) => wallMs - NOW_MS),
    [0, 1_000, 2_000, 1_000],
  );
  assert.equal(detections.between('a', NOW_MS, NOW_MS + 10_000).length, 4);
});
