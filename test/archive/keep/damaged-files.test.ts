import assert from 'node:assert/strict';
import fs, { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { openName, parseRecordingName } from '../../../src/archive/files/file-name.js';
import { Recovery } from '../../../src/archive/keep/recovery.js';
import { repairFile } from '../../../src/archive/keep/repair-file.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { BLOCK_BYTES } from '../../../src/archive/write/direct-disk.js';
import { decodedHashes, runQuietly } from '../../fmp4/ffmpeg.js';
import { scanFile } from '../../fmp4/fragmented-file.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fixtures } from '../../support/fixtures.js';
import { looped } from '../../support/looped.js';
import { tempFolder } from '../../support/temp-folder.js';
import { film } from '../filmed.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';
import { buildRecording, FRAGMENT_MS } from '../recording-file.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);
const OPEN = openName(START_MS);

/** When the pictures of a file are shown, by its own time, to the second: one number a fragment. */
const fragmentsIn = (bytes: Buffer): number[] => {
  const { scanner } = scanFile(bytes);
  assert.equal(scanner.fault, null);
  const { columns, fragments } = scanner;
  return fragments.map(({ firstSamples }) => columns[0]!.dtsTicks[firstSamples[0]!]! / 90 / FRAGMENT_MS);
};

const closedIn = (folder: string): { name: string; bytes: Buffer; fragments: number[] }[] =>
  readdirSync(folder)
    .sort()
    .map((name) => {
      assert.notEqual(parseRecordingName(name)?.endMs ?? null, null, name);
      const bytes = readFileSync(join(folder, name));
      return { name, bytes, fragments: fragmentsIn(bytes) };
    });

const range = (first: number, end: number): number[] =>
  Array.from({ length: end - first }, (_, at) => first + at);

/** A file of small fragments, each of a few blocks, as its writer left it. */
const SMALL = { startMs: START_MS, fragments: 60, fragmentsAPart: 4, frameBytes: 1_500, hasIndex: false };

test('a block of zeros amid a file costs the pictures up to the next keyframe, and nothing else', async (t) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'door');
  const options = { startMs: START_MS, fragments: 300, fragmentsAPart: 5, frameBytes: 60_000 };
  const { bytes, starts, ends } = buildRecording({ ...options, hasIndex: false, startReason: 'start' });
  assert.ok(bytes.length - starts[42]! > 64 << 20, 'far before the end');
  bytes.fill(0, starts[42], starts[42]! + BLOCK_BYTES);
  mkdirSync(folder);
  writeFileSync(join(folder, OPEN), bytes);
  const repair = repairFile({ folder, fileName: OPEN });
  assert.equal(repair.outcome, 'closed');
  assert.deepEqual(
    closedIn(folder).map(({ name, fragments }) => [name, fragments]),
    [
      ['2026-11-21_08-30-00_to_08-30-43.mp4', range(0, 42)],
      ['2026-11-21_08-30-45_to_08-35-01.mp4', range(45, 300)],
    ],
  );
  assert.equal(repair.newName, '2026-11-21_08-30-00_to_08-30-43.mp4');
  assert.deepEqual(repair.moreNames, ['2026-11-21_08-30-45_to_08-35-01.mp4']);
  assert.equal(repair.lostMs, 3_000);
  assert.equal(repair.lostBytes, starts[45]! - ends[42]!);
  const recordings = new Recordings({ archiveDir }, { runner: new InlineRunner(), live: nobodyWrites });
  assert.deepEqual(
    (await recordings.list('door')).map(({ startMs, endMs, startReason }) => [startMs, endMs, startReason]),
    [
      [START_MS, START_MS + 42_000, 'start'],
      [START_MS + 45_000, START_MS + 300_000, 'disk'],
    ],
  );
});

test('damage that costs no picture makes no second recording', (t) => {
  const folder = tempFolder(t);
  const { bytes, starts, ends } = buildRecording(SMALL);
  // Only what fills the block behind a fragment is hit, and in another place a write that came between two parts.
  bytes.fill(0, ends[18], starts[18]);
  writeFileSync(join(folder, OPEN), bytes);
  const { lostBytes, moreNames } = repairFile({ folder, fileName: OPEN });
  assert.deepEqual([lostBytes, moreNames], [0, []]);
  assert.deepEqual(
    closedIn(folder).map(({ fragments }) => fragments),
    [range(0, 60)],
  );
});

