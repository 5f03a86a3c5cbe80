import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isMatch, isNoneMatch, parseByteRange } from '../../src/base/byte-range.js';

test('a Range header means what RFC 9110 says', () => {
  const cases: [string | undefined, ReturnType<typeof parseByteRange>][] = [
    [undefined, null],
    ['bytes=0-99', { first: 0, last: 99 }],
    ['bytes=0-0', { first: 0, last: 0 }],
    ['Bytes=10-', { first: 10, last: 999 }],
    ['bytes=-10', { first: 990, last: 999 }],
    ['bytes=-5000', { first: 0, last: 999 }],
    ['bytes=990-5000', { first: 990, last: 999 }],
    ['bytes=1000-', 'unsatisfiable'],
    ['bytes=1000-1001', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-4', null],
    ['bytes=-', null],
    ['bytes=0-1,5-6', null],
    ['bytes=a-b', null],
    ['bytes=0x1-2', null],
    ['bytes=99999999999999999999-', null],
    ['items=0-5', null],
    ['', null],
  ];
  for (const [header, range] of cases) assert.deepEqual(parseByteRange(header, 1_000), range, header);
});

test('whatever the header, a range lies within the file', () => {
  const part = fc.oneof(fc.nat(3_000).map(String), fc.constant(''), fc.string({ maxLength: 4 }));
  fc.assert(
    fc.property(part, part, fc.integer({ min: 1, max: 2_000 }), (from, to, sizeBytes) => {
      const range = parseByteRange(`bytes=${from}-${to}`, sizeBytes);
      if (range === null || range === 'unsatisfiable') return;
      assert.ok(range.first >= 0 && range.first <= range.last && range.last < sizeBytes);
    }),
  );
});

test('If-None-Match', () => {
  const cases: [string | undefined, boolean][] = [
    [undefined, true],
    ['"a-1"', false],
    ['W/"a-1"', false],
    ['"b", W/"a-1" , "c"', false],
    ['*', false],
    ['"b"', true],
    ['a-1', true],
    ['', true],
  ];
  for (const [header, expected] of cases) assert.equal(isNoneMatch(header, '"a-1"'), expected, header);
});

test('an If-Match header names a strong tag, or anything', () => {
  for (const header of ['*', ' * ', '"a"', '"b", "a"', 'W/"a","a"'])
    assert.equal(isMatch(header, '"a"'), true, header);
  for (const header of ['', 'a', '"b"', 'W/"a"', '"a', '"b" , W/"a"'])
    assert.equal(isMatch(header, '"a"'), false, header);
});
