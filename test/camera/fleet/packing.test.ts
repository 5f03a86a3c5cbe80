import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  chooseWorker,
  isWorthMoving,
  type ThreadLoad,
  type Wish,
  workersWanted,
} from '../../../src/camera/fleet/packing.js';

const load = (cameras: number, changes: Partial<ThreadLoad> = {}): ThreadLoad => ({
  cameras,
  watched: 0,
  measured: null,
  ...changes,
});

const wish = (wanted: number, isWatched = false, mostCameras = Number.POSITIVE_INFINITY): Wish => ({
  wanted,
  isWatched,
  mostCameras,
});

const loadsOf = (...cameras: number[]): ThreadLoad[] => cameras.map((count) => load(count));

test('auto gives few cameras a thread each and packs many, into as many threads as cores at most', () => {
  assert.equal(workersWanted(1, 'auto', 2), 1);
  assert.equal(workersWanted(8, 'auto', 2), 8);
  assert.equal(workersWanted(9, 'auto', 2), 1);
  assert.equal(workersWanted(128, 'auto', 2), 1);
  assert.equal(workersWanted(129, 'auto', 2), 2);
  assert.equal(workersWanted(400, 'auto', 2), 2);
  assert.equal(workersWanted(400, 'auto', 16), 4);
});

test('a number packs that many', () => {
  assert.equal(workersWanted(10, 4, 2), 3);
  assert.equal(workersWanted(0, 4, 2), 0);
});

test('cameras spread evenly, and a running empty worker is used before a new one is started', () => {
  assert.equal(chooseWorker(loadsOf(), wish(2)), 0);
  assert.equal(chooseWorker(loadsOf(1), wish(2)), 1);
  assert.equal(chooseWorker(loadsOf(1, 0), wish(3)), 1);
  assert.equal(chooseWorker(loadsOf(3, 2), wish(2)), 1);
  assert.equal(chooseWorker(loadsOf(5, 6, 1, 1), wish(2)), 0);
});

test('placing any number of cameras one by one never leaves two workers further apart than one camera', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 40 }), (count, perWorker) => {
      const counts: number[] = [];
      const wanted = workersWanted(count, perWorker, 2);
      for (let camera = 0; camera < count; camera++) {
        const index = chooseWorker(loadsOf(...counts), wish(wanted));
        counts[index] = (counts[index] ?? 0) + 1;
      }
      return (
        counts.length === wanted &&
        Math.max(...counts) - Math.min(...counts) <= 1 &&
        Math.max(...counts) <= perWorker
      );
    }),
  );
});

test('threads that are nearly full make it more, up to the cores', () => {
  assert.equal(workersWanted(60, 'auto', 4, 0.5), 1);
  assert.equal(workersWanted(60, 'auto', 4, 0.8), 2);
  assert.equal(workersWanted(60, 'auto', 4, 9), 4);
  assert.equal(workersWanted(300, 'auto', 4, 0.2), 3);
  assert.equal(workersWanted(8, 'auto', 4, 3), 8);
  assert.equal(workersWanted(10, 5, 4, 9), 2, 'whoever names a number means it');
});

test('a thread whose cameras cost more gets fewer, and what was not measured yet counts as the others', () => {
  const heavy = load(10, { measured: { cpuShare: 0.6, cameras: 10 } });
  const light = load(14, { measured: { cpuShare: 0.2, cameras: 14 } });
  assert.equal(chooseWorker([heavy, light], wish(2)), 1);
  assert.equal(chooseWorker([heavy, load(30)], wish(2)), 0);
  const crowded = load(40, { measured: { cpuShare: 0.1, cameras: 10 } });
  assert.equal(
    chooseWorker([crowded, load(12, { measured: { cpuShare: 0.12, cameras: 12 } })], wish(2)),
    1,
    'newcomers count',
  );
});

test('watched cameras keep together, as far as threads stay about as loaded', () => {
  const some = load(100, { watched: 3 });
  const none = load(100);
  assert.equal(chooseWorker([none, some], wish(2, true)), 1);
  assert.equal(chooseWorker([some, none], wish(2, false)), 1);
  assert.equal(chooseWorker([load(60), some], wish(2, true)), 0, 'not at any price');
  assert.equal(chooseWorker([some, load(140)], wish(2, false)), 0);
});

test('a camera that is away moves where that is worth it, and never back and forth', () => {
  const some = load(100, { watched: 3 });
  assert.equal(isWorthMoving([load(99), some], 0, wish(2, true)), true);
  assert.equal(isWorthMoving([load(100), some], 1, wish(2, true)), false);
  assert.equal(isWorthMoving([load(100), load(100, { watched: 2 })], 1, wish(2, false)), true);
  assert.equal(isWorthMoving([load(92), load(108)], 1, wish(2, false)), false);
  assert.equal(isWorthMoving([load(10), load(110)], 1, wish(2, false)), true);
  assert.equal(isWorthMoving([load(10), load(10)], 1, wish(1, false)), true, 'its thread is one too many');
  const threads = fc.array(
    fc.record({ cameras: fc.integer({ min: 0, max: 200 }), watched: fc.nat({ max: 5 }) }),
    {
      minLength: 2,
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(threads, fc.boolean(), (made, isWatched) => {
      const loads = made.map(({ cameras, watched }) =>
        load(cameras, { watched: Math.min(cameras, watched) }),
      );
      const best = chooseWorker(loads, wish(loads.length, isWatched));
      assert.equal(isWorthMoving(loads, best, wish(loads.length, isWatched)), false);
    }),
  );
});

test('a thread that has as many cameras as it may gets no more, whatever the others do', () => {
  const idle = load(4, { watched: 4, measured: { cpuShare: 0.01, cameras: 4 } });
  const busy = load(3, { measured: { cpuShare: 0.9, cameras: 3 } });
  assert.equal(chooseWorker([idle, busy], wish(2, true, 4)), 1);
  assert.equal(isWorthMoving([idle, busy], 1, wish(2, true, 4)), false);
});
