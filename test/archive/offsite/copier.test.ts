import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copiesPath, readCopies, writeCopies } from '../../../src/archive/offsite/copies-file.js';
import { CopyTable } from '../../../src/archive/offsite/copy-table.js';
import { until } from '../../support/until.js';
import { Versitygw, withoutStore } from '../../support/versitygw.js';
import { CopierRig, named, PART_BYTES, START_MS } from './copier-rig.js';

const skip = withoutStore;

test('closed recordings go up with what was seen in them, the oldest first, whatever camera they are of', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const places = [
    ['door', rig.record('door', 10)],
    ['yard', rig.record('yard', 5)],
    ['door', rig.record('door', 0, PART_BYTES + 1_000)],
  ] as const;
  rig.write('yard', '2026-11-21_08-35-00.detections', Buffer.from('what was seen'));
  // Neither of these is a closed recording.
  rig.write('door', '2026-11-21_09-00-00_ongoing.mp4', randomBytes(1_000));
  rig.write('door', 'notes.txt', randomBytes(1_000));
  rig.start();
  await rig.untilIdle();
  for (const [cameraId, fileName] of places) assert.ok(rig.isCopied(cameraId, fileName), fileName);
  const [late, early, first] = places.map(
    ([cameraId, fileName]) => statSync(rig.objectPath(cameraId, fileName)).mtimeMs,
  );
  assert.ok(first! <= early! && early! <= late!, 'they went in the order of age');
  const sidecar = rig.objectPath(...places[1]).replace(/mp4$/, 'detections');
  assert.equal(readFileSync(sidecar, 'utf8'), 'what was seen');
  assert.equal(rig.objects().length, 4);
  assert.deepEqual(rig.state?.kept, { door: 2, yard: 1 });
  assert.equal(rig.state?.copied, 3);
});

test('a restart copies nothing twice, and what came meanwhile once', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const first = rig.record('door', 0);
  rig.start();
  await rig.untilIdle();
  await rig.stop();
  const path = rig.objectPath('door', first);
  // Nobody looks at it again: else this would be seen.
  writeFileSync(path, 'other');
  const second = rig.record('door', 1);
  rig.start();
  await until('the second is copied', () => rig.isCopied('door', second));
  await rig.untilIdle();
  assert.equal(readFileSync(path, 'utf8'), 'other');
  assert.equal(rig.state?.copied, 1);
});

test('an upload that is broken off goes on where it was, after the store was away and after a restart', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const rig = new CopierRig(t, store);
  const fileName = rig.record('door', 0, 5 * PART_BYTES);
  rig.start({ mbit: 100 });
  await until('a part is there', () => (rig.state?.copiedBytes ?? 0) > 2 * PART_BYTES);
  await store.kill();
  await until('it is told', () => rig.state?.fault != null);
  assert.equal(rig.logged.lines.filter(({ level }) => level === 'warn').length, 1);
  assert.equal(rig.state?.waiting, 1);
  await rig.stop();
  const sentBytes = rig.state!.copiedBytes;
  await store.start();
  rig.start();
  await rig.untilIdle();
  assert.ok(rig.isCopied('door', fileName));
  // What was on its way when the store was killed is sent again, and no more.
  const againBytes = rig.state!.copiedBytes;
  assert.ok(againBytes < 5 * PART_BYTES, `${sentBytes} before, ${againBytes} again`);
  assert.deepEqual(await rig.client().listUploads(), []);
});

test('the queue grows while the store is away, and empties by itself', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const rig = new CopierRig(t, store);
  const names = [rig.record('door', 0)];
  rig.start();
  await rig.untilIdle();
  await store.kill();
  names.push(rig.record('door', 1), rig.record('door', 2));
  rig.copier.look();
  await until('they wait', () => rig.state?.waiting === 2 && rig.state.fault !== null);
  assert.equal(rig.state?.oldestMs, START_MS + 60_000);
  await store.start();
  await rig.untilIdle();
  for (const fileName of names) assert.ok(rig.isCopied('door', fileName));
  assert.deepEqual(
    rig.logged.lines.map(({ level, message }) => [level, message]),
    [
      ['warn', 'recordings are not copied to the store now'],
      ['info', 'recordings are copied to the store again'],
    ],
  );
});

