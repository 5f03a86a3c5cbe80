import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fairCeiling, RingCeiling } from '../../src/ring/ceiling.js';

const MB = 1 << 20;

const takenUnder = (demands: readonly number[], ceiling: number): number =>
  demands.reduce((sum, demand) => sum + Math.min(demand, ceiling), 0);

test('large rings never take from small ones: what there is too little of is shared alike', () => {
  const demands = [...Array<number>(8).fill(64), ...Array<number>(20).fill(1)];
  const ceiling = fairCeiling(demands, 100);
  assert.equal(ceiling, 10);
  assert.equal(takenUnder(demands, ceiling), 100);
});

test('where there is enough the largest one may grow', () => {
  assert.equal(fairCeiling([1, 2, 3], 46), 13);
  assert.equal(fairCeiling([], 40), 10);
  assert.equal(fairCeiling([5], Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
});

test('property: the ceiling keeps all within the budget, and wastes none of it', () => {
  const demand = fc.integer({ min: 0, max: 1000 });
  fc.assert(
    fc.property(
      fc.array(demand, { minLength: 1, maxLength: 50 }),
      fc.integer({ min: 1, max: 20_000 }),
      (demands, budget) => {
        const ceiling = fairCeiling(demands, budget);
        const taken = takenUnder(demands, ceiling);
        const wanted = demands.reduce((sum, bytes) => sum + bytes, 0);
        assert.ok(Math.abs(taken - Math.min(wanted, budget)) < 1e-6 * budget, `${taken} of ${budget}`);
      },
    ),
  );
});

test('other threads see the ceiling, which has bounds of its own', () => {
  const ceiling = new RingCeiling();
  const elsewhere = new RingCeiling(ceiling.memory);
  assert.equal(elsewhere.bytes, 64 * MB);
  ceiling.set(10 * MB);
  assert.equal(elsewhere.bytes, 10 * MB);
  ceiling.set(5);
  assert.equal(elsewhere.bytes, MB);
  ceiling.set(Number.POSITIVE_INFINITY);
  assert.equal(elsewhere.bytes, 64 * MB);
});
