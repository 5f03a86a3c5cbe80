import { test } from 'node:test';
import fc from 'fast-check';
import { type ModelOptions, RingModel } from '../support/ring-model.js';

const MAX_FRAME_BYTES = 40_000;

const sizeBytes = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 4, max: 6000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 6000, max: MAX_FRAME_BYTES + 10 }) },
);
const frame = fc
  .tuple(
    fc.array(fc.tuple(sizeBytes, fc.integer({ min: 100, max: 3000 })), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.nat({ max: 9 }),
    fc.array(fc.integer({ min: 4, max: 500 }), { maxLength: 2 }),
  )
  .map(([nals, ending, audio]) => (model: RingModel) => {
    for (const [lengthBytes, packetBytes] of nals) {
      model.nal(lengthBytes, packetBytes);
      for (const audioBytes of audio) model.audio(audioBytes);
    }
    if (ending === 9) model.abort();
    else model.commit(ending < 2);
  });
const readerIndex = fc.nat({ max: 3 });
const step = fc.oneof(
  { weight: 8, arbitrary: frame },
  { weight: 1, arbitrary: fc.constant((model: RingModel) => model.setInfo()) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('latest-key' as const, 'next' as const)
      .map((start) => (model: RingModel) => model.addReader(start)),
  },
  { weight: 1, arbitrary: readerIndex.map((index) => (model: RingModel) => model.skip(index)) },
  { weight: 3, arbitrary: readerIndex.map((index) => (model: RingModel) => model.move(index)) },
  {
    weight: 5,
    arbitrary: fc.tuple(readerIndex, fc.integer({ min: 1, max: 40 })).map(
      ([index, count]) =>
        (model: RingModel) =>
          model.read(index, count),
    ),
  },
);
const steps = fc.array(step, { minLength: 30, maxLength: 250, size: 'max' });
const wrapping = fc.record({
  firstSequence: fc.constantFrom(0, 2 ** 31 - 10, 2 ** 32 - 10),
  firstPosition: fc.constantFrom(0, 2 ** 31 - 300_000, 2 ** 32 - 300_000),
});

const fixed = { dataBytes: 262_144, maxDataBytes: 262_144, maxFrameBytes: MAX_FRAME_BYTES };
const growing = { dataBytes: 131_072, maxDataBytes: 64 << 20, maxFrameBytes: MAX_FRAME_BYTES };

const run = (options: ModelOptions, actions: ((model: RingModel) => void)[]): RingModel => {
  const model = new RingModel(options);
  model.addReader('next');
  for (const act of actions) act(model);
  for (let i = 0; i < 4; i += 1) {
    model.move(i);
    model.read(i, 1000);
  }
  return model;
};

test('a ring that stays small delivers what was written, in order, and counts what it drops', () => {
  fc.assert(
    fc.property(wrapping, fc.constantFrom(16, 512), steps, (first, slotCount, actions) => {
      run({ ...fixed, slotCount, maxSlotCount: slotCount, ...first }, actions);
    }),
    { numRuns: 60, includeErrorInReport: true },
  );
});

test('a ring that is trimmed at any time delivers what was written, in order, and counts what it drops', () => {
  const trim = fc.integer({ min: 1, max: 5 }).map((megabytes) => (model: RingModel) => {
    model.trim(megabytes << 20);
  });
  const trimmed = fc.array(fc.oneof({ weight: 20, arbitrary: step }, { weight: 1, arbitrary: trim }), {
    minLength: 100,
    maxLength: 400,
    size: 'max',
  });
  const large = { ...growing, dataBytes: 4 << 20, slotCount: 64, maxSlotCount: 1 << 14 };
  fc.assert(
    fc.property(wrapping, trimmed, (first, actions) => {
      run({ ...large, ...first }, actions);
    }),
    { numRuns: 40, includeErrorInReport: true },
  );
});

test('a ring that grows delivers the same, and always holds the newest GOP', () => {
  fc.assert(
    fc.property(wrapping, fc.constantFrom(4, 64), steps, (first, slotCount, actions) => {
      const checked = actions.flatMap((act, i) =>
        i % 10 === 0 ? [act, (model: RingModel) => model.checkNewestGop()] : [act],
      );
      run({ ...growing, slotCount, maxSlotCount: 1 << 14, ...first }, checked);
    }),
    { numRuns: 60, includeErrorInReport: true },
  );
});
