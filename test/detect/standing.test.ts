import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Passages } from '../../src/detect/passages.js';
import type { Box } from '../../src/objects/seen-object.js';
import { FakeClock } from '../support/fake-clock.js';

type Seen = { readonly box: Box; readonly label?: string; readonly trackId?: string };
type Passage = { readonly label: string; readonly fromSec: number; toSec: number | null };

const CAR: Box = [0.3, 0.4, 0.2, 0.2];
const MINUTE = 60;

const setUp = () => {
  const clock = new FakeClock();
  const startMs = clock.wallMs();
  const told: Passage[] = [];
  const secOf = (ms: number): number => (ms - startMs) / 1_000;
  const passages = new Passages({
    clock,
    log: {
      begin: ({ label, fromMs }) => told.push({ label, fromSec: secOf(fromMs), toSec: null }) - 1,
      end: (id, _score, toMs) => {
        const passage = told[id]!;
        assert.equal(passage.toSec, null, 'it ends once');
        passage.toSec = secOf(toMs);
      },
      picture: () => {},
    },
  });
  const tick = (): void => {
    clock.advance(1_000);
    passages.tick();
  };
  return {
    clock,
    passages,
    told,
    /** Each second of so many this is in the picture. */
    see: (seconds: number, ...seen: (Seen | ((second: number) => Seen | null))[]): void => {
      for (let second = 0; second < seconds; second += 1) {
        tick();
        const objects = seen.flatMap((one) => {
          const { box, label = 'car', trackId = '' } = (typeof one === 'function' ? one(second) : one) ?? {};
          return box === undefined ? [] : { label, box, trackId, score: 0.5, zone: '' };
        });
        passages.onSeen('yard', { wallMs: clock.wallMs(), source: 'model', objects }, null);
      }
    },
    /** For so many seconds nobody looks. */
    away: (seconds: number): void => {
      for (let second = 0; second < seconds; second += 1) tick();
    },
  };
};

const moved = ([x, y, width, height]: Box, byX: number, byY = 0): Box => [x + byX, y + byY, width, height];

test('what stands is an event until it has stood for a minute, and no other while it stands there', () => {
  const { see, told, passages } = setUp();
  see(5, (second) => ({ box: moved(CAR, -0.25 + second * 0.05) }));
  see(2 * MINUTE, { box: CAR });
  assert.equal(told.length, 1);
  assert.equal(told[0]?.fromSec, 1);
  const { toSec } = told[0]!;
  assert.ok(toSec !== null && toSec >= 60 && toSec <= 70, `${toSec}`);
  see(120 * MINUTE, { box: CAR });
  passages.stop();
  assert.equal(told.length, 1);
});

test('what stood and moves again is another event, from when it moved', () => {
  const { see, told } = setUp();
  see(10 * MINUTE, { box: CAR });
  see(4, (second) => ({ box: moved(CAR, 0.1 + second * 0.1) }));
  assert.deepEqual(told[1], { label: 'car', fromSec: 601, toSec: null });
  see(20);
  assert.deepEqual(told[1], { label: 'car', fromSec: 601, toSec: 604 });
  see(2, { box: CAR });
  assert.equal(told.length, 3, 'its place is free: what comes there is new');
});

test('what moves a little for a moment, or is half hidden, stands still', () => {
  const { see, told } = setUp();
  see(2 * MINUTE, { box: CAR });
  const half: Box = [CAR[0], CAR[1], 0.11, 0.2];
  const wild: Box = [0.2, 0.3, 0.4, 0.4];
  see(10 * MINUTE, (second) => ({ box: second % 2 === 0 ? wild : CAR }));
  see(10 * MINUTE, (second) => ({ box: second % 20 < 10 ? half : CAR }));
  assert.equal(told.length, 1);
});

test('who passes by what stands is an event, and what stands is none for it', () => {
  const { see, told } = setUp();
  see(3 * MINUTE, { box: CAR });
  see(9, { box: CAR }, (second) => ({ box: moved(CAR, second * 0.05 - 0.2, 0.05), label: 'person' }));
  see(12, { box: CAR });
  // Another car beside it, while it is not seen for a moment.
  see(
    6,
    (second) => (second === 2 ? null : { box: CAR }),
    (second) => ({ box: moved(CAR, 0.3 - second * 0.1, 0.18) }),
  );
  see(12, { box: CAR });
  assert.deepEqual(
    told.map(({ label }) => label),
    ['car', 'person', 'car'],
  );
  assert.ok(told.every(({ toSec }) => toSec !== null));
});

