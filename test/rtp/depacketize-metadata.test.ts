import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MetadataDepacketizer } from '../../src/rtp/depacketize-metadata.js';
import { packetOf } from './collect.js';

type Step = readonly [payload: string, marker: 'm' | '', lostBefore?: number];

const run = (steps: readonly Step[], maxBytes = 1_000) => {
  const documents: string[] = [];
  const depacketizer = new MetadataDepacketizer(
    { maxBytes },
    { document: (bytes, end, timestamp) => documents.push(`${timestamp} ${bytes.toString('utf8', 0, end)}`) },
  );
  for (const [index, [payload, marker, lostBefore = 0]] of steps.entries()) {
    const hex = Buffer.from(payload).toString('hex');
    depacketizer.push(packetOf(hex, { timestamp: index, marker: marker === 'm' }), lostBefore);
  }
  return { documents, ...depacketizer.counters };
};

test('a document is what comes up to the marker, at the time of its first packet', () => {
  assert.deepEqual(
    run([
      ['<a', ''],
      ['>', ''],
      ['</a>', 'm'],
      ['<b/>', 'm'],
      ['', 'm'],
    ]).documents,
    ['0 <a></a>', '3 <b/>'],
  );
});

test('a lost packet costs the document that it was of, and the one whose begin it may have been', () => {
  const { documents, damagedFrames } = run([
    ['<a', ''],
    ['>', '', 1],
    ['</a>', 'm'],
    ['<b/>', 'm'],
  ]);
  assert.deepEqual([documents, damagedFrames], [['3 <b/>'], 1]);
  assert.deepEqual(
    run([
      ['<a', ''],
      ['<?xml version="1.0"?><b/>', 'm', 2],
    ]).documents,
    ['1 <?xml version="1.0"?><b/>'],
  );
  assert.deepEqual(run([['<?xml ?><b/>', 'm', 2]]).damagedFrames, 0, 'what was lost before is nobody’s');
});

test('cameras that forget the marker are understood by their documents', () => {
  const one = '<tt:MetadataStream xmlns:tt="x"></tt:MetadataStream>\n\0';
  assert.deepEqual(
    run([
      [one.slice(0, 40), ''],
      [one.slice(40), ''],
      ['', 'm'],
      [one, ''],
    ]).documents,
    [`0 ${one}`, `3 ${one}`],
  );
  const { documents, damagedFrames } = run([
    ['<?xml version="1.0"?><a>', ''],
    [one, ''],
  ]);
  assert.deepEqual([documents, damagedFrames], [[`1 ${one}`], 1]);
});

test('what outgrows its bound is given up, up to the next marker', () => {
  const { documents, oversizedFrames } = run([
    ['x'.repeat(600), ''],
    ['x'.repeat(600), ''],
    ['<', ''],
    ['/>', 'm'],
    ['<b/>', 'm'],
  ]);
  assert.deepEqual([documents, oversizedFrames], [['4 <b/>'], 1]);
});

test('whatever comes, no document is larger than it may be, and none is put together over a loss', () => {
  const step = fc.tuple(
    fc.string({ maxLength: 40 }),
    fc.constantFrom('m' as const, '' as const),
    fc.constantFrom(0, 0, 0, 1),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      for (const document of run(steps, 64).documents)
        assert.ok(Buffer.byteLength(document.slice(document.indexOf(' ') + 1)) <= 64);
    }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 9 }),
      (pieces) => {
        const whole = pieces.join('');
        const last = pieces.length - 1;
        const steps = pieces.map((piece, index): Step => [piece, index === last ? 'm' : '']);
        return run(steps).documents[0] === `0 ${whole}`;
      },
    ),
  );
});
