import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { closedName } from '../../../src/archive/files/file-name.js';
import { Deleting } from '../../../src/archive/keep/deleting.js';
import { Retention, type RetentionRule } from '../../../src/archive/keep/retention.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import type { CopyExpiry, Unwanted } from '../../../src/archive/offsite/messages.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';

const NOW_MS = Date.UTC(2026, 10, 21, 8, 30);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Who copies recordings, as deletions see it. */
class Copying {
  readonly localDays = 3;
  readonly told: CopyExpiry[] = [];
  readonly forgotten: { readonly cameraId: string; readonly unwanted: Unwanted }[] = [];
  isStuck = false;
  readonly kept = new Set<string>();

  expire(expiry: CopyExpiry): void {
    this.told.push(expiry);
  }

  keeps(cameraId: string): boolean {
    return this.kept.has(cameraId);
  }

  async forget(cameraId: string, unwanted: Unwanted): Promise<number> {
    if (this.isStuck) throw new Error('it can not be written now');
    this.forgotten.push({ cameraId, unwanted });
    return unwanted.fileNames.length;
  }
}

const write = (folder: string, agoMs: number): string => {
  mkdirSync(folder, { recursive: true });
  const name = closedName(NOW_MS - agoMs - HOUR_MS, NOW_MS - agoMs);
  writeFileSync(join(folder, name), 'x');
  return name;
};

const retentionOf = (t: TestContext, rules: readonly RetentionRule[]) => {
  const [archiveDir, copies, gone] = [tempFolder(t), new Copying(), [] as string[]];
  const retention = new Retention(
    { archiveDir, minFreePercent: 0 },
    {
      ...{ runner: new InlineRunner(), clock: new FakeClock(NOW_MS), log: logLines().log, copies },
      memory: { lastMs: () => NOW_MS, remember: () => {}, eras: () => null, rememberEras: () => {} },
      ...{ rules: () => rules, live: nobodyWrites, onGone: (id: string) => void gone.push(id) },
    },
  );
  return { archiveDir, copies, gone, retention };
};

test('copies go by the ages of recordings, and recordings leave the disk by their own', async (t) => {
  const { copies, retention } = retentionOf(t, [
    { cameraId: 'a', retentionDays: 7, camera: 'here' },
    { cameraId: 'b', retentionDays: 7, eventRetentionDays: 30, camera: 'here' },
    { cameraId: 'c', retentionDays: 0, camera: 'here' },
    { cameraId: 'd', retentionDays: 7, camera: 'purged' },
  ]);
  await retention.sweep();
  assert.equal(copies.told.length, 1);
  const [told] = copies.told;
  const never = Number.NEGATIVE_INFINITY;
  assert.deepEqual(told?.limits, [
    { cameraId: 'a', beforeMs: NOW_MS - 7 * DAY_MS, wholeBeforeMs: never },
    { cameraId: 'b', beforeMs: NOW_MS - 30 * DAY_MS, wholeBeforeMs: NOW_MS - 7 * DAY_MS },
    { cameraId: 'd', beforeMs: Number.POSITIVE_INFINITY, wholeBeforeMs: never },
  ]);
  assert.deepEqual(told.cameraIds, ['a', 'b', 'c', 'd']);
  assert.equal(told.localBeforeMs, NOW_MS - 3 * DAY_MS);
});

test('a deleted camera is known for as long as the store has recordings of it', async (t) => {
  const { copies, gone, retention } = retentionOf(t, [
    { cameraId: 'a', retentionDays: 7, camera: 'deleted' },
    { cameraId: 'b', retentionDays: 7, camera: 'purged' },
  ]);
  copies.kept.add('a');
  copies.isStuck = true;
  await retention.sweep();
  assert.deepEqual(gone, []);
  copies.isStuck = false;
  await retention.sweep();
  // Of a purged one it is enough that it is certain that all goes.
  assert.deepEqual(gone, ['b']);
  const everything = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, fileNames: [] };
  assert.deepEqual(copies.forgotten, [{ cameraId: 'b', unwanted: everything }]);
  copies.kept.clear();
  await retention.sweep();
  assert.deepEqual(gone, ['b', 'a', 'b']);
});

test('what is deleted on request is to go from the store before the disk is touched', async (t) => {
  const archiveDir = tempFolder(t);
  const names = [write(join(archiveDir, 'a'), 3 * HOUR_MS), write(join(archiveDir, 'a'), HOUR_MS)];
  const [runner, copies] = [new InlineRunner(), new Copying()];
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites });
  const deleting = new Deleting({ archiveDir }, { recordings, runner, copies, log: logLines().log });
  copies.isStuck = true;
  await assert.rejects(deleting.deleteWithin('a', 0, NOW_MS - 2 * HOUR_MS), /can not be written/);
  assert.equal(readdirSync(join(archiveDir, 'a')).length, 2);
  copies.isStuck = false;
  assert.equal(await deleting.deleteWithin('a', 0, NOW_MS - 2 * HOUR_MS), 1);
  assert.deepEqual(readdirSync(join(archiveDir, 'a')), [names[1]]);
  // The time, too: the store may have some that nobody knows of here.
  const unwanted = { fromMs: 0, toMs: NOW_MS - 2 * HOUR_MS, fileNames: [names[0]] };
  assert.deepEqual(copies.forgotten[0], { cameraId: 'a', unwanted });
});
