import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DecodeOrder } from '../../src/codec/decode-order.js';

const FRAME = 3600;
const start = 900_000;

/** Display positions in decode order, of one little GOP that follows the one before. */
const patterns = [[0], [1, 0], [2, 0, 1], [3, 1, 0, 2], [7, 3, 1, 0, 2, 5, 4, 6], [0, 3, 1, 2]];

const streamOf = (pattern: readonly number[], repeats: number, frameTicks = FRAME): number[] =>
  Array.from({ length: repeats }, (_, gop) =>
    pattern.map((position) => start + (gop * pattern.length + position) * frameTicks),
  ).flat();

/** The most frames that any frame has before it in decode order and behind it on the screen. */
const depthOf = (pts: readonly number[]): number =>
  Math.max(...pts.map((time, index) => pts.slice(0, index).filter((other) => other > time).length));

const assertRising = (dts: readonly number[]): void => {
  for (let index = 1; index < dts.length; index += 1) assert.ok(dts[index]! > dts[index - 1]!, `${index}`);
};

test('without reordering the decode time is the presentation time', () => {
  const order = new DecodeOrder(null);
  const pts = streamOf([0], 50);
  assert.deepEqual(
    pts.map((time) => order.place(time)),
    pts,
  );
  assert.equal(order.depth, 0);
  assert.equal(order.hasReordering, false);
});

test('with the depth of the SPS every decode time is right from the first frame on', () => {
  const order = new DecodeOrder(1, FRAME);
  const pts = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8].map((position) => start + position * FRAME);
  assert.deepEqual(
    pts.map((time) => (order.place(time) - start) / FRAME),
    [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8],
  );
});

for (const pattern of patterns) {
  test(`pattern ${pattern.join(' ')}: told the depth`, () => {
    const pts = streamOf(pattern, 12);
    const depth = depthOf(pts);
    const order = new DecodeOrder(depth, FRAME);
    const dts = pts.map((time) => order.place(time));
    assertRising(dts);
    // Frames that are shown before the very first one can't be helped: nothing was known of them.
    const settled = pattern.length;
    for (const [index, time] of pts.entries()) {
      if (index >= settled) assert.ok(dts[index]! <= time, `frame ${index}: ${dts[index]} > ${time}`);
    }
    assert.equal(order.depth, depth);
    assert.equal(order.hasReordering, depth > 0);
  });

  test(`pattern ${pattern.join(' ')}: learns the depth`, () => {
    const pts = streamOf(pattern, 12);
    const order = new DecodeOrder(0, FRAME);
    const dts = pts.map((time) => order.place(time));
    assertRising(dts);
    assert.equal(order.depth, depthOf(pts));
    for (const [index, time] of pts.entries()) {
      if (index >= pattern.length * 4) assert.ok(dts[index]! <= time, `frame ${index}`);
    }
    const next = new DecodeOrder(order.depth, FRAME);
    assertRising(pts.map((time) => next.place(time)));
  });
}

test('the first decode times are a frame apart, whatever the rate', () => {
  const order = new DecodeOrder(2, 18_000);
  const pts = streamOf([3, 1, 0, 2], 4, 18_000);
  pts.unshift(start - 18_000);
  const dts = pts.map((time) => order.place(time));
  assertRising(dts);
  assert.deepEqual(dts.slice(0, 3), [start - 54_000, start - 36_000, start - 18_000]);
});

test('a clock set back a little is no B-frame stream, and set back a lot teaches no depth', () => {
  const order = new DecodeOrder(0, FRAME);
  const pts = [...streamOf([0], 60), ...streamOf([0], 60).map((time) => time - FRAME * 1000)];
  assertRising(pts.map((time) => order.place(time)));
  assert.ok(order.depth < 16);
  const slightly = new DecodeOrder(0, FRAME);
  const slewed = [...streamOf([0], 60), ...streamOf([0], 60).map((time) => time + FRAME * 57)];
  assertRising(slewed.map((time) => slightly.place(time)));
  assert.equal(slightly.hasReordering, false);
});

test('reset starts anywhere, with the depth that it is given', () => {
  const order = new DecodeOrder(0, FRAME);
  order.place(start);
  order.reset(2);
  assert.equal(order.depth, 2);
  assert.equal(order.place(1000), 1000 - 2 * FRAME);
});

test('a restart keeps what was learned', () => {
  const order = new DecodeOrder(0, FRAME);
  for (const time of streamOf([2, 0, 1], 12)) order.place(time);
  order.restart();
  assert.equal(order.depth, 1);
  assert.equal(order.hasReordering, true);
  assert.equal(order.place(1000), 1000 - FRAME);
});

test('an SPS in mid-stream deepens the order and never makes it shallower', () => {
  const order = new DecodeOrder(1, FRAME);
  const dts = streamOf([0], 10).map((time) => order.place(time));
  order.expect(3);
  assert.equal(order.depth, 3);
  order.expect(null);
  order.expect(2);
  assert.equal(order.depth, 3);
  const rest = streamOf([0], 30).slice(10);
  dts.push(...rest.map((time) => order.place(time)));
  assertRising(dts);
  assert.equal(dts.at(-1), rest.at(-1)! - 3 * FRAME);
});

test('property: decode times rise strictly for any times and any depth', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -1_000_000, max: 1_000_000 }), { maxLength: 200 }),
      fc.integer({ min: -3, max: 40 }),
      (pts, depth) => {
        const order = new DecodeOrder(depth, FRAME);
        assertRising(pts.map((time) => order.place(time)));
        assert.ok(order.depth >= 0 && order.depth <= 16);
      },
    ),
  );
});

test('property: with a depth that is enough, decode never comes after presentation', () => {
  const shuffled = fc.array(fc.nat(1000), { minLength: 1, maxLength: 120 }).map((keys) =>
    // Frames drift at most three places from where they would be in display order.
    keys
      .map((key, index) => ({ at: index * 1000 + (index === 0 ? -10_000 : key * 3), pts: index * FRAME }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ pts }) => pts),
  );
  fc.assert(
    fc.property(shuffled, fc.nat(4), (pts, extra) => {
      const order = new DecodeOrder(depthOf(pts) + extra, FRAME);
      for (const time of pts) assert.ok(order.place(time) <= time);
    }),
  );
});
