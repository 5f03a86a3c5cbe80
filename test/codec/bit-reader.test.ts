import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BitReader } from '../../src/codec/bit-reader.js';
import { BitWriter } from './bit-writer.js';

const field = fc.oneof(
  fc.integer({ min: 0, max: 32 }).chain((bits) =>
    fc.record({
      kind: fc.constant('u' as const),
      bits: fc.constant(bits),
      value: fc.nat().map((value) => value % 2 ** bits),
    }),
  ),
  fc.record({
    kind: fc.constant('ue' as const),
    bits: fc.constant(0),
    value: fc.integer({ min: 0, max: 2 ** 32 - 2 }),
  }),
  fc.record({
    kind: fc.constant('se' as const),
    bits: fc.constant(0),
    value: fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 }),
  }),
);

test('property: what was written is read again, emulation prevention and all', () => {
  fc.assert(
    fc.property(fc.array(field, { maxLength: 30 }), fc.nat(3), (fields, offset) => {
      const writer = new BitWriter();
      for (const { kind, bits, value } of fields) {
        if (kind === 'u') writer.u(bits, value);
        else writer[kind](value);
      }
      const nal = Buffer.concat([Buffer.alloc(offset, 0xff), writer.nal([0x67]), Buffer.from([0xff])]);
      const reader = new BitReader();
      reader.openNal(nal, offset + 1, nal.length - 1);
      for (const { kind, bits, value } of fields) {
        assert.equal(kind === 'u' ? reader.bits(bits) : reader[kind](), value);
      }
      assert.equal(reader.isPastEnd, false);
    }),
  );
});

test('plain bytes keep a 3 behind two zeros; in a NAL unit it goes', () => {
  const bytes = Buffer.from([0, 0, 3, 1]);
  const reader = new BitReader();
  reader.openPlain(bytes, 0, 4);
  assert.equal(reader.bits(32), 0x00000301);
  reader.openNal(bytes, 0, 4);
  assert.equal(reader.bits(24), 0x000001);
  assert.equal(reader.isPastEnd, false);
});

test('past the end there are zeros, and a mark that stays until the next open', () => {
  const reader = new BitReader();
  reader.openNal(Buffer.from([0xff, 0xff, 0xff]), 1, 2);
  assert.equal(reader.bits(8), 0xff);
  assert.equal(reader.isPastEnd, false);
  assert.equal(reader.bits(1), 0);
  assert.equal(reader.isPastEnd, true);
  assert.equal(reader.ue(), 0);
  reader.skip(1_000_000_000);
  reader.openNal(Buffer.from([0x80]), 0, 1);
  assert.equal(reader.isPastEnd, false);
  assert.equal(reader.ue(), 0);
});

test('an Exp-Golomb code without end is a fault', () => {
  const reader = new BitReader();
  reader.openPlain(Buffer.alloc(20), 0, 20);
  assert.equal(reader.ue(), 0);
  assert.equal(reader.isPastEnd, true);
});
