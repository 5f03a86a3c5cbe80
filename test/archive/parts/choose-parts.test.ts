import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Candidate, chooseParts } from '../../../src/archive/parts/choose-parts.js';

const FRAME_MS = 40;

/** Frames [first, end) of each part; when they came to this box. */
type Made = Candidate & { readonly parts: readonly (readonly [first: number, end: number])[] };

const made = (
  { box, epoch, name = '' }: { box: string; epoch: number; name?: string },
  parts: Made['parts'],
  lateMs: (part: number) => number = () => 0,
): Made => {
  const wallMs = (part: number): number => parts[part]![0] * FRAME_MS + lateMs(part);
  return {
    parts,
    recording: { box, epoch, startMs: parts.length === 0 ? 0 : wallMs(0), fileName: name },
    count: parts.length,
    wallMs,
    wallEndMs: (part) => wallMs(part) + (parts[part]![1] - parts[part]![0]) * FRAME_MS,
  };
};

/** Frames in the order in which they are shown, and by which box. */
const shownOf = (all: readonly Made[]): { readonly frame: number; readonly box: string }[] =>
  chooseParts(all).flatMap(({ of, first, end }) =>
    of.parts
      .slice(first, end)
      .flatMap(([from, to]) =>
        Array.from({ length: to - from }, (_, at) => ({ frame: from + at, box: of.recording.box })),
      ),
  );

const framesOf = (all: readonly Made[]): number[] => shownOf(all).map(({ frame }) => frame);

const upTo = (end: number, from = 0): number[] => Array.from({ length: end - from }, (_, at) => from + at);

const gops = (from: number, count: number, frames = 10): [number, number][] =>
  Array.from({ length: count }, (_, at) => [from + at * frames, from + (at + 1) * frames]);

test('from where the box recorded that has the later claim its pictures are shown, and none twice', () => {
  const before = made({ box: 'north', epoch: 1 }, [...gops(0, 4), [40, 43]]);
  const after = made({ box: 'south', epoch: 2 }, gops(20, 5), () => 7);
  assert.deepEqual(framesOf([before, after]), upTo(70));
  const boxes = shownOf([before, after]).map(({ box }) => box);
  assert.deepEqual([boxes.indexOf('south'), boxes.lastIndexOf('north')], [20, 19]);
});

test('of two claims alike the lesser name counts', () => {
  const [a, b] = [made({ box: 'a', epoch: 1 }, gops(0, 3)), made({ box: 'b', epoch: 1 }, gops(0, 3))];
  assert.deepEqual(new Set(shownOf([b, a]).map(({ box }) => box)), new Set(['a']));
});

test('where the later one breaks off within a part the whole of it is shown, if another box has that', () => {
  const whole = made({ box: 'north', epoch: 1 }, gops(0, 6), () => -9);
  const broken = made({ box: 'south', epoch: 2 }, [...gops(10, 2), [30, 33]]);
  assert.deepEqual(framesOf([whole, broken]), upTo(60));
  // A frame of it alone, which came later than it lasts.
  const brief = made({ box: 'south', epoch: 2 }, [...gops(10, 2), [30, 31]], () => 45);
  assert.deepEqual(framesOf([whole, brief]), upTo(60));
});

test('where one breaks off just behind a keyframe the clocks of both may differ by more than is left of it', () => {
  for (const lateMs of [-150, 150])
    for (const frames of [1, 2, 3])
      for (const [north, south] of [
        [1, 2],
        [2, 1],
      ] as const) {
        const whole = made({ box: 'north', epoch: north }, gops(0, 6));
        const parts: Made['parts'] = [...gops(10, 2), [30, 30 + frames]];
        const broken = made({ box: 'south', epoch: south }, parts, () => lateMs);
        assert.deepEqual(framesOf([whole, broken]), upTo(60), `${lateMs} ${frames} ${north}`);
      }
});

