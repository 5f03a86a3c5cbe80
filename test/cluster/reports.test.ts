import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs } from '../../src/base/clock.js';
import type { BoxView } from '../../src/cluster/boxes/box-table.js';
import type { HeldRow, Report } from '../../src/cluster/owners/report.js';
import { Reports } from '../../src/cluster/owners/reports.js';
import { BEAT } from './promised-formats.js';

const { box, boot } = BEAT;
const OTHER = 'box-2';
const NOW_MS = 0 as MonotonicMs;

const row = (cameraId: string, more: Partial<HeldRow> = {}): HeldRow => ({
  ...{ cameraId, epoch: 1, isClaimed: true, isReady: true, isFailing: false, isTrial: false },
  ...{ isSilent: false, endsThreads: false, figures: [1] },
  ...more,
});

const partsOf = (seq: number, parts: readonly (readonly string[])[]): Report[] =>
  parts.map((ids, index) => ({
    ...{ box, boot, seq, part: [index, parts.length], dropped: [] },
    rows: ids.map((id) => row(id, { epoch: seq })),
  }));

const viewOf = (name: string): BoxView => {
  const { load, capacity, cameras, address, relayPort, version, store } = BEAT;
  return {
    ...{ name, boot, hears: [], isHere: true, isLeaving: false, sinceMs: NOW_MS, aheadMs: 0 },
    ...{ load, capacity, cameras, address, relayPort, version, store },
  };
};

/** By a box that hears this one and another. */
const heard = (reports: readonly Report[]): Reports => {
  const all = new Reports();
  const here = [viewOf(box), viewOf(OTHER)];
  all.see(new Map(here.map((view) => [view.name, view])), new Set([box, OTHER]));
  for (const report of reports) all.hear(report, NOW_MS);
  return all;
};

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const shown = (all: Reports) => ids.filter((id) => all.of(id).length > 0);

test('what comes in parts counts at once; what is in none of them goes with the last one', () => {
  const [first, second, third] = partsOf(2, [['a'], ['b', 'c'], ['d']]);
  const all = heard(partsOf(1, [['a', 'e']]));
  assert.equal(all.hear(first!, NOW_MS), true, 'a was claimed anew');
  assert.equal(all.hear(third!, NOW_MS), true, 'd is new');
  assert.deepEqual(shown(all), ['a', 'd', 'e']);
  assert.equal(all.hear(third!, NOW_MS), false, 'said twice');
  assert.deepEqual(shown(all), ['a', 'd', 'e']);
  assert.equal(all.hear(second!, NOW_MS), true);
  assert.deepEqual(shown(all), ['a', 'b', 'c', 'd']);
});

test('a box is known when all parts of one report were heard, and no sooner', () => {
  const [first, second] = partsOf(1, [['a'], ['b']]);
  const all = heard([first!]);
  assert.equal(all.isKnown(box, boot), false);
  assert.equal(all.hear(partsOf(2, [['a'], ['b']])[1]!, NOW_MS), true);
  assert.equal(all.isKnown(box, boot), false, 'of two reports a part each');
  assert.equal(all.hear(second!, NOW_MS), false, 'older than what was heard');
  all.hear(partsOf(2, [['a'], ['b']])[0]!, NOW_MS);
  assert.equal(all.isKnown(box, boot), true);
});

test('a report without rows says that the box has none', () => {
  assert.equal(heard([]).hear(partsOf(1, [[]])[0]!, NOW_MS), true, 'what it has is known now');
  const all = heard([...partsOf(1, [['a', 'b']]), ...partsOf(2, [[]])]);
  assert.deepEqual(shown(all), []);
  assert.equal(all.isKnown(box, boot), true);
});

