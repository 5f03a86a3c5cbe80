import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { closedName, openName, parseRecordingName } from '../../../src/archive/files/file-name.js';
import { knownNames } from '../../../src/archive/files/known-names.js';
import { EraOrder } from '../../../src/archive/keep/clock-eras.js';
import { closedBefore } from '../../../src/archive/keep/closed-within.js';
import { deleteExpired, evictOldest, oldestRecordings } from '../../../src/archive/keep/delete-files.js';
import { brokenFileAt } from '../../../src/archive/list/broken-files.js';
import { tempFolder } from '../../support/temp-folder.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30);
const HOUR_MS = 3_600_000;
const LONG_MS = 60_000;
const CAMERAS = ['a', 'b', 'c'] as const;

/** The monotonic clock goes as the test says. */
const ownTime = (t: TestContext): ((ms: number) => void) => {
  let nowMs = 1_000_000;
  t.mock.method(performance, 'now', () => nowMs);
  return (ms) => {
    nowMs += ms;
  };
};

/** Waits until what changes now has another time than what changed before, which takes the file system some milliseconds. */
const letTimePass = (archiveDir: string): void => {
  const probe = join(archiveDir, 'probe');
  const lastMs = Math.max(
    ...['.', ...readdirSync(archiveDir)].map((name) => statSync(join(archiveDir, name)).ctimeMs),
  );
  do writeFileSync(probe, 'x');
  while (statSync(probe).ctimeMs <= lastMs);
};

const nameAt = (hour: number): string =>
  closedName(START_MS + hour * HOUR_MS, START_MS + (hour + 1) * HOUR_MS);

