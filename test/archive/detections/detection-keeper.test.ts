import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openName } from '../../../src/archive/files/file-name.js';
import { FileProgress } from '../../../src/archive/files/file-progress.js';
import type { JobRunner } from '../../../src/archive/jobs/jobs.js';
import { InlineRunner } from '../inline-runner.js';
import { CAMERA_ID, makeKeeper, nothing, readAll, START_MS, seen } from './rig.js';

test('what is seen goes beside the recording of its time, once that is on the disk, also when it comes late', async (t) => {
  const { keeper, folder, pass, begin } = makeKeeper(t);
  mkdirSync(folder);
  // Seen before the recorder says that it made a file.
  keeper.add(CAMERA_ID, seen(START_MS, 'first'));
  await pass(1_000);
  const before = begin(START_MS, START_MS + 1_000);
  await pass(500);
  assert.deepEqual(readAll(folder, [before.sidecar]), [seen(START_MS, 'first')]);
  // The next file begins at this very moment, though nobody has said so yet.
  keeper.add(CAMERA_ID, seen(START_MS + 4_000, 'next'));
  await pass(1_000);
  before.covers(START_MS + 4_000);
  before.end();
  await pass(1_000);
  assert.equal(readAll(folder, [before.sidecar]).length, 1);
  const after = begin(START_MS + 4_000, START_MS + 5_000);
  keeper.add(CAMERA_ID, seen(START_MS + 3_999, 'late'));
  await pass(1_000);
  const labels = (sidecar: string) => readAll(folder, [sidecar]).map(({ objects }) => objects[0]?.label);
  assert.deepEqual(labels(before.sidecar), ['first', 'late']);
  assert.deepEqual(labels(after.sidecar), ['next']);
  assert.equal(keeper.counts.kept, 3);
});

test('that nothing is seen any more is kept once; what no recording has is forgotten, and lost by nobody', async (t) => {
  const { keeper, folder, pass, begin } = makeKeeper(t);
  mkdirSync(folder);
  const file = begin(START_MS, START_MS + 60_000);
  for (const one of [nothing(START_MS), seen(START_MS + 1), nothing(START_MS + 2), nothing(START_MS + 3)])
    keeper.add(CAMERA_ID, one);
  keeper.add(CAMERA_ID, seen(START_MS - 5_000));
  await pass(60_000);
  assert.deepEqual(readAll(folder, [file.sidecar]), [seen(START_MS + 1), nothing(START_MS + 2)]);
  assert.deepEqual(readdirSync(folder), [file.sidecar]);
  assert.deepEqual(keeper.counts, { kept: 2, lost: 0 });
});

test('behind a torn end it goes on where the last whole record ends, and what another hand wrote is left alone', async (t) => {
  const { keeper, folder, pass, begin } = makeKeeper(t);
  mkdirSync(folder);
  const file = begin(START_MS, START_MS + 60_000);
  keeper.add(CAMERA_ID, seen(START_MS, 'a'));
  await pass(500);
  const path = join(folder, file.sidecar);
  const whole = statSync(path).size;
  appendFileSync(path, readFileSync(path).subarray(8, whole - 1));
  assert.equal(readAll(folder, [file.sidecar]).length, 1);
  keeper.add(CAMERA_ID, seen(START_MS + 1, 'b'));
  await pass(500);
  assert.deepEqual(readAll(folder, [file.sidecar]), [seen(START_MS, 'a'), seen(START_MS + 1, 'b')]);
  assert.equal(statSync(path).size, 2 * whole - 8);
  const foreign = begin(START_MS + 61_000, START_MS + 70_000);
  writeFileSync(join(folder, foreign.sidecar), 'FrmDet\x00\x02 of the future');
  keeper.add(CAMERA_ID, seen(START_MS + 62_000));
  await pass(1_000);
  assert.equal(readFileSync(join(folder, foreign.sidecar), 'utf8'), 'FrmDet\x00\x02 of the future');
});

/** A disk that refuses, or doesn't answer. */
class BadDisk implements JobRunner {
  mode: 'good' | 'full' | 'hangs' = 'good';
  readonly #inner = new InlineRunner();
  readonly run: JobRunner['run'] = (name, input) => {
    if (this.mode === 'full') return Promise.reject(new Error('ENOSPC'));
    return this.mode === 'hangs' ? new Promise(() => {}) : this.#inner.run(name, input);
  };
}