test('where the beginning is lost, the recording begins at the next keyframe', (t) => {
  const folder = tempFolder(t);
  const { bytes, starts } = buildRecording({ ...SMALL, startReason: 'camera_away' });
  bytes.fill(0xa5, starts[0], starts[1]! + 100);
  writeFileSync(join(folder, OPEN), bytes);
  const { newName, moreNames, lostMs } = repairFile({ folder, fileName: OPEN });
  assert.deepEqual([newName, moreNames, lostMs], ['2026-11-21_08-30-04_to_08-31-01.mp4', [], 4_000]);
  assert.deepEqual(closedIn(folder)[0]?.fragments, range(4, 60));
});

test('what is whole around a hole decodes, picture and sound', (t) => {
  const folder = tempFolder(t);
  const [video, audio] = [looped(fixtures.h264BFrames(), 3), looped(fixtures.aac(), 3)];
  const { bytes, parts } = film({ video, audio, startMs: START_MS, hasIndex: false });
  bytes.fill(0, parts[4]!.startBytes, parts[4]!.startBytes + BLOCK_BYTES);
  writeFileSync(join(folder, OPEN), bytes);
  const { newName, moreNames } = repairFile({ folder, fileName: OPEN });
  const counts = [newName, ...moreNames].map((name) => {
    runQuietly('ffmpeg', ['-xerror', '-i', join(folder, name), '-f', 'null', '-']);
    return decodedHashes(join(folder, name), 'v').length;
  });
  assert.deepEqual(counts, [60, 105], 'fifteen pictures a part');
});

test('what was lost is told', async (t) => {
  const archiveDir = tempFolder(t);
  const { bytes, starts, ends } = buildRecording(SMALL);
  bytes.fill(0, starts[13], starts[13]! + BLOCK_BYTES);
  mkdirSync(join(archiveDir, 'door'));
  writeFileSync(join(archiveDir, 'door', OPEN), bytes);
  const { log, lines } = logLines();
  const runner = new InlineRunner();
  const clock = new FakeClock();
  const recovery = new Recovery(
    { archiveDir },
    { runner, quickRunner: runner, clock, log, live: nobodyWrites },
  );
  await recovery.repair('door', OPEN);
  assert.deepEqual(
    lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields),
    [
      {
        camera_id: 'door',
        file: OPEN,
        names: '2026-11-21_08-30-00_to_08-30-14.mp4 2026-11-21_08-30-16_to_08-31-01.mp4',
        lost_bytes: starts[16]! - ends[13]!,
        lost_seconds: 3,
      },
    ],
  );
});

test('without the description of its tracks nothing can be played', (t) => {
  const folder = tempFolder(t);
  const { bytes } = buildRecording(SMALL);
  bytes.fill(0, 0, BLOCK_BYTES);
  writeFileSync(join(folder, OPEN), bytes);
  assert.equal(repairFile({ folder, fileName: OPEN }).outcome, 'broken');
  assert.ok(readFileSync(join(folder, `${OPEN}.broken`)).equals(bytes));
});

test("what a block held before, of this camera or another, is taken for none of the file's own", (t) => {
  const folder = tempFolder(t);
  const { bytes, starts } = buildRecording(SMALL);
  for (const startMs of [START_MS - 86_400_000, START_MS + 10_000]) {
    const stale = buildRecording({ ...SMALL, startMs }).bytes;
    const spoilt = Buffer.from(bytes);
    // A whole part of the other one, and half of the fragment behind it.
    stale.copy(spoilt, starts[20]! + 100, starts[40], starts[45]! + 100);
    writeFileSync(join(folder, OPEN), spoilt);
    repairFile({ folder, fileName: OPEN });
    const found = closedIn(folder);
    assert.deepEqual(
      found.map(({ fragments }) => fragments),
      [range(0, 20), range(28, 60)],
    );
    for (const { name } of found) rmSync(join(folder, name));
  }
});