test('a run that was killed before it wrote what it had copied is found out', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const names = [rig.record('door', 0), rig.record('door', 1, 2 * PART_BYTES)];
  rig.start();
  await rig.untilIdle();
  await rig.stop();
  const copies = () => [...(readCopies(copiesPath(rig.copiesDir, 'door'))?.table ?? [])];
  const before = copies();
  // As if neither had been written.
  rmSync(rig.copiesDir, { recursive: true });
  rig.start();
  await rig.untilIdle();
  assert.equal(rig.state?.kept['door'], 2);
  assert.equal(rig.objects().length, 2);
  await rig.stop();
  mkdirSync(rig.copiesDir, { recursive: true });
  const path = copiesPath(rig.copiesDir, 'door');
  rmSync(path);
  // This time the store was looked at before it had them.
  writeCopies(path, CopyTable.empty);
  rig.start();
  await until('both are known again', () => rig.state?.copied === 2);
  assert.equal(rig.state?.copiedBytes, 0, 'nothing was sent twice');
  assert.equal(rig.objects().length, 2);
  assert.deepEqual(copies(), before);
  for (const fileName of names) assert.ok(rig.isCopied('door', fileName));
});

test('another object of the same name is left alone', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const fileName = rig.record('door', 0);
  const other = rig.objectPath('door', fileName);
  const client = rig.client();
  await client.put(rig.objectName('door', fileName), { bytes: Buffer.from('of somebody else') });
  mkdirSync(rig.copiesDir, { recursive: true });
  writeCopies(copiesPath(rig.copiesDir, 'door'), CopyTable.empty);
  rig.start();
  await rig.untilIdle();
  assert.equal(readFileSync(other, 'utf8'), 'of somebody else');
  const own = rig.objectPath('door', fileName, { epoch: 1 });
  assert.ok(readFileSync(own).equals(readFileSync(rig.pathOf('door', fileName))));
});

test('what is not decided on yet stays, and what was deleted or renamed meanwhile is not there', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const names = [rig.record('door', 0), rig.record('door', 1), rig.record('door', 2, 4 * PART_BYTES)];
  rig.start({ mbit: 100 });
  rig.copier.hold([['door', START_MS + 60_000]]);
  await until('the first is copied', () => rig.isCopied('door', names[0]!));
  await rig.untilIdle();
  assert.equal(rig.objects().length, 1);
  rm(rig, names[1]!);
  rig.copier.hold([]);
  await until('the third is on its way', () => (rig.state?.copiedBytes ?? 0) > PART_BYTES);
  const renamed = rig.pathOf('door', '2026-11-21_08-32-01_to_08-33-00.mp4');
  renameSync(rig.pathOf('door', names[2]!), renamed);
  await until('it is there by its other name', () =>
    existsSync(rig.objectPath('door', '2026-11-21_08-32-01_to_08-33-00.mp4')),
  );
  await rig.untilIdle();
  assert.equal(rig.objects().length, 2);
  assert.equal(rig.state?.kept['door'], 2);
});

const rm = (rig: CopierRig, fileName: string): void => rmSync(rig.pathOf('door', fileName));

test('what is deleted on request, or is too old, goes from the store, also when that was away', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const rig = new CopierRig(t, store);
  const [old, asked, left] = [rig.record('door', 0), rig.record('door', 1), rig.record('door', 2)];
  const safe = rig.record('gate', 0);
  rig.start();
  await rig.untilIdle();
  await store.kill();
  assert.equal(rig.copier.forget('door', named(asked, 'other')), 1);
  rm(rig, asked);
  rm(rig, old);
  const cameraIds = ['door', 'gate'];
  const limits = cameraIds.map((cameraId) => ({ cameraId, beforeMs: START_MS + 90_000 }));
  const spared = [{ cameraId: 'gate', fromMs: START_MS, toMs: START_MS }];
  rig.copier.expire({ cameraIds, limits, eras: [], spared, localBeforeMs: null });
  await rig.stop();
  await store.start();
  rig.start();
  await until('they are gone', () => rig.state?.deleted === 2);
  assert.ok(rig.isCopied('door', left));
  assert.ok(rig.isCopied('gate', safe));
  assert.equal(rig.objects().length, 2);
  assert.deepEqual(rig.state?.kept, { door: 1, gate: 1 });
});

test('space that is made on the disk costs the store nothing, and a disk that is gone is no empty one', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const names = [rig.record('door', 0), rig.record('door', 1)];
  rig.start();
  await rig.untilIdle();
  rm(rig, names[0]!);
  rig.isThere = false;
  rmSync(join(rig.archiveDir, 'door'), { recursive: true });
  rig.isThere = true;
  rig.copier.look();
  const third = rig.record('door', 2);
  await until('it is copied', () => rig.isCopied('door', third));
  assert.equal(rig.objects().length, 3);
});

