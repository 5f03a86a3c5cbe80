import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copiesPath, MAX_COPIES, readCopies, writeCopies } from '../../../src/archive/offsite/copies-file.js';
import { CopyTable } from '../../../src/archive/offsite/copy-table.js';
import { BetweenStore } from '../../support/between-store.js';
import { until } from '../../support/until.js';
import { Versitygw, withoutStore } from '../../support/versitygw.js';
import { CopierRig, expiryOf, START_MS } from './copier-rig.js';
import { manyCopies } from './made-copies.js';

const skip = withoutStore;
const leave = { ...expiryOf([]), localBeforeMs: START_MS + 600_000 };
const trouble = { status: 503, code: 'SlowDownWrite' };

test('one that the store alone has trouble with holds up no other, and the store is not away for that', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [bad, good] = [rig.record('door', 0), rig.record('door', 1)];
  const object = rig.objectName('door', bad);
  let isTroubled = true;
  between.fate = (method, target) =>
    isTroubled && method === 'PUT' && target.includes(object) ? trouble : 'pass';
  rig.start({ via: between });
  let wasAway = false;
  await until('the other one is copied', () => {
    wasAway ||= rig.state?.isAway === true;
    return rig.isCopied('door', good);
  });
  assert.equal(wasAway, false);
  isTroubled = false;
  await rig.untilIdle();
  assert.ok(rig.isCopied('door', bad));
});

test('one that the store can not show stays on the disk, and others leave it', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [bad, good] = [rig.record('door', 0), rig.record('door', 1)];
  rig.start({ via: between });
  await rig.untilIdle();
  const object = rig.objectName('door', bad);
  between.fate = (method, target) => (method === 'HEAD' && target.includes(object) ? trouble : 'pass');
  rig.copier.expire(leave);
  await until('the other one has left', () => !existsSync(rig.pathOf('door', good)));
  await until('it is tried again', () => between.asked.filter((line) => line.includes(object)).length > 6);
  assert.ok(existsSync(rig.pathOf('door', bad)));
});

test('what is no more in the store as it was sent is sent anew, whatever it says that it is of', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const fileName = rig.record('door', 0);
  const bytes = readFileSync(rig.pathOf('door', fileName));
  rig.start();
  await rig.untilIdle();
  const [client, object] = [rig.client(), rig.objectName('door', fileName)];
  const source = (await client.head(object))!.source!;
  await client.put(object, { bytes: randomBytes(bytes.length) }, { mayReplace: true, source });
  rig.copier.expire(leave);
  await until('it is copied anew', () => rig.state?.copied === 2);
  rig.copier.expire(leave);
  await until('it has left', () => !existsSync(rig.pathOf('door', fileName)));
  assert.ok(readFileSync(rig.objectPath('door', fileName, { epoch: 1 })).equals(bytes));
  await until('what it was is gone', () => rig.objects().length === 1);
});

test('a file that was cut on the disk does not replace the whole copy', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const fileName = rig.record('door', 0);
  const bytes = readFileSync(rig.pathOf('door', fileName));
  rig.start();
  await rig.untilIdle();
  truncateSync(rig.pathOf('door', fileName), 300);
  rig.copier.expire(leave);
  const isTold = () => rig.logged.lines.some(({ message }) => message.includes('can not be copied'));
  await until('it is told', isTold);
  await until('it shows', () => rig.state?.fileFault != null);
  assert.equal(rig.state?.fault, null);
  assert.deepEqual(rig.objects(), [rig.objectName('door', fileName)]);
  assert.ok(readFileSync(rig.objectPath('door', fileName)).equals(bytes));
  assert.equal(readFileSync(rig.pathOf('door', fileName)).length, 300);
  // Once the store has lost it, it is the best there is.
  rmSync(rig.objectPath('door', fileName));
  await until('what is left is copied', () => rig.isCopied('door', fileName));
  await until('all is well', () => rig.state?.waiting === 0 && rig.state.fileFault === null);
});

test('where no more copies can be written down nothing is sent for nothing', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [fileName, other] = [rig.record('door', 0), rig.record('gate', 1)];
  mkdirSync(rig.copiesDir, { recursive: true });
  writeCopies(copiesPath(rig.copiesDir, 'door'), CopyTable.of(manyCopies(MAX_COPIES)));
  rig.start({ via: between });
  await until('another camera has its turn', () => rig.isCopied('gate', other));
  await until('it is told', () => rig.logged.lines.some(({ level }) => level === 'warn'));
  const object = rig.objectName('door', fileName);
  assert.deepEqual(
    between.asked.filter((line) => line.startsWith('PUT') && line.includes(object)),
    [],
  );
  assert.doesNotMatch(readFileSync(join(rig.copiesDir, 'outbox.json'), 'utf8'), /door/);
});