/** By a look at all folders, file by file. */
const oldestByScan = (archiveDir: string, eras: Parameters<typeof closedBefore>[0]['eras']): string[] => {
  const order = new EraOrder(eras);
  const found: { key: string; era: number; endMs: number }[] = [];
  for (const entry of readdirSync(archiveDir, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    for (const name of readdirSync(join(archiveDir, entry.name))) {
      const broken = brokenFileAt(join(archiveDir, entry.name), name);
      const endMs = broken?.endMs ?? parseRecordingName(name)?.endMs ?? null;
      if (endMs !== null) found.push({ key: `${entry.name}/${name}`, era: order.eraOf(endMs), endMs });
    }
  }
  found.sort((a, b) => a.era - b.era || a.endMs - b.endMs || (a.key < b.key ? -1 : 1));
  return found.map(({ key }) => key);
};

type Step =
  | { readonly do: 'write' | 'remove'; readonly camera: number; readonly hour: number }
  | { readonly do: 'rename'; readonly camera: number; readonly hour: number; readonly to: number }
  | { readonly do: 'open' | 'break'; readonly camera: number; readonly hour: number }
  | { readonly do: 'age' | 'drop' | 'wait'; readonly camera: number; readonly hour: number };

const steps = fc.array(
  fc.record({
    do: fc.constantFrom(
      'write',
      'write',
      'write',
      'remove',
      'rename',
      'open',
      'break',
      'age',
      'drop',
      'wait',
    ),
    camera: fc.nat(CAMERAS.length - 1),
    hour: fc.nat(40),
    to: fc.nat(40),
  }) as fc.Arbitrary<Step>,
  { maxLength: 20 },
);

const take = (archiveDir: string, step: Step): void => {
  const folder = join(archiveDir, CAMERAS[step.camera]!);
  mkdirSync(folder, { recursive: true });
  const [closed, broken] = [nameAt(step.hour), `${openName(START_MS + step.hour * HOUR_MS)}.broken`];
  if (step.do === 'write') writeFileSync(join(folder, closed), 'x');
  else if (step.do === 'open') writeFileSync(join(folder, openName(START_MS + step.hour * HOUR_MS)), 'x');
  else if (step.do === 'break') writeFileSync(join(folder, broken), 'x');
  else if (step.do === 'remove') rmSync(join(folder, closed), { force: true });
  else if (step.do === 'drop') rmSync(folder, { recursive: true });
  else if (step.do === 'rename' && readdirSync(folder).includes(closed))
    renameSync(join(folder, closed), join(folder, nameAt(step.to)));
  // What was moved aside is written to by another hand: no folder tells of that.
  else if (step.do === 'age' && readdirSync(folder).includes(broken))
    utimesSync(join(folder, broken), START_MS / 1000, START_MS / 1000 + step.hour * 3_600);
};

test('whatever becomes of an archive, the oldest are those that a look at every file finds', (t) => {
  const pass = ownTime(t);
  fc.assert(
    fc.property(steps, fc.array(fc.tuple(fc.nat(41), fc.nat(41)), { maxLength: 3 }), (taken, spans) => {
      const archiveDir = tempFolder(t);
      const eras = spans.map(([from, to]) => ({
        fromMs: START_MS + Math.min(from, to) * HOUR_MS,
        toMs: START_MS + Math.max(from, to) * HOUR_MS,
      }));
      for (const step of taken) {
        letTimePass(archiveDir);
        take(archiveDir, step);
        pass(LONG_MS);
        const input = { archiveDir, eras, after: null, count: 3, skip: [], spared: [] };
        const found = oldestRecordings(input);
        const expected = oldestByScan(archiveDir, eras);
        assert.deepEqual(
          found.map(({ place }) => place.key),
          expected.slice(0, 3),
        );
        const after = found[1]?.place;
        if (after === undefined) continue;
        assert.deepEqual(
          oldestRecordings({ ...input, after }).map(({ place }) => place.key),
          expected.slice(2, 5),
        );
      }
    }),
    { numRuns: 60 },
  );
});

const fill = (archiveDir: string, hours: number, cameras: readonly string[] = CAMERAS): void => {
  for (const camera of cameras) {
    mkdirSync(join(archiveDir, camera), { recursive: true });
    for (let hour = 0; hour < hours; hour += 1) writeFileSync(join(archiveDir, camera, nameAt(hour)), 'x');
  }
};

test('a folder is read again when something in it came or went, and once more when that is certainly over', (t) => {
  const pass = ownTime(t);
  const archiveDir = tempFolder(t);
  fill(archiveDir, 3);
  const names = knownNames(archiveDir);
  const readsOfALook = (): number => {
    const before = names.reads;
    names.look();
    return names.reads - before;
  };
  assert.equal(readsOfALook(), 3);
  pass(1_000);
  assert.equal(readsOfALook(), 3, 'what comes in the same moment of the file system shows in no time');
  pass(LONG_MS);
  assert.equal(readsOfALook(), 3);
  pass(LONG_MS);
  assert.equal(readsOfALook(), 0);
  letTimePass(archiveDir);
  rmSync(join(archiveDir, 'b', nameAt(0)));
  assert.equal(readsOfALook(), 1);
  pass(LONG_MS);
  assert.equal(readsOfALook(), 1);
  assert.equal(readsOfALook(), 0);
  pass(2 * HOUR_MS);
  assert.equal(readsOfALook(), 3, 'a file system may hide what changes');
});

test('making room reads no folder, and takes the oldest of all', (t) => {
  const pass = ownTime(t);
  const archiveDir = tempFolder(t);
  const cameras = Array.from({ length: 20 }, (_, nth) => `camera-${nth + 10}`);
  fill(archiveDir, 10, cameras);
  const names = knownNames(archiveDir);
  for (let look = 0; look < 2; look += 1) {
    names.look();
    pass(LONG_MS);
  }
  const readsBefore = names.reads;
  const full = () => ({ bavail: 0, blocks: 1_000_000, bsize: 4096 });
  const evict = { archiveDir, minFreePercent: 50, eras: [], maxFiles: 2, skip: [] };
  const rounds = [0, 1, 2].map(() => evictOldest(evict, full).deleted);
  assert.deepEqual(
    rounds.flat().map(({ cameraId, fileName }) => `${cameraId}/${fileName}`),
    cameras.slice(0, 6).map((camera) => `${camera}/${nameAt(0)}`),
  );
  assert.equal(names.reads, readsBefore, 'what it deletes itself it knows');
  letTimePass(archiveDir);
  writeFileSync(join(archiveDir, cameras[0]!, nameAt(-1)), 'x');
  assert.deepEqual(
    evictOldest(evict, full).deleted.map(({ fileName }) => fileName),
    [nameAt(-1), nameAt(0)],
    'what another hand puts there at the same time is seen',
  );
  pass(LONG_MS);
  names.look();
  assert.equal(names.reads - readsBefore, 8, 'and each folder is read once more');
  const closed = closedBefore({
    ...evict,
    cameraId: cameras[0]!,
    beforeMs: START_MS * 2,
    afterMs: 0,
    count: 99,
  });
  assert.equal(closed.length, 9);
});

test('where nothing is due by age no folder is read', (t) => {
  const pass = ownTime(t);
  const archiveDir = tempFolder(t);
  fill(archiveDir, 5);
  const sweep = (hours: number) => {
    const limits = CAMERAS.map((cameraId) => ({ cameraId, beforeMs: START_MS + hours * HOUR_MS }));
    return deleteExpired({ archiveDir, limits, eras: [], maxFiles: 64, skip: [] });
  };
  for (let look = 0; look < 2; look += 1) {
    assert.equal(sweep(0).deleted.length, 0);
    pass(LONG_MS);
  }
  const readsBefore = knownNames(archiveDir).reads;
  assert.deepEqual(sweep(1), { deleted: [], failed: [], bare: [], absent: [], unclosed: [] });
  assert.equal(knownNames(archiveDir).reads, readsBefore);
  assert.equal(sweep(2).deleted.length, 3);
});