test('it is remembered for as long as it stood, ten minutes at most, also while the camera is away', () => {
  const { see, away, told } = setUp();
  see(5 * MINUTE, { box: CAR });
  see(4 * MINUTE);
  see(MINUTE, { box: CAR });
  away(5 * MINUTE);
  see(10 * MINUTE, { box: CAR });
  away(9 * MINUTE);
  see(MINUTE, { box: CAR });
  assert.equal(told.length, 1);
  see(11 * MINUTE);
  see(2, { box: CAR });
  assert.equal(told.length, 2, 'nobody says that it is the same one');
  const shortly = setUp();
  shortly.see(70, { box: CAR });
  shortly.see(80);
  shortly.see(2, { box: CAR });
  assert.equal(shortly.told.length, 2);
});

test('what is called otherwise in its place now is what stood there', () => {
  const { see, told } = setUp();
  see(2 * MINUTE, { box: CAR });
  see(MINUTE, (second) => ({ box: CAR, label: second % 7 < 3 ? 'truck' : 'car' }));
  see(MINUTE, (second) => ({ box: CAR, trackId: String(second) }));
  assert.equal(told.length, 1);
  // Smaller, and before it.
  see(3, { box: CAR }, { box: [0.35, 0.5, 0.06, 0.1], label: 'dog' });
  assert.deepEqual(told[1]?.label, 'dog');
});

test('a hundred parked cars keep nobody from being seen', () => {
  const { see, told } = setUp();
  const parked = Array.from({ length: 99 }, (_, index): Seen => {
    return { box: [0.1 * (index % 10), 0.1 * Math.floor(index / 10), 0.08, 0.08] };
  });
  see(3 * MINUTE, ...parked);
  const before = told.length;
  see(3, ...parked, { box: [0.9, 0.9, 0.05, 0.1], label: 'person' });
  assert.deepEqual(
    told.slice(before).map(({ label }) => label),
    ['person'],
  );
  see(60 * MINUTE, ...parked);
  assert.equal(told.length, 100);
});

const jitter = fc.double({ min: -0.06, max: 0.06, noNaN: true });
const shaken = ([x, y, width, height]: Box, by: readonly number[]): Box => [
  x + by[0]! * width,
  y + by[1]! * height,
  width * (1 + by[2]!),
  height * (1 + by[3]!),
];

test('however its box shakes, and whatever is missed for a moment, what stands is one event (property)', () => {
  const look = fc.record({
    by: fc.tuple(jitter, jitter, jitter, jitter),
    isMissed: fc.boolean(),
    wild: fc.integer({ min: 0, max: 12 }),
  });
  fc.assert(
    fc.property(fc.array(look, { minLength: 150, maxLength: 300 }), (looks) => {
      const { see, told } = setUp();
      let missed = 0;
      let wasWild = false;
      see(looks.length, (second) => {
        const { by, isMissed, wild } = looks[second]!;
        missed = isMissed && second > 2 && missed < 6 ? missed + 1 : 0;
        if (missed > 0) return null;
        wasWild = wild === 0 && !wasWild && second > 2;
        return { box: wasWild ? moved(CAR, 0.12) : shaken(CAR, by) };
      });
      assert.equal(told.length, 1);
      assert.notEqual(told[0]?.toSec, null);
      assert.ok(told[0]!.toSec! <= 70, `${told[0]!.toSec}`);
    }),
    { numRuns: 30 },
  );
});

test('whatever is seen, each passage ends once and behind its beginning, and there is a bounded number of them (property)', () => {
  const box = fc.tuple(
    ...[0, 0, 0.01, 0.01].map((min) => fc.double({ min, max: 1, noNaN: true })),
  ) as fc.Arbitrary<[number, number, number, number]>;
  const seen = fc.record({
    box: fc.oneof(box, fc.constantFrom<Box>(CAR, moved(CAR, 0.05), moved(CAR, 0.3))),
    label: fc.constantFrom('car', 'person'),
    trackId: fc.constantFrom('', '', '1', '2'),
  });
  const step = fc.record({
    seconds: fc.integer({ min: 1, max: 90 }),
    objects: fc.array(seen, { maxLength: 6 }),
    pauseSec: fc.constantFrom(0, 0, 0, 11, 700),
    isClockSet: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const { see, away, clock, passages, told } = setUp();
      for (const { seconds, objects, pauseSec, isClockSet } of steps) {
        see(seconds, ...objects);
        away(pauseSec);
        if (isClockSet && pauseSec === 11) clock.setWall(clock.wallMs() - 3_600_000);
        assert.ok(passages.count <= 64);
        // Nothing has several beginnings while the same is seen again and again.
        const { length } = told;
        see(75, ...objects);
        assert.ok(told.length - length <= 2 * objects.length, `${told.length - length} of ${objects.length}`);
        const after = told.length;
        see(120, ...objects);
        assert.equal(told.length, after);
        assert.ok(told.every(({ toSec }) => toSec !== null));
      }
      passages.stop();
      for (const { fromSec, toSec } of told) assert.ok(toSec !== null && toSec >= fromSec);
      assert.equal(passages.count, 0);
    }),
    { numRuns: 30 },
  );
});
