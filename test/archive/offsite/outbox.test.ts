import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Outbox } from '../../../src/archive/offsite/outbox.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { Versitygw, withoutStore } from '../../support/versitygw.js';
import { CopierRig, EVERYTHING } from './copier-rig.js';

const OBJECT = 'door/2026-11-21/2026-11-21_08-30-00_to_09-30-00_0_box.mp4';
const sending = { object: OBJECT, source: 'of', mark: null, uploadId: 'id', parts: {}, isUnwanted: false };

const opened = (path: string): Outbox => new Outbox(path, () => assert.fail('it is damaged'));

test('what the disk did not take is not so, and is written when it is asked for again', (t) => {
  const path = join(tempFolder(t), 'outbox.json');
  const outbox = opened(path);
  outbox.set(sending);
  const wish = { cameraId: 'door', ...EVERYTHING, markedMs: null };
  const changes = [
    () => outbox.wish(wish),
    () => outbox.set({ ...sending, isUnwanted: true }),
    () => outbox.abandon(OBJECT),
    () => outbox.remove(OBJECT),
  ];
  // Where a draft goes.
  mkdirSync(`${path}.new`);
  for (const change of changes) assert.throws(change);
  assert.deepEqual([outbox.sendings, outbox.wishes, outbox.ended], [[sending], [], []]);
  rmSync(`${path}.new`, { recursive: true });
  for (const change of changes) change();
  const after = opened(path);
  assert.deepEqual([after.sendings, after.wishes.length], [[], 1]);
  assert.deepEqual(after.ended, [{ object: OBJECT, uploadId: 'id' }]);
});

test('wishes that say no more than another one does are not written', (t) => {
  const outbox = opened(join(tempFolder(t), 'outbox.json'));
  const wish = (fromMs: number, toMs: number, markedMs: number | null, ...fileNames: string[]): void =>
    outbox.wish({ cameraId: 'door', fromMs, toMs, fileNames, markedMs });
  const times = () => outbox.wishes.map(({ fromMs, toMs, markedMs }) => [fromMs, toMs, markedMs]);
  const [within, beside] = ['1970-01-01_00-00-01_to_00-00-02.mp4', '1970-01-01_00-00-08_to_00-00-09.mp4'];
  wish(1_000, 2_000, 10, within, beside);
  wish(1_000, 2_000, 11);
  wish(1_500, 2_000, 11, within);
  assert.deepEqual([times(), outbox.wishes[0]?.fileNames], [[[1_000, 2_000, 11]], [beside]]);
  // What lies within both together lies within neither; and what was recorded since the first was marked isn't meant by that.
  wish(1_500, 3_000, 11);
  wish(1_600, 1_700, 12);
  assert.deepEqual(times(), [
    [1_000, 2_000, 11],
    [1_500, 3_000, 11],
    [1_600, 1_700, 12],
  ]);
  wish(0, 9_000, null);
  assert.deepEqual([times(), outbox.wishes[0]?.fileNames], [[[0, 9_000, null]], []]);
  for (let at = 0; at < 999; at += 1) wish(at * 10_000 + 20_000, at * 10_000 + 20_001, null);
  assert.throws(() => wish(11_000, 11_001, null), /1000/);
  assert.deepEqual([outbox.wishes.length, outbox.mayWish], [1_000, false]);
});

test('what the disk does not give is not taken for nothing', (t) => {
  const path = tempFolder(t);
  assert.throws(() => opened(path), { code: 'EISDIR' });
});

test('where nobody can tell any more what was on its way the store is asked what it has', {
  skip: withoutStore,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const [path, fileName] = [join(rig.copiesDir, 'outbox.json'), rig.record('door', 0)];
  rig.start();
  await rig.untilIdle();
  await rig.stop();
  // It was sent, and nobody heard of it.
  await rig.client().put(rig.objectName('door', rig.nameOf(5)), { bytes: Buffer.from('x') });
  writeFileSync(path, '{"sendings":[');
  rig.start();
  await until('it is known', () => rig.state?.kept['door'] === 2);
  assert.ok(rig.isCopied('door', fileName));
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { sendings: [], wishes: [], ended: [] });
});
