import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { HeldFrames } from '../../src/ring/held-frames.js';
import { RingReader } from '../../src/ring/reader.js';
import { copyOf, KEY, makeRing, nalOf, writeFrame } from '../support/ring.js';

const held = fc.record({
  frames: fc.array(fc.record({ lengthBytes: fc.integer({ min: 8, max: 9_000 }), isHeld: fc.boolean() }), {
    minLength: 1,
    maxLength: 40,
  }),
  /** Of all their bytes. */
  range: fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
});

test('any bytes of any frames of a ring can be copied later', () => {
  fc.assert(
    fc.property(held, ({ frames, range }) => {
      // A small ring, which wraps once in a while.
      const { writer } = makeRing({ dataBytes: 524_288, maxDataBytes: 524_288, maxFrameBytes: 65_536 });
      const reader = new RingReader(writer.ring, { start: 'next' });
      for (let before = 0; before < 45; before += 1) writeFrame(writer, nalOf(before, 9_000), { flags: KEY });
      while (reader.next());
      let kept: HeldFrames | null = null;
      const bytes: Buffer[] = [];
      for (const [index, { lengthBytes, isHeld }] of frames.entries()) {
        writeFrame(writer, nalOf(index, lengthBytes), { flags: index === 0 ? KEY : 0 });
        assert.equal(reader.next(), true);
        if (!isHeld) continue;
        bytes.push(copyOf(reader)!);
        kept = reader.hold(kept);
      }
      if (kept === null) return;
      const all = Buffer.concat(bytes);
      assert.equal(kept.lengthBytes, all.length);
      const [start, end] = range.map((part) => Math.round(part * all.length)).toSorted((a, b) => a - b);
      const target = Buffer.alloc(all.length + 16);
      kept.copyTo(target, 8, start!, end!);
      const expected = Buffer.concat([Buffer.alloc(8), all.subarray(start, end)], all.length + 16);
      assert.equal(kept.isIntact(), true);
      assert.deepEqual(target, expected);
    }),
  );
});

test('the oldest frame speaks for all: when it is overwritten, none is trusted', () => {
  const { writer } = makeRing({ dataBytes: 262_144, maxDataBytes: 262_144, maxFrameBytes: 65_536 });
  const reader = new RingReader(writer.ring, { start: 'next' });
  let kept: HeldFrames | null = null;
  for (let index = 0; index < 3; index += 1) {
    writeFrame(writer, nalOf(index, 20_000), { flags: index === 0 ? KEY : 0 });
    assert.equal(reader.next(), true);
    kept = reader.hold(kept);
  }
  let later = 0;
  for (; later < 100 && kept!.isIntact(); later += 1) writeFrame(writer, nalOf(3 + later, 20_000), {});
  assert.ok(later > 5 && later <= 13 - 3, `after ${later} frames`);
});