test('whatever blocks are lost, all that can be played without them is in one recording, and once', (t) => {
  const folder = tempFolder(t);
  const { bytes, starts, ends } = buildRecording(SMALL);
  const stale = buildRecording({ ...SMALL, startMs: START_MS - 3_600_000 }).bytes;
  const blocks = bytes.length / BLOCK_BYTES;
  const damage = fc.array(
    fc.record({
      block: fc.integer({ min: 1, max: blocks - 1 }),
      count: fc.integer({ min: 1, max: 12 }),
      kind: fc.constantFrom('zeros', 'noise', 'stale'),
    }),
    { minLength: 1, maxLength: 6 },
  );
  const property = fc.property(damage, fc.integer(), (holes, seed) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    const spoilt = Buffer.from(bytes);
    let state = seed | 1;
    for (const { block, count, kind } of holes) {
      const [from, to] = [block * BLOCK_BYTES, Math.min((block + count) * BLOCK_BYTES, bytes.length)];
      for (let at = from; at < to; at += 1) {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
        spoilt[at] = kind === 'zeros' ? 0 : kind === 'noise' ? state >>> 24 : stale[at]!;
      }
    }
    const isGood = (fragment: number): boolean =>
      bytes
        .subarray(starts[fragment], ends[fragment + 1])
        .equals(spoilt.subarray(starts[fragment], ends[fragment + 1]));
    const playable = range(0, 60).filter((fragment) =>
      range(fragment - (fragment % 4), fragment + 1).every(isGood),
    );
    writeFileSync(join(folder, OPEN), spoilt);
    const { outcome } = repairFile({ folder, fileName: OPEN });
    if (outcome === 'broken') assert.deepEqual(playable, []);
    else {
      const recorded = closedIn(folder).flatMap(({ fragments }) => fragments);
      assert.deepEqual(
        recorded,
        [...new Set(recorded)].sort((a, b) => a - b),
        'each once, in order',
      );
      const missing = playable.filter((fragment) => !recorded.includes(fragment));
      assert.deepEqual(missing, []);
    }
  });
  fc.assert(property, { numRuns: 200 });
});

/** Runs `work`, in which the disk takes so many changes and then none any more; says whether that was enough. */
const withChanges = (mayChange: number, work: () => void): boolean => {
  const names = ['writeSync', 'ftruncateSync', 'renameSync', 'unlinkSync', 'fsyncSync', 'openSync'] as const;
  const real = Object.fromEntries(names.map((name) => [name, fs[name]]));
  let left = mayChange;
  for (const name of names) {
    const change = real[name] as (...args: unknown[]) => unknown;
    Object.assign(fs, {
      [name]: (...args: unknown[]) => {
        if (name !== 'openSync' || args[1] === 'wx') left -= 1;
        if (left < 0) throw new Error('the machine is off');
        return change(...args);
      },
    });
  }
  syncBuiltinESMExports();
  try {
    work();
    return true;
  } catch {
    return false;
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
};

test('a repair of a damaged file that is interrupted anywhere comes to the same when it is done again', (t) => {
  const { bytes, starts } = buildRecording(SMALL);
  bytes.fill(0, starts[13], starts[13]! + BLOCK_BYTES);
  bytes.fill(0, starts[30], starts[30]! + BLOCK_BYTES);
  const wanted = tempFolder(t);
  writeFileSync(join(wanted, OPEN), bytes);
  assert.equal(repairFile({ folder: wanted, fileName: OPEN }).moreNames.length, 2);
  let changes = 0;
  for (let isThrough = false; !isThrough; changes += 1) {
    const folder = tempFolder(t);
    writeFileSync(join(folder, OPEN), bytes);
    isThrough = withChanges(changes, () => repairFile({ folder, fileName: OPEN }));
    // Only what still has an open name is repaired at the next start.
    if (!isThrough) repairFile({ folder, fileName: OPEN });
    assert.deepEqual(readdirSync(folder), readdirSync(wanted), `after ${changes} changes`);
    for (const name of readdirSync(folder)) {
      assert.ok(readFileSync(join(folder, name)).equals(readFileSync(join(wanted, name))), name);
    }
  }
  assert.ok(changes > 15, String(changes));
});