test('a full disk is tried again; what waits has a bound, and what is beyond it is counted', async (t) => {
  const disk = new BadDisk();
  const { keeper, folder, pass, begin, lines, stop } = makeKeeper(t, disk);
  mkdirSync(folder);
  const file = begin(START_MS, START_MS + 600_000);
  disk.mode = 'full';
  keeper.add(CAMERA_ID, seen(START_MS));
  await pass(20_000);
  assert.equal(lines.length, 1, 'told once');
  disk.mode = 'good';
  await pass(6_000);
  assert.deepEqual(readAll(folder, [file.sidecar]), [seen(START_MS)]);
  disk.mode = 'hangs';
  const long = 'x'.repeat(60);
  let added = 0;
  for (; keeper.counts.lost === 0 && added < 100_000; added += 1) {
    for (const camera of [CAMERA_ID, 'b', 'c', 'd']) keeper.add(camera, seen(START_MS + added, long));
    if (added % 500 === 0) await pass(500);
  }
  assert.ok(keeper.counts.lost > 0 && added < 50_000, `${added}`);
  await stop();
});

test('a folder that is gone, or a link, takes nothing and is not made', async (t) => {
  const { keeper, archiveDir, pass, begin, lines } = makeKeeper(t);
  begin(START_MS, START_MS + 600_000);
  keeper.add(CAMERA_ID, seen(START_MS));
  await pass(2_000);
  assert.deepEqual(readdirSync(archiveDir), []);
  assert.deepEqual([keeper.counts, lines], [{ kept: 0, lost: 0 }, []]);
});

test('what goes while its recording is fresh is not made anew, not to be synced either', async (t) => {
  const { keeper, folder, pass, begin } = makeKeeper(t);
  mkdirSync(folder);
  const file = begin(START_MS, START_MS + 1_000);
  keeper.add(CAMERA_ID, seen(START_MS));
  await pass(500);
  file.end();
  rmSync(join(folder, file.sidecar));
  await pass(1_000);
  keeper.add(CAMERA_ID, seen(START_MS + 1));
  await pass(60_000);
  assert.deepEqual(readdirSync(folder), []);
  assert.deepEqual(keeper.counts, { kept: 1, lost: 0 });
});

test('what goes while the disk refuses is not made anew', async (t) => {
  const disk = new BadDisk();
  const { keeper, folder, pass, begin } = makeKeeper(t, disk);
  mkdirSync(folder);
  const file = begin(START_MS, START_MS + 600_000);
  keeper.add(CAMERA_ID, seen(START_MS));
  await pass(500);
  disk.mode = 'full';
  keeper.add(CAMERA_ID, seen(START_MS + 1));
  await pass(2_000);
  rmSync(join(folder, file.sidecar));
  disk.mode = 'good';
  await pass(10_000);
  assert.deepEqual(readdirSync(folder), []);
});

test("one camera's trouble holds up no other's", async (t) => {
  const { keeper, archiveDir, folder, pass, begin } = makeKeeper(t);
  mkdirSync(folder);
  const file = begin(START_MS, START_MS + 60_000);
  const other = new FileProgress();
  other.set(1, START_MS + 60_000);
  keeper.fileMade('foreign', openName(START_MS), other);
  mkdirSync(join(archiveDir, 'foreign'));
  mkdirSync(join(archiveDir, 'foreign', file.sidecar));
  for (let second = 0; second < 5; second += 1) {
    for (const camera of ['foreign', CAMERA_ID]) keeper.add(camera, seen(START_MS + second));
    await pass(1_000);
  }
  assert.equal(readAll(folder, [file.sidecar]).length, 5);
});

test('what can be written is, when the service stops', async (t) => {
  const { keeper, folder, begin, stop } = makeKeeper(t);
  mkdirSync(folder);
  const file = begin(START_MS, START_MS + 1_000);
  keeper.add(CAMERA_ID, seen(START_MS + 999));
  await stop();
  assert.deepEqual(readAll(folder, [file.sidecar]), [seen(START_MS + 999)]);
});
