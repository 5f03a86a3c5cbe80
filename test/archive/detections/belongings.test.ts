import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { appendDetections } from '../../../src/archive/detections/append-detections.js';
import { encodeRecord, type KeptDetection } from '../../../src/archive/detections/detection-record.js';
import { shareOut } from '../../../src/archive/detections/share-out.js';
import { findUnclosed } from '../../../src/archive/files/archive-folders.js';
import { closedName, openName, parseRecordingName } from '../../../src/archive/files/file-name.js';
import { parseSidecarName, sidecarName, sidecarOf } from '../../../src/archive/files/sidecar-name.js';
import { deleteExpired, deleteFiles, deleteUnclosed } from '../../../src/archive/keep/delete-files.js';
import { repairFile } from '../../../src/archive/keep/repair-file.js';
import { countBroken } from '../../../src/archive/list/broken-files.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { BLOCK_BYTES } from '../../../src/archive/write/direct-disk.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { nobodyWrites } from '../nobody-writes.js';
import { buildRecording, writeClosed } from '../recording-file.js';
import { readAll, seen } from './rig.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);
const SECOND_MS = 1_000;

/** A camera's folder, in an archive of its own. */
const makeFolder = (t: Parameters<typeof tempFolder>[0]) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'gate');
  mkdirSync(folder);
  const see = (startMs: number, detections: readonly KeptDetection[]): string => {
    const records = Buffer.concat(detections.map(encodeRecord));
    const sidecar = sidecarName(startMs);
    const append = { cameraId: 'gate', sidecar, knownBytes: null, isNew: true, records, isLast: true };
    assert.ok('fileBytes' in appendDetections({ archiveDir, appends: [append] })[0]!);
    return sidecar;
  };
  return { archiveDir, folder, see };
};

const eachSecond = (startMs: number, count: number): KeptDetection[] =>
  Array.from({ length: count }, (_, at) => seen(startMs + at * SECOND_MS, `${at}`));

const labelsIn = (folder: string, name: string): (string | undefined)[] =>
  readAll(folder, [name]).map(({ objects }) => objects[0]?.label);

const range = (first: number, end: number): string[] =>
  Array.from({ length: end - first }, (_, at) => `${first + at}`);

test('a name is a sidecar’s or a recording’s, and never both', () => {
  const times = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 80_000 }), (startMs, seconds) => {
      const sidecar = sidecarName(startMs);
      assert.equal(parseSidecarName(sidecar)?.kind, 'current');
      for (const name of [sidecar, `${sidecar}.new`, `${sidecar}.broken`, `${sidecar}.broken-2`]) {
        assert.equal(parseRecordingName(name), null);
        assert.equal(sidecarOf(name), null);
        assert.equal(parseSidecarName(name)?.startMs, Math.floor(startMs / 1_000) * 1_000);
      }
      const open = openName(startMs);
      for (const name of [open, closedName(startMs, startMs + seconds * 1_000), `${open}.piece-2`])
        assert.deepEqual([sidecarOf(name), parseSidecarName(name)], [sidecar, null]);
      assert.equal(sidecarOf(`${open}.broken-3`), `${sidecar}.broken-3`);
    }),
  );
  for (const name of ['x.detections', '2026-02-30_08-30-00.detections', `${sidecarName(0)}.bak`, ''])
    assert.equal(parseSidecarName(name), null, name);
});

test('a sidecar is listed as nothing, repaired as nothing, and goes with its recording alone', async (t) => {
  const { archiveDir, folder, see } = makeFolder(t);
  const first = writeClosed(folder, { startMs: START_MS });
  const kept = writeClosed(folder, { startMs: START_MS + 60_000 });
  see(START_MS, eachSecond(START_MS, 4));
  const keptSidecar = see(START_MS + 60_000, eachSecond(START_MS + 60_000, 4));
  const recordings = new Recordings({ archiveDir }, { runner: new InlineRunner(), live: nobodyWrites });
  assert.deepEqual(
    (await recordings.list('gate')).map(({ fileName }) => fileName),
    [first, kept],
  );
  assert.deepEqual(findUnclosed({ archiveDir, lately: null }), []);
  for (const fileName of [keptSidecar, `${keptSidecar}.new`])
    assert.equal(repairFile({ folder, fileName }).outcome, 'gone');
  const fileNames = [first, keptSidecar];
  const { deleted } = deleteFiles({ archiveDir, cameraId: 'gate', fileNames });
  assert.deepEqual(deleted, [{ cameraId: 'gate', fileName: first }]);
  assert.deepEqual(readdirSync(folder).sort(), [keptSidecar, kept].sort());
});

