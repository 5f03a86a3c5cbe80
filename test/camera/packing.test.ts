import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseWorker, workersWanted } from '../../src/camera/packing.js';

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
  assert.equal(chooseWorker([], 2), 0);
  assert.equal(chooseWorker([1], 2), 1);
  assert.equal(chooseWorker([1, 0], 3), 1);
  assert.equal(chooseWorker([3, 2], 2), 1);
  assert.equal(chooseWorker([5, 6, 1, 1], 2), 0);
});

test('placing any number of cameras one by one never leaves two workers further apart than one camera', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 40 }), (count, perWorker) => {
      const loads: number[] = [];
      const wanted = workersWanted(count, perWorker, 2);
      for (let camera = 0; camera < count; camera++) {
        const index = chooseWorker(loads, wanted);
        loads[index] = (loads[index] ?? 0) + 1;
      }
      return (
        loads.length === wanted &&
        Math.max(...loads) - Math.min(...loads) <= 1 &&
        Math.max(...loads) <= perWorker
      );
    }),
  );
});
