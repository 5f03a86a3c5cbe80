import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { names, parseName } from '../../../src/live/hls/names.js';

const number = fc.nat({ max: 999_999_999_999_999 });

test('every name that playlists list is read back as what it is', () => {
  fc.assert(
    fc.property(number, fc.nat({ max: 999_999 }), (segment, part) => {
      assert.deepEqual(parseName(names.ts(segment)), { kind: 'ts', segment });
      assert.deepEqual(parseName(names.mp4(segment)), { kind: 'mp4', segment });
      assert.deepEqual(parseName(names.subtitles(segment)), { kind: 'subtitles', segment });
      assert.deepEqual(parseName(names.part(segment, part)), { kind: 'part', segment, part });
      assert.deepEqual(parseName(names.init(segment)), { kind: 'init', version: segment });
    }),
  );
});

test('no other name is taken for one', () => {
  const others = [
    '',
    'segment_.ts',
    'segment_1',
    'segment_01.ts',
    'segment_-1.ts',
    'segment_1.ts.ts',
    'segment_1_2.ts',
    'segment_1234567890123456.ts',
    'subs_1.ts',
    'part_1.m4s',
    'part_1_02.m4s',
    'init_1.m4s',
    '../segment_1.ts',
    'segment_1.ts\n',
  ];
  for (const name of others) assert.equal(parseName(name), null, JSON.stringify(name));
  const shape = /^(segment_\d+\.(ts|m4s)|subs_\d+\.vtt|part_\d+_\d+\.m4s|init_\d+\.mp4)$/;
  fc.assert(
    fc.property(fc.string(), (name) => {
      assert.ok(parseName(name) === null || shape.test(name));
    }),
  );
});
