import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Latencies } from '../../native-free-bench/latencies.js';
import { quantile } from '../../native-free-bench/table.js';

const times = fc.array(fc.double({ min: 0.02, max: 20_000, noNaN: true }), { minLength: 1, maxLength: 500 });

const latenciesOf = (values: readonly number[]): Latencies => {
  const latencies = new Latencies();
  for (const value of values) latencies.add(value);
  return latencies;
};

test('a quantile is within a percent of the one of the sorted values, and the maximum is exact', () => {
  fc.assert(
    fc.property(times, fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
      const latencies = latenciesOf(values);
      const exact = quantile(
        values.toSorted((a, b) => a - b),
        share,
      );
      const ratio = latencies.quantileMs(share) / exact;
      assert.ok(ratio > 0.99 && ratio < 1.01, `${latencies.quantileMs(share)} instead of ${exact}`);
      assert.equal(latencies.maxMs, Math.max(...values));
    }),
  );
});

test('what several processes counted says together what one would have counted', () => {
  fc.assert(
    fc.property(times, times, (some, others) => {
      const sent = JSON.stringify([latenciesOf(some).toCounts(), latenciesOf(others).toCounts()]);
      const together = Latencies.of(...JSON.parse(sent));
      assert.deepEqual(together.summary(), latenciesOf([...some, ...others]).summary());
    }),
  );
});

test('nothing counted is zero, and what is cleared is nothing', () => {
  const latencies = latenciesOf([5, 70_000]);
  assert.equal(latencies.quantileMs(1), latencies.quantileMs(0.99));
  latencies.clear();
  assert.deepEqual(latencies.summary(), { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 });
});
