import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { endOf, type View, xOf } from '../../src/web/archive/tape/axis.js';
import { eachBar, eachMark } from '../../src/web/archive/tape/bars.js';
import type { Buckets } from '../../src/web/archive/tape/lane.js';

const WIDTH_PX = 200;
/** Sums of fractions. */
const NEARLY_PX = 1e-6;
const anyBuckets: fc.Arbitrary<Buckets> = fc.record({
  fromMs: fc.integer({ min: 0, max: 100_000 }),
  bucketMs: fc.integer({ min: 1, max: 3_000 }),
  values: fc.array(fc.constantFrom(0, 0, 0, 1, 90, 255), { maxLength: 600 }),
});
const anyView: fc.Arbitrary<View> = fc.record({
  fromMs: fc.integer({ min: 0, max: 120_000 }),
  spanMs: fc.integer({ min: 2_000, max: 600_000 }),
});

type Seen = { readonly value: number; readonly x: number };
const seenIn = ({ fromMs, bucketMs, values }: Buckets, view: View): Seen[] =>
  values.flatMap((value, at) => {
    const startMs = fromMs + at * bucketMs;
    const isSeen = value > 0 && startMs + bucketMs > view.fromMs && startMs < endOf(view);
    return isSeen ? [{ value, x: xOf(view, startMs, WIDTH_PX) }] : [];
  });

test('each bucket that holds something lies in a bar that is as high, and no pixel has two bars', () => {
  fc.assert(
    fc.property(anyBuckets, anyView, (buckets, view) => {
      const bars: { value: number; x: number; width: number }[] = [];
      eachBar([buckets], view, WIDTH_PX, (value, x, width) => bars.push({ value, x, width }));
      const seen = seenIn(buckets, view);
      for (const { value, x } of seen)
        assert.ok(
          bars.some(
            (bar) => bar.value >= value && x >= bar.x - NEARLY_PX && x <= bar.x + bar.width + NEARLY_PX,
          ),
          `nothing at ${x}`,
        );
      const pixels = bars.map(({ x }) => Math.floor(x));
      assert.equal(new Set(pixels).size, pixels.length);
      for (const bar of bars) assert.ok(seen.length > 0 && bar.value > 0);
    }),
    { numRuns: 300 },
  );
});

test('marks cover what there was, are seen, and do not touch', () => {
  fc.assert(
    fc.property(anyBuckets, anyView, (buckets, view) => {
      const marks: { x: number; endX: number }[] = [];
      eachMark([buckets], view, WIDTH_PX, (x, width) => marks.push({ x, endX: x + width }));
      for (const { x } of seenIn(buckets, view))
        assert.ok(
          marks.some((mark) => x >= mark.x - NEARLY_PX && x <= mark.endX + NEARLY_PX),
          `nothing at ${x}`,
        );
      for (const [nth, mark] of marks.entries()) {
        assert.ok(mark.endX - mark.x >= 3 - NEARLY_PX);
        assert.ok(mark.x > (marks[nth - 1]?.endX ?? Number.NEGATIVE_INFINITY));
      }
    }),
    {
      numRuns: 300,
      // Neighbours that a fraction of a pixel parts by rounding alone.
      examples: [
        [
          { fromMs: 0, bucketMs: 2_185, values: [0, 0, 0, 0, 0, 255, 255, 1] },
          { fromMs: 12_401, spanMs: 144_721 },
        ],
      ],
    },
  );
});

test('a busy day is few marks', () => {
  const values = Array.from({ length: 2_880 }, (_, at) => (at < 1_440 ? 1 : 0));
  const day: Buckets = { fromMs: 0, bucketMs: 30_000, values };
  const marks: number[][] = [];
  eachMark([day], { fromMs: 0, spanMs: 86_400_000 }, 1_440, (x, width) => marks.push([x, width]));
  assert.deepEqual(marks, [[0, 722]]);
});
