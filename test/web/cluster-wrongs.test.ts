import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster } from '../../src/web/data/types.js';
import { wrongsOf } from '../../src/web/pages/cluster/wrongs.js';

type Box = Cluster['boxes'][number];

const box = (name: string, set: Partial<Box> = {}): Box => ({
  ...{ name, state: 'here', since_sec: 900, address: '', version: '1', capacity: 1, load: 0.2, cameras: 3 },
  ...{ clock_ahead_sec: 0, s3: null, hears: ['a', 'b', 'c'].filter((other) => other !== name), ...set },
});

const cluster = (boxes: Box[], set: Partial<Cluster> = {}): Cluster => ({
  ...{ box: 'a', is_alone: false, fault: '', has_majority: true, cameras_unowned: 0, cameras_doubled: 0 },
  ...{ awaited: [], boxes, ...set },
});

const kinds = (told: Cluster): string[] => wrongsOf(told).map(({ kind }) => kind);

test('of a cluster that is well nothing is told', () => {
  const s3 = { up: true, waiting: 3, oldest_sec: 3_600 };
  assert.deepEqual(kinds(cluster([box('a', { s3 }), box('b'), box('c', { state: 'leaving' })])), []);
});

test('what is wrong is told, the worst first, of those that it is true of', () => {
  const told = cluster(
    [
      box('a', { hears: ['b'], s3: { up: false, waiting: 2, oldest_sec: 60 } }),
      box('b', { hears: ['a', 'd'], version: '2', s3: { up: true, waiting: 9, oldest_sec: 9_000 } }),
      box('c', { state: 'lost', version: '0', hears: [], since_sec: 30 }),
      box('d', { hears: ['a', 'b'], since_sec: 60 }),
      // It has just come.
      box('e', { hears: ['a', 'b', 'd'], since_sec: 1 }),
    ],
    {
      ...{ fault: 'no server answers', has_majority: false, cameras_unowned: 4, cameras_doubled: 1 },
      awaited: ['old'],
    },
  );
  assert.deepEqual(wrongsOf(told), [
    { kind: 'fault', why: 'no server answers' },
    { kind: 'majority' },
    { kind: 'lost', name: 'c', sinceSec: 30, isTaken: false },
    { kind: 'unowned', count: 4 },
    { kind: 'doubled', count: 1 },
    { kind: 'deaf', name: 'a', others: ['d'] },
    { kind: 'store', name: 'a', count: 2, sec: 60 },
    { kind: 'queue', name: 'b', count: 9, sec: 9_000 },
    { kind: 'versions', versions: ['1', '2'] },
    { kind: 'awaited', name: 'old' },
  ]);
});

test('that others record the cameras of a lost box is told only where they do', () => {
  const isTaken = (set: Partial<Cluster>) =>
    wrongsOf(cluster([box('a'), box('c', { state: 'lost' })], set)).map((wrong) =>
      wrong.kind === 'lost' ? wrong.isTaken : null,
    )[set.has_majority === false ? 1 : 0];
  assert.equal(isTaken({}), true);
  assert.equal(isTaken({ cameras_unowned: 1 }), false);
  assert.equal(isTaken({ has_majority: false }), false);
});
