import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CameraAnalytics } from '../../src/detect/camera-analytics.js';
import { type Detection, Detections } from '../../src/detect/detections.js';
import type { DetectionRules } from '../../src/detect/what-counts.js';
import { TestCamera } from '../live/test-camera.js';

const person = { label: 'person', score: 0.9, box: [0.4, 0.4, 0.2, 0.2], trackId: '7' } as const;
const dog = { ...person, label: 'dog', trackId: '8' };

const setUp = (detection: DetectionRules = {}) => {
  const camera = new TestCamera();
  let arrivalMs = 9_000;
  camera.arrivalMs = () => arrivalMs;
  const detections = new Detections();
  const seen: { detection: Detection; keyframeMs: number | null }[] = [];
  detections.seen.on((_, detection, keyframe) => {
    seen.push({ detection, keyframeMs: keyframe?.wallMs ?? null });
  });
  const rulesOf = (cameraId: string) => (cameraId === 'gate' ? detection : null);
  const analytics = new CameraAnalytics(detections, () => camera.writer.ring, rulesOf);
  /** Frames are shown a second after they came. */
  const write = (isKey: boolean, wallMs: number): void => {
    arrivalMs = wallMs - 1_000;
    camera.write(isKey);
  };
  return { analytics, seen, write };
};

test('what a camera sees counts by its rules, under the names that it has; other cameras are none', () => {
  const { analytics, seen } = setUp({ labels: ['person'] });
  analytics.onScene('gate', 1_000, [person, dog]);
  analytics.onScene('gate', 1_200, []);
  analytics.onScene('gone', 1_200, [person]);
  assert.deepEqual(
    seen.map(({ detection }) => detection),
    [
      { wallMs: 1_000, source: 'onvif', objects: [{ ...person, zone: '' }] },
      { wallMs: 1_200, source: 'onvif', objects: [] },
    ],
  );
});

test('a keyframe goes along if it is of the same time, once', () => {
  const { analytics, seen, write } = setUp();
  const last = () => seen.at(-1)?.keyframeMs;
  analytics.onScene('gate', 10_000, [person]);
  assert.equal(last(), null, 'there is none yet');
  write(true, 10_000);
  write(false, 10_040);
  analytics.onScene('gate', 9_800, [person]);
  assert.equal(last(), null, 'too far away');
  analytics.onScene('gate', 10_100, []);
  assert.equal(last(), null, 'nothing to be seen');
  analytics.onScene('gate', 10_100, [person]);
  assert.equal(last(), 10_000);
  analytics.onScene('gate', 10_120, [person]);
  assert.equal(last(), null, 'it was taken');
  write(true, 12_000);
  analytics.onScene('gate', 11_900, [person]);
  assert.equal(last(), 12_000);
});
