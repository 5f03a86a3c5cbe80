import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { copiesPath, readCopies } from '../../../src/archive/offsite/copies-file.js';
import { keyOf } from '../../../src/archive/offsite/copy.js';
import { isNow } from '../../../src/archive/offsite/copy-table.js';
import { Notes } from '../../../src/archive/offsite/notes.js';
import { tempFolder } from '../../support/temp-folder.js';
import { manyCopies } from './made-copies.js';

const LEAVE_MS = 60_000;

const notesIn = (folder: string, nowMs = 0): Notes =>
  new Notes(folder, { nowMs: () => nowMs, leaveMs: LEAVE_MS });

/** Appends until it is killed; how many copies it said were written. */
const writeAndDie = async (t: TestContext, folder: string, killAt: number): Promise<number> => {
  const writer = join(import.meta.dirname, 'notes-writer.js');
  const child = spawn(process.execPath, [writer, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let written = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    // The last one may be cut.
    written = Math.max(written, Number(line));
    if (written >= killAt) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return written;
};

test('whoever is killed while it writes has written all that it said, and the next one goes on', async (t) => {
  const folder = join(tempFolder(t), 'copies');
  let before = 0;
  // Past where the file is written anew.
  for (const more of [3, 40, 700, 900]) {
    const written = await writeAndDie(t, folder, before + more);
    assert.ok(written >= before + more, `${written} after ${before}`);
    const { table } = readCopies(copiesPath(folder, 'door'))!;
    assert.ok(table.count >= written, `${table.count} of ${written}`);
    const expected = manyCopies(table.count);
    assert.deepEqual([...table].map(keyOf), expected.map(keyOf));
    before = table.count;
  }
});

test('a copy costs a row, and the file is written anew before it has more rows of changes than of copies', (t) => {
  const folder = tempFolder(t);
  const [notes, path] = [notesIn(folder), copiesPath(folder, 'door')];
  notes.replace('door', manyCopies(5_000));
  const [{ size, ino }, copies] = [statSync(path), manyCopies(12_000)];
  notes.change('door', [isNow(copies[5_000]!)]);
  assert.equal(statSync(path).ino, ino);
  assert.equal(statSync(path).size, size + 116);
  let rewrites = 0;
  for (const copy of copies.slice(5_001)) {
    const before = statSync(path).ino;
    notes.change('door', [isNow(copy)]);
    if (statSync(path).ino !== before) rewrites += 1;
  }
  assert.equal(rewrites, 1);
  assert.equal(notes.kept.get('door'), 12_000);
  assert.deepEqual([...notesIn(folder).read('door')!], copies);
});

test('what was written by half is no copy, what was before it is, and the store is to be asked', (t) => {
  const folder = tempFolder(t);
  const path = copiesPath(folder, 'door');
  const [first, second, third, fourth] = manyCopies(4);
  const notes = notesIn(folder);
  notes.replace('door', [first!]);
  notes.change('door', [isNow(second!)]);
  appendFileSync(path, Buffer.alloc(50, 1));
  const after = notesIn(folder);
  assert.deepEqual([...after.unsure], ['door']);
  assert.deepEqual([...after.read('door')!], [first, second]);
  // That isn't forgotten when something is written, be it by the next run.
  after.change('door', [isNow(third!)]);
  assert.deepEqual([...notesIn(folder).unsure], ['door']);
  // What the store tells of is known as it was, and what it tells nothing of is gone.
  const told = [{ ...first!, stamp: null }, { ...third!, stamp: null, mark: 1 }, fourth!];
  after.replace('door', told);
  assert.deepEqual([...notesIn(folder).unsure], []);
  assert.deepEqual([...notesIn(folder).read('door')!], [first, told[1], fourth]);
});

test('where somebody threw it away meanwhile, what is written then is not taken for all', (t) => {
  const folder = tempFolder(t);
  const [first, second] = manyCopies(2);
  const notes = notesIn(folder);
  notes.replace('door', [first!]);
  rmSync(copiesPath(folder, 'door'));
  assert.equal(notes.read('door'), null);
  notes.change('door', [isNow(second!)]);
  assert.deepEqual([...notes.read('door')!], [second]);
  assert.deepEqual([...notes.unsure], ['door']);
});

test('what is to go is marked once, and later than what the disk has to do first; after a restart at once', (t) => {
  const folder = tempFolder(t);
  const notes = notesIn(folder, 1_000);
  notes.replace('door', manyCopies(10));
  assert.equal(
    notes.leave('door', (_, index) => index < 3),
    3,
  );
  assert.equal(
    notes.leave('door', (_, index) => index < 4),
    1,
  );
  assert.equal(notes.kept.get('door'), 6);
  assert.equal(notes.leaving.get('door'), 1_000 + LEAVE_MS);
  const after = notesIn(folder, 5_000);
  assert.equal(after.kept.get('door'), 6);
  assert.equal(after.leaving.get('door'), 5_000);
});

test('of more copies than can be written down none is added, and what is to go is marked all the same', (t) => {
  const folder = tempFolder(t);
  const notes = notesIn(folder);
  const many = manyCopies(256_001);
  notes.replace('door', many.slice(0, 256_000));
  assert.throws(() => notes.change('door', [isNow(many[256_000]!)]), /256000 copies/);
  assert.equal(notes.kept.get('door'), 256_000);
  assert.equal(
    notes.leave('door', (_, index) => index === 0),
    1,
  );
  assert.equal(notesIn(folder).kept.get('door'), 255_999);
});
