import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayNames } from '../../src/detect/schedule.js';
import { detectionSchema } from '../../src/http/detection-schema.js';
import {
  endOf,
  type Hours,
  MAX_HOURS,
  newHours,
  shownEnd,
  withDay,
} from '../../src/web/pages/cameras/edit/detection/schedule.js';
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
const time = fc.oneof(
  fc.constantFrom('00:00', '24:00', '', '8:00', '23:59', '24:01', '12:60', '08:00\n', '08:00:00'),
  fc
    .tuple(fc.nat(24), fc.nat(60))
    .map((parts) => parts.map((each) => String(each).padStart(2, '0')).join(':')),
);
const hours = fc.record({ days: fc.subarray([...dayNames]), from: time, to: time });
const limit = fc.option(fc.double({ min: -0.5, max: 1.5, noNaN: true }), { nil: undefined });

test('the form finds wrong what the service would refuse, and nothing else', () => {
  const rules = fc.record({
    labels: fc.array(fc.string({ minLength: 1, maxLength: 66 }), { maxLength: 102 }),
    min_score: limit,
    min_size: limit,
    zones: fc.array(zone, { maxLength: 16 }),
    schedule: fc.array(hours, { maxLength: MAX_HOURS }),
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

test('hours are of the days that are pressed, in their order, and end at midnight where 00:00 is written', () => {
  const steps = fc.array(fc.constantFrom(...dayNames), { maxLength: 30 });
  fc.assert(
    fc.property(steps, (pressed) => {
      const last = pressed.reduce<Hours>(withDay, newHours());
      const isOn = (day: string): boolean => pressed.filter((each) => each === day).length % 2 === 0;
      assert.deepEqual([...last.days].sort(), dayNames.filter(isOn).sort());
      assert.equal(detectionSchema.safeParse({ schedule: [last] }).success, last.days.length > 0);
    }),
  );
  assert.deepEqual(withDay(withDay(newHours(), 'mon'), 'mon'), newHours(), 'as it was');
  const whole = { ...newHours(), from: '00:00', to: endOf('00:00') };
  assert.deepEqual([shownEnd(whole.to), faultsOf({ schedule: [whole] }).size], ['00:00', 0]);
  const faults = [
    { days: [], from: '', to: '' },
    { days: ['mon' as const], from: '08:00', to: '08:00' },
  ];
  assert.deepEqual(
    [...faultsOf({ schedule: faults })].map(([path, fault]) => `${path}: ${fault}`),
    [
      'detection.schedule[0].days: no_days',
      'detection.schedule[0].to: no_time',
      'detection.schedule[0].from: no_time',
      'detection.schedule[1].to: same_time',
    ],
  );
});
