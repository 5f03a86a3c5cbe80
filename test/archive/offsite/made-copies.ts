import fc from 'fast-check';
import type { Copy } from '../../../src/archive/offsite/copy.js';
import { startReasons } from '../../../src/fmp4/start-reason.js';

const count = fc.integer({ min: 0, max: 2 ** 45 });

/** Any copy there may be, of hours that often are the same. */
export const anyCopy = (boxes: readonly string[] = ['a', 'box-2.site']): fc.Arbitrary<Copy> =>
  fc
    .record({
      // Clocks that were never set are before 1970, too.
      startSec: fc.oneof(
        fc.integer({ min: -4_000_000_000, max: 4_000_000_000 }),
        fc.integer({ min: -2, max: 3 }),
      ),
      lengthSec: fc.oneof(fc.integer({ min: 1, max: 86_399 }), fc.integer({ min: 1, max: 2 })),
      stamp: fc.option(fc.record({ ino: count, mtimeMs: count, ctimeMs: count }, { noNullPrototype: true })),
      inspection: fc.record(
        {
          startMs: fc.option(count),
          endMs: fc.option(count),
          startReason: fc.option(fc.constantFrom(...startReasons)),
          seenBytes: fc.constant(0),
        },
        { noNullPrototype: true },
      ),
      sizeBytes: count,
      mark: count,
      sidecarBytes: count,
      epoch: fc.integer({ min: 0, max: 999_999_999 }),
      box: fc.constantFrom(...boxes),
      isLeaving: fc.boolean(),
    })
    .map(({ startSec, lengthSec, stamp, ...rest }) => ({
      ...rest,
      recording: { startMs: startSec * 1000, endMs: (startSec + lengthSec) * 1000 },
      stamp: stamp && { ...stamp, sizeBytes: rest.sizeBytes },
    }));

/** So many of one camera, a second each. */
export const manyCopies = (many: number, firstMs = 0): Copy[] => {
  const [one] = fc.sample(anyCopy(['a']), { numRuns: 1, seed: 1 });
  return Array.from({ length: many }, (_, at) => ({
    ...one!,
    isLeaving: false,
    recording: { startMs: firstMs + at * 1_000, endMs: firstMs + at * 1_000 + 1_000 },
  }));
};