test('nothing leaves the disk that the store does not have, or that was written to', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const [lost, changed, young, good] = [0, 1, 30, 2].map((minute) => rig.record('door', minute));
  rig.write('door', '2026-11-21_08-32-00.detections', Buffer.from('what was seen'));
  rig.start();
  await rig.untilIdle();
  await rig.client().put(rig.objectName('door', lost!), { bytes: Buffer.from('x') }, { mayReplace: true });
  rig.write('door', changed!, randomBytes(2_000));
  const leave = { cameraIds: [], limits: [], eras: [], spared: [], localBeforeMs: START_MS + 600_000 };
  rig.copier.expire(leave);
  await until('it is copied anew', () => rig.state?.copied === 6);
  for (const fileName of [lost!, changed!, young!])
    assert.ok(existsSync(rig.pathOf('door', fileName)), fileName);
  assert.equal(existsSync(rig.pathOf('door', good!)), false);
  assert.equal(existsSync(rig.pathOf('door', '2026-11-21_08-32-00.detections')), false);
  rig.copier.expire(leave);
  await until(
    'they have left, too',
    () => !existsSync(rig.pathOf('door', lost!)) && !existsSync(rig.pathOf('door', changed!)),
  );
  assert.ok(existsSync(rig.pathOf('door', young!)));
  assert.equal(rig.state?.kept['door'], 4);
  const anew = [lost!, changed!].map((fileName) => rig.objectName('door', fileName, { epoch: 1 }));
  const recordings = () => rig.objects().filter((name) => name.endsWith('.mp4'));
  const left = [...anew, ...[good!, young!].map((fileName) => rig.objectName('door', fileName))].sort();
  await until('what they were is gone', () => recordings().join() === left.join());
});

test('what was seen in a recording leaves the disk only as the store has it', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const names = [0, 1, 2].map((minute) => rig.record('door', minute));
  const sidecars = [0, 1].map((minute) => `2026-11-21_08-3${minute}-00.detections`);
  for (const name of sidecars) rig.write('door', name, Buffer.from('what was seen'));
  rig.start();
  await rig.untilIdle();
  // More was seen in the first; of the second the store lost it.
  appendFileSync(rig.pathOf('door', sidecars[0]!), ', and more');
  const objects = names.map((name) => rig.objectPath('door', name).replace(/mp4$/, 'detections'));
  await rig.client().delete(rig.objectName('door', names[1]!).replace(/mp4$/, 'detections'));
  const leave = { cameraIds: [], limits: [], eras: [], spared: [], localBeforeMs: START_MS + 600_000 };
  rig.copier.expire(leave);
  await until('they are copied anew', () => rig.state?.copied === 5);
  for (const name of sidecars) assert.ok(existsSync(rig.pathOf('door', name)), name);
  assert.equal(existsSync(rig.pathOf('door', names[2]!)), false);
  rig.copier.expire(leave);
  await until('they have left', () => readdirSync(rig.pathOf('door', '')).length === 0);
  assert.equal(readFileSync(objects[0]!, 'utf8'), 'what was seen, and more');
  assert.equal(readFileSync(objects[1]!, 'utf8'), 'what was seen');
});

test('a bucket that is not there is told of until it is, and nothing is lost meanwhile', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  rig.record('door', 0);
  rig.start({ bucket: 'later' });
  await until('it is told', () => rig.state?.fault != null);
  // It is tried again and again, and by questions alone while its camera waits.
  let wasUp = false;
  await until('it was tried some more', () => {
    wasUp ||= rig.state?.isUp === true;
    return (rig.state?.failed ?? 0) > 6;
  });
  assert.equal(wasUp, false);
  assert.match(rig.state?.fault ?? '', /NoSuchBucket/);
  mkdirSync(join(rig.store.folder, 'later'));
  await rig.untilIdle();
  assert.equal(rig.state?.copied, 1);
});

test('a camera whose copies can be neither read nor written down holds up no other', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  rig.record('door', 0);
  const young = rig.record('gate', 1);
  mkdirSync(join(copiesPath(rig.copiesDir, 'door'), 'of somebody else'), { recursive: true });
  rig.start();
  await until('the other one is copied', () => rig.isCopied('gate', young));
});
