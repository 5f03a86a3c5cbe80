import assert from 'node:assert/strict';
import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addCopies,
  camerasWithCopies,
  copiesPath,
  mayAdd,
  type ReadUpTo,
  readAdded,
  readCopies,
  writeCopies,
} from '../../../src/archive/offsite/copies-file.js';
import { type Copy, keyOf, timesOfKey } from '../../../src/archive/offsite/copy.js';
import { type CopyChange, CopyTable, changesIn, isNow } from '../../../src/archive/offsite/copy-table.js';
import { tempFolder } from '../../support/temp-folder.js';
import { anyCopy, manyCopies } from './made-copies.js';

/** What a table of these should be. */
class Model {
  readonly byKey = new Map<number, Copy>();

  apply(changes: readonly CopyChange[]): void {
    for (const { key, copy } of changes)
      if (copy === null) this.byKey.delete(key);
      else this.byKey.set(key, copy);
  }

  get copies(): Copy[] {
    return [...this.byKey].sort(([a], [b]) => a - b).map(([, copy]) => copy);
  }
}

const change = fc
  .tuple(anyCopy(), fc.boolean())
  .map(([copy, isGone]): CopyChange => ({ key: keyOf(copy), copy: isGone ? null : copy }));

test('what is written of copies, and added to that, is read again: as a whole, and on from what was read', (t) => {
  const folder = tempFolder(t);
  const path = copiesPath(folder, 'door');
  const rounds = fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.array(anyCopy(), { maxLength: 20 }), rounds, (copies, added) => {
      const [model, reader] = [new Model(), new Model()];
      model.apply(copies.map(isNow));
      reader.apply(copies.map(isNow));
      writeCopies(path, CopyTable.of(copies));
      let known: ReadUpTo = readCopies(path)!.upTo;
      for (const [at, changes] of added.entries()) {
        model.apply(changes);
        const before = readCopies(path)!;
        if (mayAdd(before, changes)) addCopies(path, before, changes);
        else writeCopies(path, before.table.with(changes));
        const { table, isPartial, upTo } = readCopies(path)!;
        assert.deepEqual([...table], model.copies);
        assert.equal(table.kept, model.copies.filter(({ isLeaving }) => !isLeaving).length);
        assert.equal(isPartial, false);
        // One that asks every other time.
        if (at % 2 === 0) continue;
        const news = readAdded(path, known);
        if (news !== null) reader.apply(changesIn(news.rows, table.boxes));
        else {
          reader.byKey.clear();
          reader.apply([...table].map(isNow));
        }
        assert.deepEqual(reader.copies, model.copies);
        known = news?.upTo ?? upTo;
        assert.deepEqual(known, upTo);
      }
    }),
    { numRuns: 60 },
  );
  assert.deepEqual(camerasWithCopies(folder), ['door']);
});

test('a name comes back of its number, before 1970 too, and numbers are in the order of the times', () => {
  const copies = fc.tuple(anyCopy(), anyCopy());
  fc.assert(
    fc.property(copies, ([one, other]) => {
      assert.deepEqual(timesOfKey(keyOf(one)), one.recording);
      if (one.recording.startMs < other.recording.startMs) assert.ok(keyOf(one) < keyOf(other));
    }),
  );
});

test('what is damaged is as good as not written; where what was added is, what was before it counts', (t) => {
  const path = copiesPath(tempFolder(t), 'door');
  assert.equal(readCopies(path), null);
  const [first, second, third] = manyCopies(3);
  writeCopies(path, CopyTable.of([first!]));
  const wholeBytes = statSync(path).size;
  for (const copy of [second!, third!]) addCopies(path, readCopies(path)!, [isNow(copy)]);
  const good = readFileSync(path);
  const rowBytes = (good.length - wholeBytes) / 2;
  const shown = () => {
    const read = readCopies(path);
    return read === null ? null : { copies: [...read.table], isPartial: read.isPartial };
  };
  const upTo = (bytes: number) =>
    bytes < wholeBytes
      ? null
      : [first!, second!, third!].slice(0, 1 + Math.floor((bytes - wholeBytes) / rowBytes));
  assert.deepEqual(shown(), { copies: [first, second, third], isPartial: false });
  for (let at = 0; at < good.length; at += 7) {
    const bad = Buffer.from(good);
    bad[at]! ^= 0x10;
    writeFileSync(path, bad);
    const expected = upTo(at);
    assert.deepEqual(shown(), expected && { copies: expected, isPartial: true }, `byte ${at}`);
    writeFileSync(path, good.subarray(0, at));
    const isBorder = (at - wholeBytes) % rowBytes === 0;
    assert.deepEqual(shown(), expected && { copies: expected, isPartial: !isBorder }, `cut at ${at}`);
  }
  // What a disk may leave of it after a power cut.
  writeFileSync(path, Buffer.concat([good, Buffer.alloc(rowBytes)]));
  assert.deepEqual(shown(), { copies: [first, second, third], isPartial: true });
  // Nothing is added behind what can't be read.
  assert.equal(mayAdd(readCopies(path)!, [isNow(first!)]), false);
});

test('what the disk does not give is as good as not written', (t) => {
  const folder = tempFolder(t);
  // A file whose beginning is a bad sector, as it were.
  const bad = '/proc/self/mem';
  const fd = openSync(bad, 'r');
  t.after(() => closeSync(fd));
  assert.throws(() => readSync(fd, Buffer.alloc(8), 0, 8, 0), { code: 'EIO' });
  for (const path of [bad, folder]) assert.equal(readCopies(path), null);
});

test('a row that belongs elsewhere is none, though it is whole', (t) => {
  const path = copiesPath(tempFolder(t), 'door');
  const [first, second] = manyCopies(2);
  writeCopies(path, CopyTable.of([first!]));
  const wholeBytes = statSync(path).size;
  addCopies(path, readCopies(path)!, [isNow(second!)]);
  const row = readFileSync(path).subarray(wholeBytes);
  // Of another file, as blocks that a disk has used before; and once more behind itself.
  writeCopies(path, CopyTable.empty);
  const head = readFileSync(path);
  writeFileSync(path, Buffer.concat([head, row]));
  assert.deepEqual([...readCopies(path)!.table], []);
  assert.equal(readCopies(path)!.isPartial, true);
});

test('more copies than can be read are not written, and what was there stays', (t) => {
  const path = copiesPath(tempFolder(t), 'door');
  const many = manyCopies(256_001);
  writeCopies(path, CopyTable.of(many.slice(1)));
  assert.equal(readCopies(path)?.table.count, 256_000);
  assert.throws(() => writeCopies(path, CopyTable.of(many)), /256000 copies/);
  assert.equal(readCopies(path)?.table.count, 256_000);
});

test('what is read is another file where it was written anew, cut or thrown away meanwhile', (t) => {
  const path = copiesPath(tempFolder(t), 'door');
  const [first, second, third] = manyCopies(3);
  writeCopies(path, CopyTable.of([first!]));
  addCopies(path, readCopies(path)!, [isNow(second!)]);
  const known = readCopies(path)!.upTo;
  assert.equal(readAdded(path, known)?.rows.length, 0);
  truncateSync(path, statSync(path).size - 1);
  assert.equal(readAdded(path, known), null);
  writeCopies(path, CopyTable.of([first!, third!]));
  assert.equal(readAdded(path, known), null);
  rmSync(path);
  assert.equal(readAdded(path, known), null);
});
