import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteReader } from '../../src/base/byte-reader.js';

test('numbers are big-endian and unsigned', () => {
  const reader = new ByteReader(Uint8Array.of(9, 0xff, 0x01, 0x02, 0xff, 0xff, 0xff, 0xfe, 7), 1, 8);
  assert.equal(reader.u8(), 0xff);
  assert.equal(reader.u16(), 0x0102);
  assert.equal(reader.u32(), 0xfffffffe);
  assert.equal(reader.remaining, 0);
  assert.equal(reader.isPastEnd, false);
});

test('past the end there are zeros and empty views, and a mark that stays', () => {
  const reader = new ByteReader(Uint8Array.of(1, 2, 3), 0, 2);
  assert.equal(reader.u32(), 0);
  assert.equal(reader.isPastEnd, true);
  assert.equal(reader.u8(), 0);
  assert.equal(reader.view(1).length, 0);
});

test('property: no sequence of reads leaves the range', () => {
  const step = fc.tuple(
    fc.constantFrom('u8', 'u16', 'u32', 'view', 'skip'),
    fc.integer({ min: -5, max: 40 }),
  );
  fc.assert(
    fc.property(fc.nat(20), fc.integer({ min: -5, max: 60 }), fc.array(step), (start, end, steps) => {
      const bytes = new Uint8Array(32).fill(0x55, 0, 8).fill(0xee, 8);
      const reader = new ByteReader(bytes, start, end);
      const length = Math.max(Math.min(end, bytes.length) - start, 0);
      let taken = 0;
      for (const [kind, count] of steps) {
        const before = reader.remaining;
        if (kind === 'view') assert.ok(reader.view(count).length <= before);
        else if (kind === 'skip') reader.skip(count);
        else reader[kind as 'u8']();
        taken += before - reader.remaining;
      }
      assert.ok(taken <= length && reader.remaining >= 0);
    }),
  );
});