test('two recordings that begin in one second share theirs; it goes with the last of them', (t) => {
  const { archiveDir, folder, see } = makeFolder(t);
  const names = [closedName(START_MS, START_MS + 500), closedName(START_MS, START_MS + 9_000)];
  for (const name of names) writeFileSync(join(folder, name), 'x');
  const sidecar = see(START_MS, eachSecond(START_MS, 3));
  deleteFiles({ archiveDir, cameraId: 'gate', fileNames: [names[0]!] });
  assert.deepEqual(readdirSync(folder).sort(), [sidecar, names[1]!].sort());
  deleteFiles({ archiveDir, cameraId: 'gate', fileNames: [names[1]!] });
  assert.deepEqual(readdirSync(folder), []);
  const third = closedName(START_MS, START_MS + 60_000);
  for (const name of [...names, third]) writeFileSync(join(folder, name), 'x');
  see(START_MS, eachSecond(START_MS, 3));
  deleteFiles({ archiveDir, cameraId: 'gate', fileNames: names });
  assert.deepEqual(readdirSync(folder).sort(), [sidecar, third].sort());
  writeFileSync(join(folder, names[0]!), 'x');
  deleteFiles({ archiveDir, cameraId: 'gate', fileNames: [names[0]!, third] });
  assert.deepEqual(readdirSync(folder), [], 'also where all of them go at once');
});

test('what is left without a recording goes by its age; of a camera that is to go, all of it', (t) => {
  const { archiveDir, folder, see } = makeFolder(t);
  const left = see(START_MS, eachSecond(START_MS, 1));
  const young = see(START_MS + 3_600_000, eachSecond(START_MS, 1));
  const old = writeClosed(folder, { startMs: START_MS - 60_000 });
  see(START_MS - 60_000, eachSecond(START_MS, 1));
  writeFileSync(join(folder, `${left}.new`), 'x');
  const expire = (beforeMs: number) =>
    deleteExpired({
      ...{ archiveDir, limits: [{ cameraId: 'gate', beforeMs }], eras: [], maxFiles: 64, skip: [] },
    });
  const aged = expire(START_MS + 60_000);
  assert.deepEqual(
    [aged.deleted.map(({ fileName }) => fileName), aged.bare],
    [[old], []],
    'the folder has something of ours still',
  );
  assert.deepEqual(readdirSync(folder), [young]);
  const open = openName(START_MS);
  writeFileSync(join(folder, open), 'x');
  see(START_MS, eachSecond(START_MS, 1));
  const purged = expire(Number.POSITIVE_INFINITY);
  assert.deepEqual(purged.unclosed, [{ cameraId: 'gate', fileName: open }]);
  deleteUnclosed({ archiveDir, places: purged.unclosed });
  assert.deepEqual(readdirSync(folder), []);
  assert.deepEqual(expire(Number.POSITIVE_INFINITY).bare, ['gate']);
});

test('with a file that is closed by a repair its sidecar loses its torn end, and goes on to be its own', (t) => {
  const { folder, see } = makeFolder(t);
  const { bytes } = buildRecording({ startMs: START_MS, hasIndex: false });
  writeFileSync(join(folder, openName(START_MS)), bytes);
  const sidecar = see(START_MS, eachSecond(START_MS, 4));
  const torn = encodeRecord(seen(START_MS + 3_500, 'torn'));
  appendFileSync(join(folder, sidecar), torn.subarray(0, torn.length - 1));
  const { newName } = repairFile({ folder, fileName: openName(START_MS) });
  assert.equal(sidecarOf(newName), sidecar);
  assert.deepEqual(labelsIn(folder, sidecar), range(0, 4));
  appendFileSync(join(folder, sidecar), encodeRecord(seen(START_MS + 3_600, 'late')));
  assert.deepEqual(labelsIn(folder, sidecar), [...range(0, 4), 'late']);
  assert.deepEqual(readdirSync(folder).sort(), [newName, sidecar].sort());
});

test('where a file becomes several, each gets what was seen in its time', (t) => {
  const { folder, see } = makeFolder(t);
  const options = { startMs: START_MS, fragments: 300, fragmentsAPart: 5, frameBytes: 60_000 };
  const { bytes, starts } = buildRecording({ ...options, hasIndex: false, startReason: 'start' });
  bytes.fill(0, starts[42], starts[42]! + BLOCK_BYTES);
  writeFileSync(join(folder, openName(START_MS)), bytes);
  see(START_MS, eachSecond(START_MS, 300));
  const { newName, moreNames } = repairFile({ folder, fileName: openName(START_MS) });
  assert.deepEqual(labelsIn(folder, sidecarOf(newName)!), range(0, 43));
  assert.deepEqual(labelsIn(folder, sidecarOf(moreNames[0]!)!), range(45, 300));
  assert.equal(readdirSync(folder).length, 4);
});

test('a recording that is cut leaves nothing of the times between, and done again it is the same', (t) => {
  const { folder, see } = makeFolder(t);
  const whole = closedName(START_MS, START_MS + 3_600_000);
  see(START_MS, eachSecond(START_MS, 3_600));
  const piece = (fromSec: number, toSec: number): string =>
    closedName(START_MS + fromSec * SECOND_MS, START_MS + toSec * SECOND_MS);
  const pieces = [piece(100, 200), piece(3_000, 3_100)];
  shareOut(folder, whole, pieces);
  shareOut(folder, whole, pieces);
  assert.deepEqual(
    readdirSync(folder).sort(),
    pieces.map((name) => sidecarOf(name)!),
  );
  assert.deepEqual(labelsIn(folder, sidecarOf(pieces[0]!)!), range(100, 201));
  assert.deepEqual(labelsIn(folder, sidecarOf(pieces[1]!)!), range(3_000, 3_101));
  // One that begins where the whole did takes its sidecar's place.
  shareOut(folder, pieces[0]!, [piece(100, 120), piece(150, 160)]);
  assert.deepEqual(labelsIn(folder, sidecarOf(pieces[0]!)!), range(100, 121));
  assert.deepEqual(labelsIn(folder, sidecarOf(piece(150, 160))!), range(150, 161));
  shareOut(folder, pieces[1]!, []);
  assert.equal(readdirSync(folder).length, 2);
});

