import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { closedName, parseRecordingName } from '../../../src/archive/files/file-name.js';
import { KnownNames } from '../../../src/archive/files/known-names.js';
import { EraOrder } from '../../../src/archive/keep/clock-eras.js';
import { nothingKnown } from '../../../src/archive/list/inspect-files.js';
import { Backlog } from '../../../src/archive/offsite/backlog.js';
import { type Copy, markOf } from '../../../src/archive/offsite/copy.js';
import { CopyTable } from '../../../src/archive/offsite/copy-table.js';
import { DiskLeaver } from '../../../src/archive/offsite/disk-leaver.js';
import { s3Error } from '../../../src/s3/errors.js';
import { tempFolder } from '../../support/temp-folder.js';
import { logLines } from '../log-lines.js';
import { START_MS } from './copier-rig.js';

const never = new AbortController().signal;

const COUNT = 100;
const STUCK = 40;

/** A folder of recordings that all are in the store. */
const setUp = (t: TestContext) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'door');
  mkdirSync(folder);
  const names = Array.from({ length: COUNT }, (_, at) => {
    const startMs = START_MS + at * 60_000;
    return closedName(startMs, startMs + 60_000);
  });
  const copies = names.map((fileName): Copy => {
    const path = join(folder, fileName);
    writeFileSync(path, 'what was filmed');
    const { ino, size: sizeBytes, mtimeMs, ctimeMs } = lstatSync(path);
    return {
      ...{ recording: parseRecordingName(fileName)!, stamp: { ino, sizeBytes, mtimeMs, ctimeMs } },
      ...{ inspection: nothingKnown, sizeBytes, mark: markOf('e'), sidecarBytes: 0 },
      ...{ epoch: 0, box: 'box', isLeaving: false },
    };
  });
  const stuck = names.slice(0, STUCK);
  const { log, lines } = logLines();
  const deps = {
    ...{ log, names: new KnownNames(archiveDir), backlog: new Backlog(), nowMs: () => 0 },
    ...{ isThere: async () => true, notes: { read: () => CopyTable.of(copies) } },
    client: { head: async () => ({ bytes: copies[0]!.sizeBytes, etag: 'e', source: null }) },
    judge: async (fault: unknown) => fault,
  };
  /** Until there is nothing more to do. */
  const run = async (leaver: DiskLeaver): Promise<void> => {
    leaver.begin(START_MS + 1_000 * 60_000, new EraOrder([]), ['door']);
    let steps = 0;
    while ((await leaver.step(never)) !== null) {
      steps += 1;
      assert.ok(steps < COUNT, 'it has no end');
    }
  };
  const left = (): string[] => names.filter((name) => existsSync(join(folder, name)));
  return { archiveDir, copies, stuck, lines, deps, run, left };
};

test('files that can not be deleted stay, are told of once, and hold up none of the others', async (t) => {
  const { archiveDir, stuck, lines, deps, run, left } = setUp(t);
  /** As of a file with an immutable flag. */
  class StuckNames extends KnownNames {
    override deleteFile<Result>(cameraId: string, fileName: string, remove: () => Result): Result {
      if (stuck.includes(fileName)) throw Object.assign(new Error('EPERM: not permitted'), { code: 'EPERM' });
      return super.deleteFile(cameraId, fileName, remove);
    }
  }
  await run(new DiskLeaver(archiveDir, { ...deps, names: new StuckNames(archiveDir) }));
  assert.deepEqual(left(), stuck);
  assert.equal(lines.length, 1);
});

test('where too many wait to be copied anew already others leave all the same', async (t) => {
  const { archiveDir, copies, stuck, deps, run, left } = setUp(t);
  for (const [at, copy] of copies.entries()) if (at < STUCK) copies[at] = { ...copy, stamp: null };
  const backlog = { doubt: () => false, isDoubted: () => false };
  await run(new DiskLeaver(archiveDir, { ...deps, backlog }));
  assert.deepEqual(left(), stuck);
});

test('what the store refuses is the last to be tried again, however late that is', async (t) => {
  const { archiveDir, stuck, deps, left } = setUp(t);
  let nowMs = 0;
  const isStuck = (object: string) => stuck.some((name) => object.includes(name.replace('.mp4', '_')));
  const head = (object: string) =>
    isStuck(object) ? Promise.reject(s3Error('s3_refused', 'no')) : deps.client.head();
  const leaver = new DiskLeaver(archiveDir, { ...deps, client: { head }, nowMs: () => nowMs });
  leaver.begin(START_MS + 1_000 * 60_000, new EraOrder([]), ['door']);
  for (let turns = 0; left().length > STUCK; turns += 1) {
    assert.ok(turns <= COUNT, 'others have no turn');
    await leaver.step(never).catch((fault) => assert.match(String(fault), /no/));
    // All may be tried again.
    nowMs += 24 * 3_600_000;
  }
  assert.deepEqual(left(), stuck);
});
