import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { coverageOf, type GapReason } from '../../../src/archive/list/intervals.js';
import type { Recording } from '../../../src/archive/list/recording.js';
import { Timeline } from '../../../src/archive/list/timeline.js';
import type { StartReason } from '../../../src/fmp4/start-reason.js';
import { FakeClock } from '../../support/fake-clock.js';

const stamp = { ino: 1, sizeBytes: 1, mtimeMs: 1, ctimeMs: 1 };

/** [start, end, reason] in seconds. */
type Brief = readonly [number, number, (StartReason | null)?];

const recordingsOf = (list: readonly Brief[]): Recording[] =>
  list.map(([start, end, reason = 'start'], index) => ({
    ...stamp,
    fileName: String(index),
    startMs: start * 1000,
    endMs: end * 1000,
    isOpen: false,
    startReason: reason,
    box: 'box',
    epoch: 0,
  }));

/** All in seconds, from 100 to 200. */
const cover = (list: readonly Brief[], nowSec = 1000, whyNot: GapReason | null = 'not_recording') => {
  const when = { fromMs: 100_000, toMs: 200_000, nowMs: nowSec * 1000 };
  const { intervals, gaps } = coverageOf(recordingsOf(list), when, whyNot);
  return {
    intervals: intervals.map(({ startMs, endMs }) => [startMs / 1000, endMs / 1000]),
    gaps: gaps.map(({ startMs, endMs, reason }) => [startMs / 1000, endMs / 1000, reason]),
  };
};

test('files that follow within two seconds, or overlap, are one interval', () => {
  assert.deepEqual(
    cover([
      [90, 120],
      [121.9, 150, 'rollover'],
      [140, 145],
      [152, 210, 'format'],
    ]),
    {
      intervals: [[100, 200]],
      gaps: [],
    },
  );
});

test('a gap has the reason of the file that ends it', () => {
  const list: Brief[] = [
    [110, 120, 'start'],
    [130, 140, 'camera_away'],
    [150, 160, 'disk'],
    [165, 170, 'rollover'],
    [175, 180, null],
    [300, 400, 'format'],
  ];
  assert.deepEqual(cover(list).gaps, [
    [100, 110, 'start'],
    [120, 130, 'camera_away'],
    [140, 150, 'disk'],
    [160, 165, 'deleted'],
    [170, 175, 'unknown'],
    [180, 200, 'format'],
  ]);
});

test('where no file follows, it is what is known of now; the future is no gap', () => {
  assert.deepEqual(cover([]), { intervals: [], gaps: [[100, 200, 'not_recording']] });
  assert.deepEqual(cover([], 150), { intervals: [], gaps: [[100, 150, 'not_recording']] });
  assert.deepEqual(cover([], 50), { intervals: [], gaps: [] });
  assert.deepEqual(cover([[100, 140]], 150, 'camera_away').gaps, [[140, 150, 'camera_away']]);
  assert.deepEqual(cover([[100, 140]], 149, null).gaps, [], 'not on disk yet');
  assert.deepEqual(cover([[100, 140]], 151, null).gaps, [[140, 151, 'unknown']]);
  assert.deepEqual(
    cover([[100, 160]], 150),
    { intervals: [[100, 160]], gaps: [] },
    "a camera's clock is ahead",
  );
});

test('intervals and gaps follow one another and fill all that is past, but for joints', () => {
  const brief = fc.tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 1, max: 60 }));
  fc.assert(
    fc.property(fc.array(brief, { maxLength: 12 }), (list) => {
      const sorted = list.map(([start, length]): Brief => [start, start + length]).sort(([a], [b]) => a - b);
      const { intervals, gaps } = cover(sorted);
      const all = [...intervals, ...gaps].sort((a, b) => Number(a[0]) - Number(b[0]));
      assert.equal(all[0]?.[0], 100);
      assert.equal(all.at(-1)?.[1], 200);
      for (const [index, [start, end]] of all.entries()) {
        assert.ok(Number(end) > Number(start));
        if (index > 0) assert.equal(start, all[index - 1]?.[1]);
      }
      for (let second = 100; second < 200; second += 1) {
        const isRecorded = sorted.some(([start, end]) => start <= second && second < end);
        const isShown = intervals.some(([start, end]) => start! <= second && second < end!);
        assert.ok(isShown || !isRecorded, String(second));
      }
    }),
  );
});

