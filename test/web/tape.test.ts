import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bounded, pinched, timeAt, type View, xOf, zoomed } from '../../src/web/archive/tape/axis.js';
import {
  boxAway,
  EMPTY_LANE,
  joinLanes,
  type Lane,
  skipTo,
  stateAt,
  withAway,
} from '../../src/web/archive/tape/lane.js';
import { between, isEmpty, spanOf, withEnd, withStart } from '../../src/web/archive/tape/selection.js';
import { stepOf, ticksOf, tickTimes } from '../../src/web/archive/tape/ticks.js';
import { Zone } from '../../src/web/archive/tape/zone.js';
import { addDays } from '../../src/web/data/zones.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const berlin = new Zone('Europe/Berlin');
const zoneNames = [
  ...['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'UTC'],
  // Clocks skip midnight; the day line; a summer of minus one hour.
  ...['Africa/Cairo', 'America/Havana', 'Pacific/Apia', 'Pacific/Kiritimati', 'Europe/Dublin'],
];
const anyZone = fc.constantFrom(...zoneNames).map((name) => new Zone(name));
const anyMoment = fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2035, 0, 1) });

test('days have 25 and 23 hours where clocks are set', () => {
  const hours = (day: string): number => {
    const { fromMs, toMs } = berlin.boundsOf(day);
    return (toMs - fromMs) / HOUR_MS;
  };
  assert.deepEqual(['2026-10-25', '2026-03-29', '2026-03-30'].map(hours), [25, 23, 24]);
  assert.equal(berlin.startOfDay('2026-10-25'), Date.parse('2026-10-24T22:00:00Z'));
  // Cairo has no midnight on that day: it begins at 01:00.
  const cairo = new Zone('Africa/Cairo');
  assert.equal(cairo.clock(cairo.startOfDay('2026-04-24')), '01:00:00');
});

test('each moment lies in the bounds of its own day, and days follow one another', () => {
  fc.assert(
    fc.property(anyZone, anyMoment, (zone, timeMs) => {
      const day = zone.dayOf(timeMs);
      const { fromMs, toMs } = zone.boundsOf(day);
      assert.ok(fromMs <= timeMs && timeMs < toMs, `${zone.name} ${day}`);
      assert.equal(zone.boundsOf(addDays(day, 1)).fromMs, toMs);
      assert.notEqual(zone.dayOf(fromMs - 1), day);
    }),
    { numRuns: 300 },
  );
});

test('what clocks show leads back to the moment, or to the other one that shows the same', () => {
  fc.assert(
    fc.property(anyZone, anyMoment, (zone, timeMs) => {
      const backMs = zone.momentOf(zone.dayOf(timeMs), zone.sinceMidnightMs(timeMs));
      assert.equal(backMs === timeMs || zone.isTwice(timeMs), true);
      assert.equal(zone.clock(backMs, { withOffset: false }), zone.clock(timeMs, { withOffset: false }));
    }),
    { numRuns: 300 },
  );
});

test('02:00 stands twice on the axis of a 25 h day, with offsets, and not at all on one of 23 h', () => {
  const labelsOf = (day: string): string[] => {
    const { fromMs, toMs } = berlin.boundsOf(day);
    const ticks = ticksOf({ fromMs, spanMs: toMs - fromMs }, 3_000, berlin);
    return ticks.filter(({ label }) => label.startsWith('02:')).map((tick) => `${tick.label} ${tick.offset}`);
  };
  assert.deepEqual(labelsOf('2026-10-25'), ['02:00 +02:00', '02:00 +01:00']);
  assert.deepEqual(labelsOf('2026-03-29'), []);
  assert.deepEqual(labelsOf('2026-03-30'), ['02:00 ']);
  assert.equal(berlin.clock(Date.parse('2026-10-25T01:14:07Z')), '02:14:07 +01:00');
});

const anyView = fc.record({
  fromMs: anyMoment,
  spanMs: fc.integer({ min: 2_000, max: 31 * DAY_MS }),
});

test('ticks are where clocks show round times, in order, as many as have room', () => {
  fc.assert(
    fc.property(anyZone, anyView, fc.integer({ min: 200, max: 3_000 }), (zone, view, widthPx) => {
      const stepMs = stepOf(view, widthPx);
      const times = tickTimes(view, stepMs, zone);
      assert.ok(times.length <= (widthPx / 64) * 1.2 + 3, `${times.length} of ${widthPx} px`);
      for (const [index, timeMs] of times.entries()) {
        assert.equal(zone.sinceMidnightMs(timeMs) % Math.min(stepMs, DAY_MS), 0);
        assert.ok(index === 0 || times[index - 1]! < timeMs);
      }
    }),
    { numRuns: 150 },
  );
});

test('zooming keeps what is under the pointer where it is; fingers stay on what they touched', () => {
  const near = (a: number, b: number, view: View): void =>
    assert.ok(Math.abs(a - b) <= view.spanMs * 1e-6 + 1, `${a} ${b}`);
  fc.assert(
    fc.property(
      anyView,
      fc.double({ min: 0.2, max: 5, noNaN: true }),
      fc.nat(1_000),
      fc.nat(1_000),
      (view, factor, x, y) => {
        const anchorMs = timeAt(view, x, 1_000);
        const after = zoomed(view, factor, anchorMs);
        near(timeAt(after, x, 1_000), anchorMs, after);
        near(xOf(view, anchorMs, 1_000), x, { fromMs: 0, spanMs: 1e6 });
        if (Math.abs(x - y) < 10) return;
        const moved = pinched(view, [x, y], [x + 7, y + 7], 1_000);
        near(timeAt(moved, x + 7, 1_000), timeAt(view, x, 1_000), moved);
        near(timeAt(moved, y + 7, 1_000), timeAt(view, y, 1_000), moved);
      },
    ),
    { numRuns: 200 },
  );
  const view = bounded({ fromMs: Date.UTC(2030, 0, 1), spanMs: DAY_MS }, Date.UTC(2026, 0, 1));
  assert.equal(view.fromMs + view.spanMs, Date.UTC(2026, 0, 1) + DAY_MS / 10);
});

