import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { closedName } from '../../../src/archive/files/file-name.js';
import { evictOldest } from '../../../src/archive/keep/delete-files.js';
import { Retention } from '../../../src/archive/keep/retention.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';

const NOW_MS = Date.UTC(2026, 10, 21, 8, 30);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A closed file of an hour, whose name ends `agoMs` ago. */
const writeEnded = (folder: string, agoMs: number): string => {
  mkdirSync(folder, { recursive: true });
  const name = closedName(NOW_MS - agoMs - HOUR_MS, NOW_MS - agoMs);
  writeFileSync(join(folder, name), 'x');
  return name;
};

test('what is protected stays, however old it is and however little is free; not if its camera is to go', async (t) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'a');
  const [before, first, second, after] = [13, 12, 11, 10].map((days) => writeEnded(folder, days * DAY_MS));
  const other = writeEnded(join(archiveDir, 'b'), 11 * DAY_MS);
  // From the last second of one file to the first of the next.
  const spared = [
    { cameraId: 'a', fromMs: NOW_MS - 12 * DAY_MS, toMs: NOW_MS - 11 * DAY_MS - HOUR_MS },
    { cameraId: 'c', fromMs: 0, toMs: NOW_MS },
  ];
  const noRoom = () => ({ bavail: 0, blocks: 100, bsize: 4096 });
  const evict = { archiveDir, minFreePercent: 50, eras: [], maxFiles: 64, skip: [], spared };
  const sweep = (camera: 'here' | 'purged', known: typeof spared | null = spared): Promise<void> =>
    new Retention(
      { archiveDir, minFreePercent: 0 },
      {
        ...{ runner: new InlineRunner(), clock: new FakeClock(NOW_MS), log: logLines().log },
        ...{ onGone: () => {}, live: { isLive: () => false }, spared: () => known },
        rules: () => ['a', 'b'].map((cameraId) => ({ cameraId, retentionDays: 7, camera })),
        memory: { lastMs: () => NOW_MS, remember: () => {}, eras: () => null, rememberEras: () => {} },
      },
    ).sweep();
  await sweep('here', null);
  assert.equal(readdirSync(folder).length, 4, 'nobody knows what is protected');
  await sweep('here');
  assert.deepEqual(readdirSync(folder), [first, second]);
  assert.deepEqual(readdirSync(join(archiveDir, 'b')), []);
  for (const name of [before, after, other]) writeFileSync(join(folder, name!), 'x');
  assert.deepEqual(
    evictOldest(evict, noRoom)
      .deleted.map(({ fileName }) => fileName)
      .sort(),
    [before, after].sort(),
  );
  assert.deepEqual(readdirSync(folder), [first, second]);
  await sweep('purged');
  assert.ok(!existsSync(folder));
});
