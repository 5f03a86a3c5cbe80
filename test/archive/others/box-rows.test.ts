import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { knownDays, takeRows, tellRows } from '../../../src/archive/list/box-rows.js';
import { MAX_COPIES, readCopies, writeCopies } from '../../../src/archive/offsite/copies-file.js';
import { type Copy, keyOf } from '../../../src/archive/offsite/copy.js';
import { CopyTable, FIELDS, rowOf } from '../../../src/archive/offsite/copy-table.js';
import { tempFolder } from '../../support/temp-folder.js';
import { anyCopy, manyCopies } from '../offsite/made-copies.js';

const BOX = 'a';

/** As a box tells of what is on its disk. */
const onDisk = (copy: Copy): Copy => ({
  ...copy,
  ...{
    mark: 0,
    isLeaving: false,
    stamp: copy.stamp ?? { ino: 1, sizeBytes: copy.sizeBytes, mtimeMs: 2, ctimeMs: 3 },
  },
  ...{ sidecarBytes: 0, box: BOX },
});

const rowsOf = (copies: readonly Copy[]): Float64Array =>
  Float64Array.from(copies.flatMap((copy) => rowOf(copy, 0)));

const byKey = (copies: readonly Copy[]): Copy[] =>
  [...new Map(copies.map((copy) => [keyOf(copy), copy])).values()].sort((a, b) => keyOf(a) - keyOf(b));

/** Asks until nothing is left; how many rows came. */
const bringUpToDate = (path: string, folder: string, there: readonly Copy[]): number => {
  let [came, rounds] = [0, 0];
  for (let isMore = true; isMore; rounds += 1) {
    const days = knownDays({ path });
    const told = tellRows({ folder, rows: rowsOf(there), days: days ?? [] }).value;
    const { bytes, gone } = told;
    came += bytes.length / (FIELDS * 8);
    takeRows({ path, box: BOX, bytes, gone, isAnew: days === null });
    isMore = told.isMore;
    assert.ok(rounds < 50);
  }
  return came;
};

const knownIn = (path: string): Copy[] => [...(readCopies(path)?.table ?? [])];

test('whatever is known of a box, what it has is known then, and nothing else', (t) => {
  const folder = tempFolder(t);
  const some = fc.array(anyCopy([BOX]).map(onDisk), { maxLength: 30 });
  let at = 0;
  fc.assert(
    fc.property(some, some, fc.boolean(), (before, now, doesOverlap) => {
      const path = join(folder, `${at++}.copies`);
      bringUpToDate(path, folder, byKey(before));
      const there = byKey(doesOverlap ? [...before, ...now] : now);
      bringUpToDate(path, folder, there);
      assert.deepEqual(knownIn(path), there);
      assert.equal(existsSync(path), there.length > 0);
      assert.equal(bringUpToDate(path, folder, there), 0, 'nothing is told twice');
    }),
    { numRuns: 60 },
  );
});

test('a new recording costs the rows of its day, and a list of any length comes in pieces', (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'door.copies');
  const many = manyCopies(50_000).map((copy) => {
    const startMs = copy.recording.startMs * 10;
    return onDisk({ ...copy, recording: { startMs, endMs: startMs + 1_000 } });
  });
  assert.equal(bringUpToDate(path, folder, many), many.length);
  assert.equal(readCopies(path)?.table.count, many.length);
  const [more] = manyCopies(1, 86_400_000 * 40).map(onDisk);
  assert.equal(bringUpToDate(path, folder, [...many, more!]), 1);
  const told = tellRows({ folder, rows: rowsOf(many), days: [] }).value;
  assert.ok(told.isMore && told.bytes.length <= 4 << 20, `${told.bytes.length}`);
});

test('rows that can be none are left out, and what was written by half is asked for anew', (t) => {
  const path = join(tempFolder(t), 'door.copies');
  const [good] = manyCopies(1).map(onDisk);
  const bad: Copy[] = [
    { ...good!, recording: { startMs: 1, endMs: 1_001 } },
    { ...good!, recording: { startMs: 10_000, endMs: 9_000 } },
    { ...good!, recording: { startMs: 20_000, endMs: 400_000_000 } },
    { ...good!, recording: { startMs: Number.NaN, endMs: 1_000 } },
    { ...good!, recording: { startMs: 30_000, endMs: 31_000 }, sizeBytes: -1 },
    { ...good!, recording: { startMs: 40_000, endMs: 41_000 }, epoch: 0.5 },
    { ...good!, recording: { startMs: 50_000, endMs: 51_000 }, isLeaving: true },
    { ...good!, recording: { startMs: 60_000, endMs: 61_000 }, sidecarBytes: Number.POSITIVE_INFINITY },
  ];
  const bytes = new Uint8Array(rowsOf([...bad, good!]).buffer);
  assert.equal(takeRows({ path, box: BOX, bytes, gone: [], isAnew: true }).count, 1);
  assert.deepEqual(knownIn(path), [good]);
  writeCopies(path, CopyTable.of([good!]), true);
  assert.equal(knownDays({ path }), null);
});

test('of more than can be written down the newest is known, and no more is asked for', (t) => {
  const [path, folder] = [join(tempFolder(t), 'door.copies'), tempFolder(t)];
  const [one] = manyCopies(1).map(onDisk);
  // One every other second, and the first day too much by a hundred.
  const count = MAX_COPIES + 100;
  const rows = new Float64Array(count * FIELDS);
  for (let at = 0; at < count; at += 1)
    rows.set(
      rowOf({ ...one!, recording: { startMs: at * 2_000, endMs: at * 2_000 + 1_000 } }, 0),
      at * FIELDS,
    );
  writeCopies(path, new CopyTable(rows.slice(100 * FIELDS), [BOX]));
  const days = knownDays({ path })!;
  const told = tellRows({ folder, rows: rows.slice(), days }).value;
  assert.deepEqual([told.bytes.length, told.gone, told.isMore], [0, [], false]);
  const take = (some: Float64Array) => {
    const bytes = new Uint8Array(some.slice().buffer);
    return takeRows({ path, box: BOX, bytes, gone: [], isAnew: false });
  };
  // By a box that tells all that it has.
  const firstDay = rows.subarray(0, 43_200 * FIELDS);
  assert.deepEqual(take(firstDay), { count: MAX_COPIES, isOther: false });
  const nextMs = (count / 43_200 + 2) * 86_400_000;
  const startMs = nextMs - (nextMs % 86_400_000);
  const newer = { ...one!, recording: { startMs, endMs: startMs + 1_000 } };
  assert.deepEqual(take(rowsOf([newer])), { count: MAX_COPIES, isOther: true });
  const { table } = readCopies(path)!;
  assert.equal(table.at(0).recording.startMs, 101 * 2_000);
  assert.equal(table.at(MAX_COPIES - 1).recording.startMs, startMs);
});
