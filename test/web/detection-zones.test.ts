import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { detectionSchema } from '../../src/http/detection-schema.js';
import {
  type Detection,
  faultsOf,
  fractionOf,
  labelsOf,
  newZone,
  percentOf,
  pointAt,
  withCorner,
  withoutCorner,
  withPoint,
  withRules,
} from '../../src/web/pages/cameras/edit/detection/zones.js';

const name = fc.oneof(fc.constantFrom('', 'a', 'b'), fc.string({ maxLength: 70 }));
const corner = fc
  .tuple(fc.double({ noNaN: true }), fc.double({ noNaN: true }))
  .map(([x, y]) => pointAt(x, y));
const zone = fc.record({
  name,
  kind: fc.constantFrom('include' as const, 'exclude' as const),
  points: fc.array(corner, { minLength: 3, maxLength: 64 }),
});
const limit = fc.option(fc.double({ min: -0.5, max: 1.5, noNaN: true }), { nil: undefined });

test('the form finds wrong what the service would refuse, and nothing else', () => {
  const rules = fc.record({
    labels: fc.array(fc.string({ minLength: 1, maxLength: 66 }), { maxLength: 102 }),
    min_score: limit,
    min_size: limit,
    zones: fc.array(zone, { maxLength: 16 }),
  });
  fc.assert(
    fc.property(rules, (given) => {
      const detection = withRules({}, given as Detection);
      const { success, error } = detectionSchema.safeParse(detection);
      assert.equal(faultsOf(detection).size === 0, success, JSON.stringify(error?.issues));
    }),
  );
});

test('zones are moved, and get and lose corners, within the picture and what the service takes', () => {
  const first = newZone([], 'include', (nth) => `Zone ${nth}`);
  assert.equal(newZone([{ ...first, name: 'Zone 2' }], 'exclude', (nth) => `Zone ${nth}`).name, 'Zone 3');
  const steps = fc.array(fc.tuple(fc.constantFrom('add', 'take', 'move'), fc.nat(), corner), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, (all) => {
      let now = first;
      for (const [does, at, point] of all) {
        const nth = at % now.points.length;
        if (does === 'add') now = withCorner(now, nth);
        else now = does === 'take' ? withoutCorner(now, nth) : withPoint(now, nth, point);
      }
      assert.ok(detectionSchema.safeParse({ zones: [now] }).success);
    }),
  );
});

test('what is empty is as nobody had said it, and percents are read as they are written', () => {
  assert.deepEqual(withRules({ labels: ['a'], min_score: 0.5 }, { labels: [], min_score: undefined }), {});
  assert.deepEqual(labelsOf(' person, car,,person ,'), ['person', 'car']);
  assert.deepEqual(['', ' ', 'x', '50', '0,5', '150'].map(fractionOf), [
    ...[undefined, undefined, undefined, 0.5, 0.005, 1.5],
  ]);
  assert.deepEqual([undefined, 0.5, 0.005, 0.1234].map(percentOf), ['', '50', '0.5', '12.34']);
});