test('a box that said nothing whole for 5 s is believed again when it does, and by no part or change before', () => {
  const all = heard(partsOf(1, [['a'], ['b']]));
  const ofOther = (seq: number): Report => ({ ...partsOf(seq, [['z']])[0]!, box: OTHER });
  const areReady = () => ['a', 'b'].map((id) => all.of(id)[0]?.row.isReady);
  const atMs = (sec: number) => (sec * 1_000) as MonotonicMs;
  all.hear(ofOther(1), atMs(5));
  all.doubt(atMs(5));
  assert.deepEqual(areReady(), [false, false]);
  const [first, second] = partsOf(2, [['a'], ['b']]);
  all.hear(first!, atMs(6));
  all.hear({ box, boot, seq: 2, part: null, rows: [row('b')], dropped: [] }, atMs(6));
  assert.deepEqual(areReady(), [false, false]);
  assert.equal(all.healthOf(box)?.isWorking, false);
  all.hear(second!, atMs(6));
  assert.deepEqual(areReady(), [true, true]);
  assert.equal(all.healthOf(box)?.isWorking, true);
});

test('what is kept of a row is a copy', () => {
  const [given, changed] = [row('a'), row('a', { isSilent: true })];
  const report = { box, boot, part: null, dropped: [] };
  const all = heard([{ ...report, seq: 1, rows: [given] }]);
  assert.notEqual(all.of('a')[0]?.row, given);
  all.hear({ ...report, seq: 2, rows: [changed] }, NOW_MS);
  assert.notEqual(all.of('a')[0]?.row, changed);
  assert.deepEqual(all.of('a')[0]?.row, changed);
});

test('figures alone are no news, and what changes without them keeps those of before', () => {
  const all = heard(partsOf(1, [['a']]));
  const change = { box, boot, part: null, dropped: [] };
  assert.equal(all.hear({ ...change, seq: 2, rows: [row('a', { figures: [2] })] }, NOW_MS), false);
  assert.deepEqual(all.of('a')[0]?.row.figures, [2]);
  const silent = row('a', { isSilent: true, figures: null });
  assert.equal(all.hear({ ...change, seq: 3, rows: [silent] }, NOW_MS), true);
  assert.deepEqual(all.of('a')[0]?.row, { ...silent, figures: [2] });
});

test('whatever parts are lost before, and in whatever order they come, in the end there is what the last whole report said', () => {
  const split = fc
    .tuple(fc.subarray(ids), fc.array(fc.nat({ max: 8 }), { maxLength: 3 }))
    .map(([some, cuts]) => {
      const ends = [...cuts, 8].sort((a, b) => a - b);
      return ends.map((end, at) => some.slice(at === 0 ? 0 : ends[at - 1], end));
    });
  const orders = fc.infiniteStream(fc.nat());
  fc.assert(
    fc.property(fc.array(split, { minLength: 1, maxLength: 4 }), orders, (said, order) => {
      const all = new Map(said.map((parts, at) => [at, partsOf(at + 1, parts)]));
      const shuffled = [...all.values()].map((parts, at) =>
        parts
          .filter(() => at === said.length - 1 || order.next().value % 4 > 0)
          .map((part) => [order.next().value, part] as const)
          .sort(([a], [b]) => a - b)
          .map(([, part]) => part),
      );
      const reports = heard(shuffled.flat());
      const last = said.at(-1)!.flat();
      assert.deepEqual(
        shown(reports),
        ids.filter((id) => last.includes(id)),
      );
      for (const id of last) assert.equal(reports.of(id)[0]?.row.epoch, said.length);
    }),
    { numRuns: 500 },
  );
});

test('a report that was under way when its box was doubted makes nobody believe it', () => {
  const all = heard(partsOf(1, [['a'], ['b']]));
  const atMs = (sec: number) => (sec * 1_000) as MonotonicMs;
  const [first, second] = partsOf(2, [['a'], ['b']]);
  all.hear(first!, atMs(5));
  all.hear({ ...partsOf(1, [['z']])[0]!, box: OTHER }, atMs(5));
  all.doubt(atMs(5));
  all.hear(second!, atMs(5));
  const areReady = () => ['a', 'b'].map((id) => all.of(id)[0]?.row.isReady);
  assert.deepEqual(areReady(), [false, false]);
  for (const part of partsOf(3, [['a'], ['b']])) all.hear(part, atMs(6));
  assert.deepEqual(areReady(), [true, true]);
});