test('the timeline asks for the list and for now', async () => {
  const clock = new FakeClock(150_000);
  const timeline = new Timeline({
    clock,
    recordings: {
      list: async (cameraId) => (cameraId === 'door' ? recordingsOf([[100, 120]]) : []),
      broken: async () => [],
      unheard: () => [],
    },
    whyNot: () => 'camera_away',
  });
  assert.deepEqual(await timeline.intervals('door', 100_000, 200_000), {
    intervals: [{ startMs: 100_000, endMs: 120_000 }],
    gaps: [{ startMs: 120_000, endMs: 150_000, reason: 'camera_away' }],
    broken: [],
  });
});

test('of a box that may have more the timeline says so, for all that is past and nobody else shows', async () => {
  const [own, away] = recordingsOf([
    [100, 120],
    [130, 140],
  ]);
  const timeline = new Timeline({
    clock: new FakeClock(150_000),
    recordings: {
      list: async () => [
        own!,
        { ...away!, box: 'south', isAway: true },
        { ...away!, box: 'west', isAway: true },
      ],
      broken: async () => [],
      unheard: () => ['south'],
    },
    whyNot: () => null,
  });
  assert.deepEqual((await timeline.intervals('door', 110_000, 200_000)).away, [
    { box: 'south', startMs: 120_000, endMs: 130_000 },
    { box: 'south', startMs: 130_000, endMs: 140_000 },
    { box: 'south', startMs: 140_000, endMs: 150_000 },
  ]);
  assert.deepEqual((await timeline.intervals('door', 160_000, 200_000)).away, undefined);
});

test('where files follow within two seconds nothing is only elsewhere, be it at an edge of what is asked for', async () => {
  const files = recordingsOf([
    [90, 99.5],
    [101, 149],
    [150.5, 160],
  ]);
  const [away] = recordingsOf([[80, 170]]);
  const timeline = new Timeline({
    clock: new FakeClock(1_000_000),
    recordings: {
      list: async () => [{ ...away!, box: 'south', isAway: true }, ...files],
      broken: async () => [],
      unheard: () => [],
    },
    whyNot: () => null,
  });
  assert.equal((await timeline.intervals('door', 100_000, 150_000)).away, undefined);
  assert.deepEqual((await timeline.intervals('door', 100_000, 200_000)).away, [
    { box: 'south', startMs: 160_000, endMs: 170_000 },
  ]);
});

test('each moment that only a box has that is away is told once, and no other', async () => {
  const spans = fc.array(
    fc.tuple(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('own', 'south', 'west'),
    ),
    { maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(spans, async (told) => {
      const list = recordingsOf(told.map(([from, length]): Brief => [from * 10, (from + length) * 10]))
        .map((one, at): Recording => {
          const box = told[at]![2];
          return { ...one, box, ...(box !== 'own' && { isAway: true as const }) };
        })
        .sort((a, b) => a.startMs - b.startMs);
      const timeline = new Timeline({
        clock: new FakeClock(1_000_000),
        recordings: { list: async () => list, broken: async () => [], unheard: () => [] },
        whyNot: () => null,
      });
      const { away = [] } = await timeline.intervals('door', 50_000, 400_000);
      for (let atMs = 55_000; atMs < 400_000; atMs += 10_000) {
        const isOf = (isAway: boolean): boolean =>
          list.some((one) => (one.isAway === true) === isAway && one.startMs <= atMs && one.endMs > atMs);
        const toldOf = away.filter(({ startMs, endMs }) => startMs <= atMs && endMs > atMs).length;
        assert.equal(toldOf, isOf(true) && !isOf(false) ? 1 : 0, String(atMs));
      }
    }),
  );
});
