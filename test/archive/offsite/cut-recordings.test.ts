import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cutRecording } from '../../../src/archive/keep/cut-recording.js';
import { until } from '../../support/until.js';
import { Versitygw, withoutStore } from '../../support/versitygw.js';
import { writeClosed } from '../recording-file.js';
import { archiveOf } from './archive-beside-store.js';
import { CopierRig } from './copier-rig.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);
const ID = 'door';
const sec = (from: number, to: number) => ({ fromMs: START_MS + from * 1_000, toMs: START_MS + to * 1_000 });

test('what was cut on the disk and is whole in the store is listed once, as that; so is all that is played of it', {
  skip: withoutStore,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const folder = join(rig.archiveDir, ID);
  const whole = writeClosed(folder, { startMs: START_MS, fragments: 16 });
  rig.start();
  await rig.untilIdle();
  await rig.stop();
  const archive = archiveOf(t, rig, true);
  archive.offsite!.start();
  const { requests } = archive;
  const told = await requests.list(ID);
  const range = { ...sec(0, 16), session: null };
  const played = Buffer.concat(await requests.rangePlaylist(ID, range)).toString();
  // Its beginning, and some of its middle.
  const kept = [sec(0, 1), sec(6, 8)];
  const { names } = cutRecording({ archiveDir: rig.archiveDir, cameraId: ID, fileName: whole, kept });
  assert.equal(names.length, 2);
  const shown = async () => (await requests.list(ID)).map(({ fileName }) => fileName);
  assert.deepEqual(
    await shown(),
    told.map(({ fileName }) => fileName),
  );
  assert.equal(Buffer.concat(await requests.rangePlaylist(ID, range)).toString(), played);
  // By their names they are there, and what is deleted goes as a whole.
  for (const fileName of names)
    assert.ok((await requests.segment(ID, { fileName, seq: 0 })).bytes.length > 0);
  assert.ok((await requests.deleteWithin(ID, START_MS - 1, START_MS + 60_000)) > 0);
  assert.deepEqual(readdirSync(folder), []);
  assert.deepEqual(await shown(), []);
});

test('while the store is away what the disk has of a recording is listed and played', {
  skip: withoutStore,
}, async (t) => {
  const store = await Versitygw.start(t);
  const rig = new CopierRig(t, store);
  const whole = writeClosed(join(rig.archiveDir, ID), { startMs: START_MS, fragments: 16 });
  rig.start();
  await rig.untilIdle();
  await rig.stop();
  const input = { archiveDir: rig.archiveDir, cameraId: ID, fileName: whole };
  const { names } = cutRecording({ ...input, kept: [sec(0, 1), sec(6, 8)] });
  const archive = archiveOf(t, rig, true);
  archive.offsite!.start();
  const { requests } = archive;
  const shown = async () => (await requests.list(ID)).map(({ fileName }) => fileName).join();
  await until('the store is there', () => archive.offsite!.isUp);
  assert.equal(await shown(), whole);
  await store.kill();
  // Nothing is to be copied: who plays it is the first to see that.
  await assert.rejects(requests.segment(ID, { fileName: whole, seq: 3 }));
  await until('its pieces are listed', async () => (await shown()) === names.join());
  const playlist = Buffer.concat(await requests.rangePlaylist(ID, { ...sec(0, 16), session: null }));
  for (const name of names) assert.ok(playlist.includes(name.slice(0, 19)), name);
  await store.start();
  await until('the whole is', async () => (await shown()) === whole);
});

test('pieces whose whole goes from the store are listed again', { skip: withoutStore }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const whole = writeClosed(join(rig.archiveDir, ID), { startMs: START_MS, fragments: 16 });
  rig.start();
  await rig.untilIdle();
  const input = { archiveDir: rig.archiveDir, cameraId: ID, fileName: whole };
  const { names } = cutRecording({ ...input, kept: [sec(0, 1), sec(6, 8)] });
  rig.copier.forget(ID, { fromMs: 1, toMs: 0, fileNames: [whole] });
  await rig.stop();
  const archive = archiveOf(t, rig, true);
  archive.offsite!.start();
  const shown = (await archive.requests.list(ID)).map(({ fileName }) => fileName);
  assert.deepEqual(shown, names);
});

test('what was recorded after the clock was set back is listed beside what it overlaps', {
  skip: withoutStore,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const folder = join(rig.archiveDir, ID);
  const first = writeClosed(folder, { startMs: START_MS, fragments: 16 });
  rig.start();
  await rig.untilIdle();
  rig.copier.expire({ cameraIds: [], limits: [], eras: [], spared: [], localBeforeMs: START_MS + 60_000 });
  await until('it has left the disk', () => readdirSync(folder).length === 0);
  await rig.stop();
  const again = writeClosed(folder, { startMs: START_MS + 3_000, fragments: 4, startReason: 'clock' });
  const archive = archiveOf(t, rig, true);
  archive.offsite!.start();
  const shown = (await archive.requests.list(ID)).map(({ fileName }) => fileName);
  assert.deepEqual(shown, [first, again]);
});