test('with a file that is moved aside its sidecar is, too; they are counted and leave together', (t) => {
  const { archiveDir, folder, see } = makeFolder(t);
  for (const round of [1, 2]) {
    writeFileSync(join(folder, openName(START_MS)), 'nothing');
    see(START_MS, eachSecond(START_MS, round));
    assert.equal(repairFile({ folder, fileName: openName(START_MS) }).outcome, 'broken');
  }
  const names = readdirSync(folder).sort();
  const [open, sidecar] = [openName(START_MS), sidecarName(START_MS)];
  assert.deepEqual(names, [`${sidecar}.broken`, `${sidecar}.broken-2`, `${open}.broken`, `${open}.broken-2`]);
  const { files, bytes } = countBroken({ archiveDir });
  assert.equal(files, 2);
  assert.ok(bytes > 14 + 3 * 30, `${bytes}`);
  const limits = [{ cameraId: 'gate', beforeMs: Date.now() + 1_000 }];
  const expired = deleteExpired({ archiveDir, limits, eras: [], maxFiles: 1, skip: [] });
  assert.equal(expired.deleted.length, 1);
  assert.equal(readdirSync(folder).length, 2, 'the other one keeps its own');
  rmSync(folder, { recursive: true });
});

test('what stands where a sidecar is made anew is replaced: no link is followed, no pipe waited for', (t) => {
  const { archiveDir, folder, see } = makeFolder(t);
  const foreign = join(archiveDir, 'foreign');
  writeFileSync(foreign, 'somebody else’s');
  const whole = closedName(START_MS, START_MS + 600_000);
  see(START_MS, eachSecond(START_MS, 600));
  const pieces = [100, 300].map((sec) =>
    closedName(START_MS + sec * SECOND_MS, START_MS + (sec + 50) * SECOND_MS),
  );
  const [linked, piped] = pieces.map((name) => join(folder, `${sidecarOf(name)}.new`));
  symlinkSync(foreign, linked!);
  assert.equal(spawnSync('mkfifo', [piped!]).status, 0);
  shareOut(folder, whole, pieces);
  assert.equal(readFileSync(foreign, 'utf8'), 'somebody else’s');
  assert.deepEqual(
    readdirSync(folder).sort(),
    pieces.map((name) => sidecarOf(name)!),
  );
  for (const [at, first] of [100, 300].entries())
    assert.deepEqual(labelsIn(folder, sidecarOf(pieces[at]!)!), range(first, first + 51));
});

test('a folder in the place of a sidecar, or of one to be, keeps no recording from being cut', async (t) => {
  const { archiveDir, folder, see } = makeFolder(t);
  const cut = async (startMs: number, keptFromSec: number) => {
    const fileName = writeClosed(folder, { startMs, fragments: 60 });
    const [fromMs, toMs] = [startMs + keptFromSec * SECOND_MS, startMs + (keptFromSec + 10) * SECOND_MS];
    const input = { archiveDir, cameraId: 'gate', fileName, kept: [{ fromMs, toMs }] };
    return new InlineRunner().run('cutRecording', input);
  };
  mkdirSync(join(folder, sidecarName(START_MS)));
  assert.equal((await cut(START_MS, 20)).outcome, 'cut');
  // Of the next one the piece's sidecar, and of the one after it the draft of it.
  for (const [at, suffix] of ['', '.new'].entries()) {
    const startMs = START_MS + (at + 1) * 3_600_000;
    see(startMs, eachSecond(startMs, 60));
    const pieceMs = startMs + 20 * SECOND_MS;
    mkdirSync(join(folder, `${sidecarName(pieceMs)}${suffix}`));
    const { outcome, names } = await cut(startMs, 20);
    assert.deepEqual([outcome, names.map((name) => sidecarOf(name))], ['cut', [sidecarName(pieceMs)]]);
  }
});

test('two pieces that begin in one second share what was seen in both', (t) => {
  const { folder, see } = makeFolder(t);
  const names = [closedName(START_MS, START_MS + 600), closedName(START_MS, START_MS + 9_000)];
  const oldMs = START_MS - 60_000;
  see(oldMs, [seen(START_MS - 1_000, 'before'), seen(START_MS, 'a'), seen(START_MS + 8_000, 'b')]);
  shareOut(folder, closedName(oldMs, START_MS + 9_000), names);
  assert.deepEqual(readdirSync(folder), [sidecarName(START_MS)]);
  assert.deepEqual(labelsIn(folder, sidecarName(START_MS)), ['a', 'b']);
});
