import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BoxCursor } from '../../src/fmp4/box-cursor.js';
import { FileScanner } from '../../src/fmp4/file-scanner.js';
import { fixtures } from '../support/fixtures.js';
import { recordFile, samplesOf, scanFile, streamInfoOf } from './fragmented-file.js';

const [video, audio] = [fixtures.h264BFrames(), fixtures.aac()];
const file = recordFile(streamInfoOf(video, audio.track), samplesOf(video, audio), { maxSamples: 30 });
const whole = scanFile(file).scanner;

test('of a file that is cut anywhere, the whole fragments before the cut are found, and no other', () => {
  const lengths = fc.integer({ min: 0, max: file.length - 1 });
  const borders = whole.fragments.flatMap(({ offsetBytes, endBytes }) => [
    offsetBytes,
    endBytes - 1,
    endBytes,
  ]);
  const check = (length: number): void => {
    const { scanner } = scanFile(file.subarray(0, length));
    const expected = whole.fragments.filter(({ endBytes }) => endBytes <= length);
    assert.deepEqual(scanner.fragments, expected);
    if (scanner.movie !== null) {
      assert.equal(scanner.wholeBytes, expected.at(-1)?.endBytes ?? whole.fragments[0]!.offsetBytes);
    }
    assert.ok(scanner.fault === 'cut' || scanner.fault === null);
  };
  for (const length of borders) check(length);
  fc.assert(fc.property(lengths, check), { numRuns: 300 });
});

test('a tail of zeros, as a power cut leaves, ends the file before it', () => {
  const { scanner } = scanFile(Buffer.concat([file, Buffer.alloc(10_000)]));
  assert.equal(scanner.wholeBytes, file.length);
  assert.equal(scanner.fault, 'damaged');
});

test('a file that grows is scanned on from its last whole fragment', () => {
  const scanner = new FileScanner(0);
  for (let length = 0; length < file.length; length += 7001) {
    scanner.extend(length);
    scanFile(file.subarray(0, length), scanner);
  }
  scanner.extend(file.length);
  scanFile(file, scanner);
  assert.deepEqual(scanner.fragments, whole.fragments);
  assert.deepEqual(scanner.columns, whole.columns);
});

test('changed bytes never make the scan throw, go in circles or point out of the file', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 12 });
  const heads = [0, ...whole.fragments.map(({ offsetBytes }) => offsetBytes)];
  fc.assert(
    fc.property(changes, fc.constantFrom(...heads), (edits, head) => {
      const broken = Buffer.from(file);
      for (const [at, value] of edits) broken[head + (at % 900)] = value;
      const { scanner } = scanFile(broken);
      assert.ok(scanner.wholeBytes <= file.length);
      for (const columns of scanner.columns) {
        for (let index = 0; index < columns.count; index += 1) {
          assert.ok(columns.offsetBytes[index]! + columns.sizeBytes[index]! <= file.length);
        }
      }
    }),
    { numRuns: 500 },
  );
});

const boxes = fc.letrec<{ box: Buffer; content: Buffer }>((tie) => ({
  box: fc
    .tuple(
      fc.constantFrom('ftyp', 'moov', 'trak', 'tkhd', 'mdia', 'mdhd', 'hdlr', 'minf', 'stbl', 'stsd'),
      fc.constantFrom('moof', 'traf', 'tfhd', 'tfdt', 'trun', 'mdat', 'prft', 'mvex', 'trex', 'esds'),
      fc.boolean(),
      fc.integer({ min: -3, max: 3 }),
      tie('content'),
    )
    .map(([first, second, isFirst, lie, content]) => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(Math.max(0, content.length + 8 + (lie === 3 ? 1000 : Math.min(lie, 0))));
      head.write(isFirst ? first : second, 4, 'latin1');
      return Buffer.concat([head, content]);
    }),
  content: fc.oneof(
    { maxDepth: 5 },
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
    fc.array(tie('box'), { maxLength: 4 }).map((list) => Buffer.concat(list)),
  ),
}));

test('arbitrary bytes and arbitrary boxes end the scan in peace', () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
    fc.array(boxes.box, { maxLength: 6 }).map((list) => Buffer.concat(list)),
  );
  fc.assert(
    fc.property(anything, (bytes) => {
      const { scanner } = scanFile(bytes);
      assert.ok(scanner.wholeBytes <= bytes.length);
      const cursor = new BoxCursor(bytes);
      while (cursor.next()) assert.ok(cursor.start <= cursor.end && cursor.end <= bytes.length);
    }),
    { numRuns: 1000 },
  );
});

test('sizes of 64 bits and sizes that mean "to the end" are understood', () => {
  const long = Buffer.from('0000000166726565000000000000001261620000000066726565ffff', 'hex');
  const cursor = new BoxCursor(long);
  assert.ok(cursor.next());
  assert.deepEqual([cursor.type, cursor.start, cursor.end], ['free', 16, 18]);
  assert.ok(cursor.next());
  assert.deepEqual([cursor.type, cursor.start, cursor.end], ['free', 26, 28]);
  assert.ok(!cursor.next() && !cursor.isBroken);
});

test('a run that claims more samples than its data has bytes is damage, not memory', () => {
  const init = file.subarray(0, whole.fragments[0]!.offsetBytes);
  const tfhd = `00000010${Buffer.from('tfhd').toString('hex')}0002000000000001`;
  for (const count of ['ffffffff', '00010000', '00000005']) {
    const trun = `00000014${Buffer.from('trun').toString('hex')}00000001${count}0000003c`;
    const traf = `0000002c${Buffer.from('traf').toString('hex')}${tfhd}${trun}`;
    const moof = `00000034${Buffer.from('moof').toString('hex')}${traf}`;
    const mdat = `0000000c${Buffer.from('mdat').toString('hex')}00000000`;
    const { scanner } = scanFile(Buffer.concat([init, Buffer.from(moof + mdat, 'hex')]));
    assert.equal(scanner.fault, 'damaged');
    assert.equal(scanner.wholeBytes, init.length);
    assert.equal(scanner.columns[0]!.count, 0);
    assert.equal(scanner.columns[0]!.track.length, 128);
  }
});
