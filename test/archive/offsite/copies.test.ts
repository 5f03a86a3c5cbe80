import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Copy,
  camerasWithCopies,
  copiesPath,
  readCopies,
  writeCopies,
} from '../../../src/archive/offsite/copies.js';
import { findCopies } from '../../../src/archive/offsite/find-copies.js';
import { startReasons } from '../../../src/fmp4/start-reason.js';
import { tempFolder } from '../../support/temp-folder.js';

const count = fc.integer({ min: 0, max: 2 ** 45 });
const copy = fc
  .record({
    startSec: fc.integer({ min: 0, max: 4_000_000_000 }),
    lengthSec: fc.integer({ min: 1, max: 86_400 }),
    stamp: fc.option(fc.record({ ino: count, mtimeMs: count, ctimeMs: count }, { noNullPrototype: true })),
    inspection: fc.record(
      {
        startMs: fc.option(count),
        endMs: fc.option(count),
        startReason: fc.option(fc.constantFrom(...startReasons)),
        seenBytes: fc.constant(0),
      },
      { noNullPrototype: true },
    ),
    sizeBytes: count,
    mark: count,
    sidecarBytes: count,
    epoch: fc.integer({ min: 0, max: 999_999_999 }),
    box: fc.constantFrom('a', 'box-2.site'),
    isLeaving: fc.boolean(),
  })
  .map(
    ({ startSec, lengthSec, stamp, ...rest }): Copy => ({
      ...rest,
      recording: { startMs: startSec * 1000, endMs: (startSec + lengthSec) * 1000 },
      stamp: stamp && { ...stamp, sizeBytes: rest.sizeBytes },
    }),
  );

test('what is written of copies is read again', (t) => {
  const folder = tempFolder(t);
  fc.assert(
    fc.property(fc.array(copy, { maxLength: 20 }), (copies) => {
      writeCopies(copiesPath(folder, 'door'), copies);
      assert.deepEqual(readCopies(copiesPath(folder, 'door')), copies);
    }),
    { numRuns: 50 },
  );
  assert.deepEqual(camerasWithCopies(folder), ['door']);
});

test('what is damaged is as good as not written, wherever that is', (t) => {
  const path = copiesPath(tempFolder(t), 'door');
  assert.equal(readCopies(path), null);
  const [one] = fc.sample(copy, 1);
  writeCopies(path, [one!]);
  const good = readFileSync(path);
  for (let at = 0; at < good.length; at += 7) {
    const bad = Buffer.from(good);
    bad[at]! ^= 0x10;
    writeFileSync(path, bad);
    assert.equal(readCopies(path), null, `byte ${at}`);
    writeFileSync(path, good.subarray(0, at));
    assert.equal(readCopies(path), null, `cut at ${at}`);
  }
  // A disk that fails is no reason to believe that nothing is there.
  const folder = `${path}-folder`;
  mkdirSync(folder);
  assert.throws(() => readCopies(folder));
});

test('more copies than can be read are not written, and what was there stays', (t) => {
  const path = copiesPath(tempFolder(t), 'door');
  const [one] = fc.sample(copy, 1);
  const many = (count: number): Copy[] =>
    Array.from({ length: count }, (_, at) => ({
      ...one!,
      recording: { startMs: at * 1_000, endMs: at * 1_000 + 1_000 },
    }));
  writeCopies(path, many(256_000));
  assert.equal(readCopies(path)?.length, 256_000);
  assert.throws(() => writeCopies(path, many(256_001)), /256000 copies/);
  assert.equal(readCopies(path)?.length, 256_000);
});

test('a list without an end is none, whatever its pages are', async () => {
  let pages = 0;
  const list = async () => {
    pages += 1;
    return { items: [], next: pages % 2 === 0 ? 'a' : 'b' };
  };
  await assert.rejects(findCopies({ list }, 'door', new AbortController().signal), { code: 's3_bad_answer' });
  assert.ok(pages <= 10_000);
});