const laneOf = (lane: Partial<Lane>): Lane => ({ ...EMPTY_LANE, ...lane });

test('what several answers cut is whole again, and each moment is recorded, missing, or not known', () => {
  const lane = joinLanes([
    laneOf({ recorded: [[0, 10]], gaps: [[10, 20, 'disk']] }),
    laneOf({ recorded: [[25, 30]], gaps: [[20, 25, 'disk']] }),
    laneOf({ recorded: [[30, 40]] }),
  ]);
  assert.deepEqual(lane.recorded, [
    [0, 10],
    [25, 40],
  ]);
  assert.deepEqual(lane.gaps, [[10, 25, 'disk']]);
  assert.deepEqual(
    [0, 9, 10, 24, 25, 39, 40].map((timeMs) => stateAt(lane, timeMs).kind),
    ['recorded', 'recorded', 'gap', 'gap', 'recorded', 'recorded', 'unknown'],
  );
});

test('play skips what no camera has, and nothing else', () => {
  const a = laneOf({
    recorded: [
      [0, 10],
      [30, 40],
    ],
    gaps: [[10, 30, 'disk']],
  });
  const b = laneOf({
    recorded: [
      [0, 15],
      [28, 40],
    ],
    gaps: [
      [15, 20, 'disk'],
      [20, 28, 'start'],
    ],
  });
  assert.equal(skipTo([a, b], 12), null);
  assert.equal(skipTo([a, b], 16), 28);
  assert.equal(skipTo([a, b], 25, true), 14);
  // What isn't known is waited for.
  assert.equal(skipTo([a, b], 50), null);
  assert.equal(skipTo([a, EMPTY_LANE], 20), null);
  assert.equal(skipTo([], 5, true), null);
});

test('a selection has its ends in order, whichever was set first', () => {
  const moment = fc.integer({ min: 0, max: 100 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), moment)), moment, moment, (steps, a, b) => {
      const last = steps.reduce((before, [isStart, at]) => (isStart ? withStart : withEnd)(before, at), {
        ...between(a, b),
      });
      const span = spanOf(last);
      assert.ok(span === null || span[0] < span[1]);
    }),
  );
});

test('nothing was recorded only of a time that is known to be gaps from end to end', () => {
  const lane: Lane = {
    ...EMPTY_LANE,
    recorded: [[0, 10]],
    gaps: [
      [10, 20, 'disk'],
      [20, 30, 'camera_away'],
    ],
  };
  assert.deepEqual(
    [
      [12, 28],
      [9, 28],
      [12, 31],
      [40, 50],
    ].map(([from, to]) => isEmpty(lane, [from!, to!])),
    [true, false, false, false],
  );
  assert.equal(isEmpty(EMPTY_LANE, [0, 10]), false, 'not known yet');
});

test('what a box has that is away, or may have, is passed by like a gap, and says whose it is', () => {
  const told = { recorded: [[0, 100] as const, [120, 200] as const], gaps: [[100, 120, 'disk'] as const] };
  const away = [[30, 60, 'north'] as const, [90, 110, 'south'] as const];
  const lane: Lane = { ...EMPTY_LANE, ...withAway(told, away) };
  assert.deepEqual(lane.recorded, [
    [0, 30],
    [60, 90],
    [120, 200],
  ]);
  assert.equal(skipTo([lane], 40), 60);
  assert.equal(skipTo([lane], 95), 120);
  const at = (timeMs: number) => {
    const state = stateAt(lane, timeMs);
    return state.kind === 'gap' ? (boxAway(state.reason) ?? state.reason) : state.kind;
  };
  assert.deepEqual([40, 95, 105, 115].map(at), [
    { box: 'north', isSure: true },
    { box: 'south', isSure: true },
    { box: 'south', isSure: false },
    'disk',
  ]);
  assert.deepEqual(withAway(told, []), told);
});

test('what is away is taken out of what is recorded, whatever lies over what', () => {
  const spans = fc
    .uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 12 })
    .map((times) => times.sort((a, b) => a - b))
    .map((times) =>
      Array.from({ length: times.length >> 1 }, (_, n) => [times[2 * n]!, times[2 * n + 1]!] as const),
    );
  fc.assert(
    fc.property(spans, spans, (recorded, gone) => {
      const away = gone.map(([fromMs, toMs]) => [fromMs, toMs, 'north'] as const);
      const lane: Lane = { ...EMPTY_LANE, ...withAway({ recorded, gaps: [] }, away) };
      const isIn = (all: readonly (readonly [number, number, ...unknown[]])[], at: number): boolean =>
        all.some(([fromMs, toMs]) => at >= fromMs && at < toMs);
      for (let at = 0; at < 60; at += 1)
        assert.equal(isIn(lane.recorded, at), isIn(recorded, at) && !isIn(gone, at), String(at));
    }),
  );
});