test('where nothing can be written down nothing is copied, and that is told until it can', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const fileName = rig.record('door', 0);
  const inTheWay = join(rig.copiesDir, 'outbox.json.new');
  mkdirSync(inTheWay, { recursive: true });
  rig.start();
  await until('it is told', () => /the disk failed: E/.test(rig.state?.fault ?? ''));
  assert.deepEqual([rig.state?.isUp, rig.state?.isAway], [false, false]);
  rmSync(inTheWay, { recursive: true });
  await rig.untilIdle();
  assert.ok(rig.isCopied('door', fileName));
});

test('however many leave the disk, what is to be copied has its turn', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const names = Array.from({ length: 70 }, (_, minute) => rig.record('door', minute, 10));
  rig.start({ via: between });
  await rig.untilIdle();
  const young = rig.record('door', 300);
  let heads = 0;
  // From the second turn on they go no further before it is copied.
  between.fate = async (method, target) => {
    if (method === 'HEAD' && !target.includes(young.slice(0, 19)) && ++heads > 33)
      await until('the young one is copied', () => rig.isCopied('door', young));
    return 'pass' as const;
  };
  rig.copier.expire({ ...leave, localBeforeMs: START_MS + 200 * 60_000 });
  await until('they have left', () => names.every((name) => !existsSync(rig.pathOf('door', name))));
  assert.ok(rig.isCopied('door', young));
});

test('what was seen in it stays in the store where the disk has lost that', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const [fileName, sidecar] = [rig.record('door', 0), '2026-11-21_08-30-00.detections'];
  rig.write('door', sidecar, Buffer.from('what was seen'));
  rig.start();
  await rig.untilIdle();
  rmSync(rig.pathOf('door', sidecar));
  // As if it came from a backup.
  chmodSync(rig.pathOf('door', fileName), 0o600);
  rig.copier.expire(leave);
  await until('it was looked at anew', () => rig.state?.copied === 2);
  rig.copier.expire(leave);
  await until('it has left', () => !existsSync(rig.pathOf('door', fileName)));
  const [copy] = readCopies(copiesPath(rig.copiesDir, 'door'))!.table;
  assert.equal(copy?.sidecarBytes, 'what was seen'.length);
  assert.equal(rig.objects().length, 2);
});

test('what the disk makes room by while it is sent is a copy, also where a snapshot has the file', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const fileName = rig.record('door', 0);
  linkSync(rig.pathOf('door', fileName), join(rig.archiveDir, 'snapshot'));
  between.fate = (method) => {
    if (method === 'PUT') rmSync(rig.pathOf('door', fileName), { force: true });
    return 'pass';
  };
  rig.start({ via: between });
  await until('it is a copy', () => rig.state?.copied === 1);
  assert.equal(rig.state?.kept['door'], 1);
  assert.deepEqual(rig.objects(), [rig.objectName('door', fileName)]);
});

test('a box that has another name now leaves nothing of what it copied before', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const fileName = rig.record('door', 0);
  rig.start({ box: 'old' });
  await rig.untilIdle();
  await rig.stop();
  // As if it came from a backup.
  chmodSync(rig.pathOf('door', fileName), 0o600);
  rig.start({ box: 'new' });
  rig.copier.expire(leave);
  const now = rig.objectName('door', fileName, { box: 'new' });
  await until('only the new one is there', () => rig.objects().join() === now);
  await until('it alone is known', () => rig.state?.kept['door'] === 1);
});

test('of objects of the same recording, that are found, one stays', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const [client, fileName] = [rig.client(), rig.nameOf(0)];
  const nameOf = (epoch: number, box: string) => rig.objectName('door', fileName, { epoch, box });
  for (const name of [nameOf(0, 'old'), nameOf(1, 'new'), nameOf(0, 'new')])
    await client.put(name, { bytes: randomBytes(100) });
  rig.start({ box: 'new' });
  rig.copier.expire(expiryOf(['door']));
  await until('one is there', () => rig.objects().join() === nameOf(1, 'new'));
  await until('it is known', () => rig.state?.kept['door'] === 1);
});
