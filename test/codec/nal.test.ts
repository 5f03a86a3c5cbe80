import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  endWithoutZeros,
  isDroppedH264,
  isDroppedH265,
  isFirstSliceH264,
  isFirstSliceH265,
  isKeyH264,
  isKeyH265,
  isParameterSetH264,
  isParameterSetH265,
  isPartitionH264,
  isVclH264,
  isVclH265,
  nalTypeH264,
  nalTypeH265,
  nalTypeOf,
} from '../../src/codec/nal.js';
import { AnnexBCursor, findStartCode, LengthPrefixedCursor } from '../../src/codec/nal-cursor.js';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

const walk = (cursor: AnnexBCursor | LengthPrefixedCursor, data: Buffer, start = 0, end = data.length) => {
  cursor.open(data, start, end);
  const units: string[] = [];
  while (cursor.next()) {
    assert.ok(cursor.offset >= start && cursor.offset + cursor.length <= end);
    units.push(data.subarray(cursor.offset, cursor.offset + cursor.length).toString('hex'));
  }
  return units;
};

const annexB = new AnnexBCursor();
const prefixed = new LengthPrefixedCursor();

const annexBCases = [
  { name: 'nothing', data: '', units: [] },
  { name: 'no start code', data: '6742 c01e', units: [] },
  { name: 'a start code alone', data: '000001', units: [] },
  { name: 'three bytes', data: '000001 65aa 000001 41bb', units: ['65aa', '41bb'] },
  { name: 'four bytes', data: '00000001 65aa 00000001 41bb', units: ['65aa', '41bb'] },
  { name: 'zeros behind', data: '000001 65aa 000000 000001 41bb 0000', units: ['65aa', '41bb'] },
  { name: 'junk before', data: 'ffee01 000001 65aa', units: ['65aa'] },
  { name: 'empty units', data: '000001 000001 000001 65', units: ['65'] },
  { name: 'zeros inside', data: '000001 65 0000 03 01 0001', units: ['650000030100' + '01'] },
];

for (const { name, data, units } of annexBCases) {
  test(`Annex B: ${name}`, () => assert.deepEqual(walk(annexB, hex(data)), units));
}

const prefixedCases = [
  { name: 'nothing', data: '', units: [], isBroken: false },
  { name: 'two', data: '00000002 65aa 00000001 41', units: ['65aa', '41'], isBroken: false },
  { name: 'an empty one', data: '00000000 00000001 41', units: ['41'], isBroken: false },
  { name: 'a length past the end', data: '00000001 41 00000003 65aa', units: ['41'], isBroken: true },
  { name: 'a length with the top bit', data: '80000000 41', units: [], isBroken: true },
  { name: 'half a length', data: '00000001 41 0000', units: ['41'], isBroken: true },
];

for (const { name, data, units, isBroken } of prefixedCases) {
  test(`length-prefixed: ${name}`, () => {
    assert.deepEqual(walk(prefixed, hex(data)), units);
    assert.equal(prefixed.isBroken, isBroken);
  });
}

test('cursors keep to the range that they were given', () => {
  assert.deepEqual(walk(annexB, hex('000001 65aa 000001 41bb'), 3), ['41bb']);
  assert.deepEqual(walk(annexB, hex('000001 65aa 000001 41bb'), 0, 7), ['65aa']);
  assert.deepEqual(walk(prefixed, hex('ff 00000002 65aa ff'), 1, 7), ['65aa']);
});

const nalUnit = fc
  .uint8Array({ minLength: 1, maxLength: 40 })
  .map((body) => Buffer.from([0x65, ...body, 0x80]))
  .filter((nal) => findStartCode(nal, 0, nal.length) < 0);

test('property: what was framed is found again, with either framing', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(nalUnit, fc.boolean(), fc.nat(3))), (parts) => {
      const expected = parts.map(([nal]) => nal.toString('hex'));
      const stream = parts.map(([nal, isLong, zeros]) =>
        Buffer.concat([hex(isLong ? '00000001' : '000001'), nal, Buffer.alloc(zeros)]),
      );
      assert.deepEqual(walk(annexB, Buffer.concat(stream)), expected);
      const lengths = parts.map(([nal]) => {
        const prefix = Buffer.alloc(4);
        prefix.writeUInt32BE(nal.length);
        return Buffer.concat([prefix, nal]);
      });
      assert.deepEqual(walk(prefixed, Buffer.concat(lengths)), expected);
      assert.equal(prefixed.isBroken, false);
    }),
  );
});

test('property: the start code search agrees with a plain one', () => {
  const bytes = fc.array(fc.constantFrom(0, 0, 0, 1, 2, 3), { maxLength: 60 }).map((all) => Buffer.from(all));
  fc.assert(
    fc.property(bytes, fc.nat(60), (data, start) => {
      assert.equal(findStartCode(data, start, data.length), data.indexOf(hex('000001'), start));
    }),
  );
});

test('property: any bytes are walked without throwing, looping or leaving the range', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(20), (bytes, start) => {
      const data = Buffer.from(bytes);
      walk(annexB, data, Math.min(start, data.length));
      walk(prefixed, data, Math.min(start, data.length));
    }),
  );
});

test('H.264 types', () => {
  assert.deepEqual([0x67, 0x27, 0x68, 0x65, 0x41, 0x09].map(nalTypeH264), [7, 7, 8, 5, 1, 9]);
  const types = Array.from({ length: 32 }, (_, type) => type);
  assert.deepEqual(types.filter(isKeyH264), [5]);
  assert.deepEqual(types.filter(isVclH264), [1, 5]);
  assert.deepEqual(types.filter(isPartitionH264), [2, 3, 4]);
  assert.deepEqual(types.filter(isParameterSetH264), [7, 8]);
  assert.deepEqual(types.filter(isDroppedH264), [9, 10, 11, 12]);
});

test('H.265 types', () => {
  assert.deepEqual([0x40, 0x42, 0x44, 0x26, 0x02, 0x4e].map(nalTypeH265), [32, 33, 34, 19, 1, 39]);
  const types = Array.from({ length: 64 }, (_, type) => type);
  assert.deepEqual(types.filter(isKeyH265), [16, 17, 18, 19, 20, 21]);
  assert.deepEqual(types.filter(isVclH265), types.slice(0, 32));
  assert.deepEqual(types.filter(isParameterSetH265), [32, 33, 34]);
  assert.deepEqual(types.filter(isDroppedH265), [35, 36, 37, 38]);
  assert.equal(nalTypeOf('h265', 0x40), 32);
  assert.equal(nalTypeOf('h264', 0x67), 7);
});

test('the first slice of a picture', () => {
  assert.equal(isFirstSliceH264(hex('6588'), 0, 2), true);
  assert.equal(isFirstSliceH264(hex('6548'), 0, 2), false);
  assert.equal(isFirstSliceH264(hex('6588'), 0, 1), false);
  assert.equal(isFirstSliceH265(hex('2601af'), 0, 3), true);
  assert.equal(isFirstSliceH265(hex('26012f'), 0, 3), false);
  assert.equal(isFirstSliceH265(hex('2601af'), 0, 2), false);
});

test('padding is no part of a NAL unit', () => {
  assert.equal(endWithoutZeros(hex('65aa0000'), 0, 4), 2);
  assert.equal(endWithoutZeros(hex('0000'), 0, 2), 0);
});