test('what one box has twice is shown twice', () => {
  const twice = [
    made({ box: 'a', epoch: 1 }, gops(0, 3)),
    made({ box: 'a', epoch: 2, name: '2' }, gops(0, 3)),
  ];
  assert.equal(framesOf(twice).length, 60);
  const other = made({ box: 'b', epoch: 3 }, gops(10, 1));
  assert.equal(framesOf([...twice, other]).length, 50, 'but not where another box has it');
});

test('parts of boxes whose pictures are not the same ones are shown by the middle', () => {
  const north = made({ box: 'north', epoch: 1 }, gops(0, 4));
  const south = made({ box: 'south', epoch: 2 }, gops(16, 4));
  assert.deepEqual(framesOf([north, south]), [...upTo(20), ...upTo(56, 16)]);
});

/** What the camera sent: parts of some frames each. */
const sent = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 }).map((lengths) => {
  let end = 0;
  return lengths.map((length): [number, number] => {
    end += length;
    return [end - length, end];
  });
});

/** Recordings of some of that by some boxes, each from a keyframe on, which may break off anywhere. */
const recorded = sent.chain((parts) =>
  fc
    .array(
      fc.record({
        box: fc.constantFrom('a', 'b', 'c'),
        epoch: fc.integer({ min: 0, max: 4 }),
        first: fc.integer({ min: 0, max: parts.length - 1 }),
        count: fc.integer({ min: 1, max: parts.length }),
        broken: fc.integer({ min: 0, max: 59 }),
        late: fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 20, maxLength: 20 }),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((recordings) => {
      // No box has two at the same time.
      const ends = new Map<string, number>();
      return recordings
        .toSorted((a, b) => a.first - b.first)
        .flatMap(({ box, epoch, first, count, broken, late }, at) => {
          if ((ends.get(box) ?? 0) > first) return [];
          const own = parts.slice(first, first + count);
          ends.set(box, first + own.length);
          const [from, to] = own.at(-1)!;
          own[own.length - 1] = [from, Math.max(to - broken, from + 1)];
          return [made({ box, epoch, name: String(at) }, own, (part) => late[part]!)];
        });
    }),
);

test('each frame that any box has is shown, and once', () => {
  fc.assert(
    fc.property(recorded, (all) => {
      const any = new Set(all.flatMap(({ parts }) => parts.flatMap(([from, to]) => upTo(to, from))));
      assert.deepEqual(
        framesOf(all),
        [...any].sort((a, b) => a - b),
      );
    }),
    { numRuns: 2_000 },
  );
});

test('the order in which recordings are looked at changes nothing', () => {
  const shuffled = recorded.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, ([all, other]) => {
      if (new Set(all.map(({ recording }) => recording.box)).size > 1)
        assert.deepEqual(shownOf(other), shownOf(all));
    }),
  );
});

test('whatever the times are, what the highest claim has is shown, unless it broke off', () => {
  const times = fc.array(
    fc.record({
      box: fc.constantFrom('a', 'b', 'c'),
      epoch: fc.integer({ min: 0, max: 3 }),
      walls: fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 12 }),
    }),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(times, (list) => {
      const all = list.map(({ box, epoch, walls }, at) =>
        made({ box, epoch, name: String(at) }, gops(0, walls.length), (part) => walls[part]!),
      );
      const runs = chooseParts(all);
      for (const { of, first, end } of runs) assert.ok(first >= 0 && first < end && end <= of.count);
      const highest = Math.max(...list.map(({ epoch }) => epoch));
      const best = list
        .filter(({ epoch }) => epoch === highest)
        .map(({ box }) => box)
        .sort()[0];
      for (const one of all.filter(({ recording: { box, epoch } }) => box === best && epoch === highest)) {
        const shown = runs
          .filter(({ of }) => of === one)
          .reduce((sum, { first, end }) => sum + end - first, 0);
        assert.ok(shown >= one.count - 1);
      }
    }),
  );
});
