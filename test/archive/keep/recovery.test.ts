import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FilePlace } from '../../../src/archive/files/archive-folders.js';
import { openName, parseRecordingName } from '../../../src/archive/files/file-name.js';
import type { JobRunner } from '../../../src/archive/jobs/jobs.js';
import { Recovery } from '../../../src/archive/keep/recovery.js';
import { repairFile } from '../../../src/archive/keep/repair-file.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { decodedHashes, packetsOf } from '../../fmp4/ffmpeg.js';
import { recordFile, START_WALL_MS, samplesOf, scanFile, streamInfoOf } from '../../fmp4/fragmented-file.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fixtures } from '../../support/fixtures.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';
import { buildRecording, writeClosed, writeOpen } from '../recording-file.js';
import { RecordingStudio } from '../recording-studio.js';
import { encodeSource, SourceMovie } from '../source-movie.js';
import { smallDisk } from './small-disk.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);
const OPEN = openName(START_MS);
/** The closed name of so many seconds. */
const closedAfter = (seconds: number): string =>
  `2026-11-21_08-30-00_to_08-30-${String(seconds + 1).padStart(2, '0')}.mp4`;

test('a file torn anywhere becomes what a recorder would have closed at its last whole fragment', (t) => {
  const folder = tempFolder(t);
  const options = { startMs: START_MS, fragments: 5, fragmentsAPart: 2 };
  const { bytes, ends } = buildRecording({ ...options, hasIndex: false });
  const borders = ends.flatMap((end) => [-1, 0, 1, 4, 8, 16, 32, 40, 70].map((near) => end + near));
  const steps = Array.from({ length: Math.ceil(bytes.length / 61) }, (_, index) => index * 61);
  for (const cut of new Set([...borders, ...steps, 0, bytes.length])) {
    if (cut > bytes.length) continue;
    writeFileSync(join(folder, OPEN), bytes.subarray(0, cut));
    const whole = ends.findLastIndex((end) => end <= cut);
    const { outcome, newName, cutBytes } = repairFile({ folder, fileName: OPEN });
    assert.equal(existsSync(join(folder, OPEN)), false, String(cut));
    if (whole < 1) {
      assert.deepEqual([outcome, newName], ['broken', `${OPEN}.broken`], String(cut));
      assert.ok(readFileSync(join(folder, newName)).equals(bytes.subarray(0, cut)), 'nothing of it is lost');
    } else {
      assert.deepEqual([outcome, newName, cutBytes], ['closed', closedAfter(whole), cut - ends[whole]!]);
      const expected = buildRecording({ ...options, fragments: whole }).bytes;
      assert.ok(readFileSync(join(folder, newName)).equals(expected), String(cut));
    }
    rmSync(join(folder, newName));
  }
});

test('interrupted at any point, a repair comes to the same when it is done again', (t) => {
  const folder = tempFolder(t);
  const { bytes, ends } = buildRecording({ startMs: START_MS, fragments: 4 });
  for (let written = ends.at(-1)!; written <= bytes.length; written += 1) {
    // The file was cut, and this much of the index was written, or of another one's bytes.
    for (const tail of [bytes.subarray(ends.at(-1), written), Buffer.alloc(written - ends.at(-1)!)]) {
      writeFileSync(join(folder, OPEN), Buffer.concat([bytes.subarray(0, ends.at(-1)), tail]));
      const { outcome, newName } = repairFile({ folder, fileName: OPEN });
      assert.deepEqual([outcome, newName], ['closed', closedAfter(4)]);
      assert.ok(readFileSync(join(folder, newName)).equals(bytes), String(written));
      rmSync(join(folder, newName));
    }
  }
  assert.equal(repairFile({ folder, fileName: OPEN }).outcome, 'gone', 'and once more');
});

test('heads without their media, as a power cut leaves them, are cut off', (t) => {
  const folder = tempFolder(t);
  const options = { startMs: START_MS, fragments: 50, frameBytes: 200 };
  for (const [from, whole] of [
    [49, 49],
    [40, 40],
    [0, 0],
  ] as const) {
    const { bytes, ends } = buildRecording({ ...options, fragments: from === 0 ? 3 : 50, hasIndex: false });
    const torn = Buffer.from(bytes);
    // Only media is lost: what a head is in stays.
    for (let fragment = from; fragment + 1 < ends.length; fragment += 1) {
      torn.fill(0, ends[fragment + 1]! - 5 * options.frameBytes, ends[fragment + 1]);
    }
    writeFileSync(join(folder, OPEN), torn);
    const { outcome, newName } = repairFile({ folder, fileName: OPEN });
    const file = readFileSync(join(folder, newName));
    if (whole === 0) {
      assert.equal(outcome, 'broken');
      assert.ok(file.equals(torn));
    } else assert.ok(file.equals(buildRecording({ ...options, fragments: whole }).bytes), String(from));
  }
});

test('damage that would cost much is left to a person', (t) => {
  const folder = tempFolder(t);
  const { bytes, ends } = buildRecording({ startMs: START_MS, fragments: 3, hasIndex: false });
  writeFileSync(join(folder, OPEN), bytes.subarray(0, ends[2]));
  truncateSync(join(folder, OPEN), ends[2]! + (65 << 20));
  const { outcome, newName } = repairFile({ folder, fileName: OPEN });
  assert.equal(outcome, 'broken');
  assert.equal(readFileSync(join(folder, newName)).length, ends[2]! + (65 << 20));
});

test('no file is overwritten: another second, or another number, is taken', (t) => {
  const folder = tempFolder(t);
  const { bytes } = buildRecording({ startMs: START_MS, fragments: 4, hasIndex: false });
  for (const name of [closedAfter(4), closedAfter(5), `${OPEN}.broken`]) {
    writeFileSync(join(folder, name), `of somebody: ${name}`);
  }
  writeFileSync(join(folder, OPEN), bytes);
  assert.equal(repairFile({ folder, fileName: OPEN }).newName, closedAfter(6));
  writeFileSync(join(folder, OPEN), 'no recording');
  assert.equal(repairFile({ folder, fileName: OPEN }).newName, `${OPEN}.broken-2`);
  for (const name of [closedAfter(4), closedAfter(5), `${OPEN}.broken`]) {
    assert.equal(readFileSync(join(folder, name), 'utf8'), `of somebody: ${name}`);
  }
});

test('what is no regular file, or no open recording, is left alone', (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'other'), 'x');
  const [link, directory, pipe] = [openName(START_MS), openName(START_MS + 1000), openName(START_MS + 2000)];
  symlinkSync(join(folder, 'other'), join(folder, link));
  mkdirSync(join(folder, directory));
  execFileSync('mkfifo', [join(folder, pipe)]);
  const before = readdirSync(folder).sort();
  for (const fileName of [link, directory, pipe, 'other', `../${OPEN}`]) {
    assert.equal(repairFile({ folder, fileName }).outcome, 'gone', fileName);
  }
  assert.deepEqual(readdirSync(folder).sort(), before);
});

test('real video with B-frames and audio decodes to its last whole fragment', (t) => {
  const folder = tempFolder(t);
  const [video, audio] = [fixtures.h264BFrames(), fixtures.aac()];
  const file = recordFile(streamInfoOf(video, audio.track), samplesOf(video, audio), { maxSamples: 30 });
  const fileName = openName(START_WALL_MS);
  writeFileSync(join(folder, fileName), file.subarray(0, file.length * 0.8));
  const { outcome, newName } = repairFile({ folder, fileName });
  assert.equal(outcome, 'closed');
  const packets = packetsOf(join(folder, newName), 'v');
  const { scanner } = scanFile(file.subarray(0, file.length * 0.8));
  assert.equal(packets.length, scanner.columns[0]!.count);
  assert.ok(packets.length > 10);
  // Frames that later ones are shown before come out at the end; none is missing.
  assert.equal(decodedHashes(join(folder, newName), 'v').length, packets.length);
});

test('what a recorder closed, and its own unclosed copy repaired, are the same file', async (t) => {
  const archiveDir = tempFolder(t);
  const source = new SourceMovie(
    encodeSource(archiveDir, { codec: 'h264', seconds: 30, framesPerGop: 40, bFrames: 2, withAudio: true }),
    START_MS,
  );
  const studio = new RecordingStudio(archiveDir, 10);
  await studio.play(source, Number.POSITIVE_INFINITY);
  await studio.finish();
  const { folder, files } = studio;
  assert.ok(files.length >= 2, files.join());
  const recordings = new Recordings({ archiveDir }, { runner: new InlineRunner(), live: nobodyWrites });
  const list = await recordings.list('door');
  assert.equal(list.length, files.length);
  for (const [index, { fileName, startMs, endMs, startReason }] of list.entries()) {
    const closed = readFileSync(join(folder, fileName));
    const copies = tempFolder(t);
    writeFileSync(join(copies, openName(startMs)), closed.subarray(0, closed.length - 3));
    const { newName } = repairFile({ folder: copies, fileName: openName(startMs) });
    // The recorder ends a file with the last frame that came, a repair with the last that is shown.
    const [closedMs, repairedMs] = [fileName, newName].map((name) => parseRecordingName(name)?.endMs ?? 0);
    assert.ok(Math.abs(closedMs! - repairedMs!) <= 1000, `${fileName} ${newName}`);
    assert.ok(readFileSync(join(copies, newName)).equals(closed));
    assert.equal(startReason, index === 0 ? 'start' : 'rollover');
    const next = list[index + 1];
    // With B-frames a picture of the next file's may be shown a little before the last one of this.
    if (next !== undefined) assert.ok(Math.abs(next.startMs - endMs) < 100, `${endMs} ${next.startMs}`);
  }
});

test('a file is closed on a full disk too, without an index', async (t) => {
  const folder = await smallDisk(t, 2);
  if (folder === null) return;
  mkdirSync(join(folder, 'door'));
  const { bytes, ends } = buildRecording({
    startMs: START_MS,
    fragments: 3000,
    fragmentsAPart: 1,
    fragmentsAWrite: 100,
    hasIndex: false,
  });
  writeFileSync(join(folder, 'door', OPEN), bytes);
  assert.throws(() => writeFileSync(join(folder, 'filler'), Buffer.alloc(2 << 20)), { code: 'ENOSPC' });
  const { outcome, newName } = repairFile({ folder: join(folder, 'door'), fileName: OPEN });
  assert.equal(outcome, 'closed');
  assert.ok(readFileSync(join(folder, 'door', newName)).equals(bytes.subarray(0, ends.at(-1))));
  const recordings = new Recordings(
    { archiveDir: folder },
    { runner: new InlineRunner(), live: nobodyWrites },
  );
  assert.equal((await recordings.list('door')).length, 1);
});

test('all that was left open is repaired, but what a recorder is writing', async (t) => {
  const archiveDir = tempFolder(t);
  for (const camera of ['a', 'b', '.hidden']) writeOpen(join(archiveDir, camera), { startMs: START_MS });
  const live = writeOpen(join(archiveDir, 'b'), { startMs: START_MS + 60_000 });
  writeFileSync(join(archiveDir, 'b', openName(START_MS + 30_000)), 'torn at once');
  const closed = writeClosed(join(archiveDir, 'b'), { startMs: START_MS + 3_600_000 });
  symlinkSync(join(archiveDir, 'a'), join(archiveDir, 'link'));
  const { log, lines } = logLines();
  const recovery = new Recovery(
    { archiveDir },
    {
      runner: new InlineRunner(),
      quickRunner: new InlineRunner(),
      clock: new FakeClock(),
      log,
      live: { isLive: (cameraId, fileName) => cameraId === 'b' && fileName === live },
    },
  );
  await recovery.collect();
  const after = writeOpen(join(archiveDir, 'a'), { startMs: START_MS + 90_000 });
  await recovery.repairAll();
  assert.deepEqual(recovery.counts, { closed: 2, broken: 1, failed: 0 });
  assert.deepEqual(readdirSync(join(archiveDir, 'a')).sort(), [closedAfter(4), after]);
  assert.deepEqual(
    readdirSync(join(archiveDir, 'b')).sort(),
    [closedAfter(4), `${openName(START_MS + 30_000)}.broken`, live, closed].sort(),
  );
  assert.deepEqual(readdirSync(join(archiveDir, '.hidden')), [OPEN]);
  const warnings = lines.filter(({ level }) => level === 'warn');
  assert.deepEqual(
    warnings.map(({ fields }) => [fields['camera_id'], fields['file']]),
    [['b', openName(START_MS + 30_000)]],
  );
  await recovery.repair('a', after);
  assert.deepEqual(recovery.counts, { closed: 3, broken: 1, failed: 0 });
});

test('a disk that fails at the start is looked at again, then sparing what was just written', async (t) => {
  const archiveDir = tempFolder(t);
  const old = writeOpen(join(archiveDir, 'a'), { startMs: START_MS });
  const fresh = writeOpen(join(archiveDir, 'a'), { startMs: START_MS + 60_000 });
  const clock = new FakeClock();
  const seconds = (agoMs: number): number => (clock.wallMs() - agoMs) / 1000;
  utimesSync(join(archiveDir, 'a', old), seconds(3_600_000), seconds(3_600_000));
  utimesSync(join(archiveDir, 'a', fresh), seconds(1000), seconds(1000));
  const { log, lines } = logLines();
  let faults = 2;
  const failing = (): Error => {
    faults -= 1;
    return new Error('the disk is away');
  };
  const inline = new InlineRunner();
  const repaired: FilePlace[] = [];
  const recovery = new Recovery(
    { archiveDir },
    {
      clock,
      log,
      live: { isLive: () => false },
      quickRunner: { run: async () => Promise.reject(failing()) },
      runner: {
        run: async (name, input) => {
          if (name === 'repairFile') repaired.push(input as unknown as FilePlace);
          else if (faults > 0) throw failing();
          return inline.run(name, input);
        },
      },
    },
  );
  await recovery.collect();
  await recovery.repairAll();
  assert.equal(repaired.length, 0);
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  clock.advance(60_000);
  await settle();
  assert.equal(clock.pendingTimers, 1, 'and again');
  utimesSync(join(archiveDir, 'a', fresh), seconds(-59_000), seconds(-59_000));
  clock.advance(60_000);
  for (let turn = 0; turn < 10; turn += 1) await settle();
  assert.deepEqual(readdirSync(join(archiveDir, 'a')).sort(), [closedAfter(4), fresh]);
  assert.equal(lines.filter(({ level }) => level === 'error').length, 2);
  recovery.stop();
  assert.equal(clock.pendingTimers, 0);
});

test('the start waits for no disk that is slow: what was left is found a minute later, but for what was just written', async (t) => {
  const archiveDir = tempFolder(t);
  const [left, fresh, ahead] = [0, 60_000, 120_000].map((ms) =>
    writeOpen(join(archiveDir, 'a'), { startMs: START_MS + ms }),
  );
  const clock = new FakeClock();
  const oldSec = (clock.wallMs() - 3_600_000) / 1000;
  utimesSync(join(archiveDir, 'a', left!), oldSec, oldSec);
  // The clock was ahead of what it says now, after a power cut.
  const aheadSec = (clock.wallMs() + 1_800_000) / 1000;
  utimesSync(join(archiveDir, 'a', ahead!), aheadSec, aheadSec);
  const [inline, { log, lines }] = [new InlineRunner(), logLines()];
  let answer = (): void => {};
  const quickRunner: JobRunner = {
    run: async (name, input) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return inline.run(name, input);
    },
  };
  const live = { isLive: () => false };
  const recovery = new Recovery({ archiveDir }, { clock, log, live, runner: inline, quickRunner });
  const collected = recovery.collect();
  clock.advance(1_500);
  await collected;
  // A recorder may have begun its file by now.
  answer();
  await settled();
  await recovery.repairAll();
  assert.deepEqual(readdirSync(join(archiveDir, 'a')).sort(), [left, fresh, ahead]);
  utimesSync(join(archiveDir, 'a', fresh!), clock.wallMs() / 1000 + 50, clock.wallMs() / 1000 + 50);
  clock.advance(60_000);
  await until('both are closed', () => recovery.counts.closed === 2);
  const [first, second, ...others] = readdirSync(join(archiveDir, 'a')).sort();
  assert.deepEqual([first, second, others.length], [closedAfter(4), fresh, 1]);
  assert.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
  recovery.stop();
  assert.equal(clock.pendingTimers, 0);
});

/** Lets what follows from a timer come to its end. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('files of a dead worker are repaired one after another', async (t) => {
  const archiveDir = tempFolder(t);
  const inline = new InlineRunner();
  let atOnce = 0;
  let most = 0;
  const recovery = new Recovery(
    { archiveDir },
    {
      clock: new FakeClock(),
      log: logLines().log,
      live: { isLive: () => false },
      quickRunner: inline,
      runner: {
        run: async (name, input) => {
          atOnce += 1;
          most = Math.max(most, atOnce);
          const output = await inline.run(name, input);
          atOnce -= 1;
          return output;
        },
      },
    },
  );
  const names = [0, 1, 2, 3].map((at) =>
    writeOpen(join(archiveDir, 'a'), { startMs: START_MS + at * 60_000 }),
  );
  await Promise.all(names.map((name) => recovery.repair('a', name)));
  assert.deepEqual(recovery.counts, { closed: 4, broken: 0, failed: 0 });
  assert.equal(most, 1);
});

test('a repair that the disk refuses is tried again later, less and less often', async (t) => {
  const archiveDir = tempFolder(t);
  const name = writeOpen(join(archiveDir, 'a'), { startMs: START_MS });
  const clock = new FakeClock();
  const oldSec = (clock.wallMs() - 3_600_000) / 1000;
  utimesSync(join(archiveDir, 'a', name), oldSec, oldSec);
  const inline = new InlineRunner();
  let isRefused = true;
  let tries = 0;
  const recovery = new Recovery(
    { archiveDir },
    {
      clock,
      log: logLines().log,
      live: { isLive: () => false },
      quickRunner: inline,
      runner: {
        run: (job, input) => {
          if (job !== 'repairFile') return inline.run(job, input);
          tries += 1;
          return isRefused ? Promise.reject(new Error('EIO')) : inline.run(job, input);
        },
      },
    },
  );
  t.after(() => recovery.stop());
  await recovery.repair('a', name);
  clock.advance(60_000);
  await settled();
  assert.equal(tries, 2);
  clock.advance(60_000);
  await settled();
  assert.equal(tries, 2);
  isRefused = false;
  clock.advance(60_000);
  await settled();
  assert.deepEqual(recovery.counts, { closed: 1, broken: 0, failed: 2 });
  assert.equal(clock.pendingTimers, 0);
});

test('a repair that the disk refuses is counted, and leaves the file for the next start', async (t) => {
  const archiveDir = tempFolder(t);
  writeOpen(join(archiveDir, 'a'), { startMs: START_MS });
  const { log, lines } = logLines();
  const inline = new InlineRunner();
  const recovery = new Recovery(
    { archiveDir },
    {
      clock: new FakeClock(),
      log,
      live: { isLive: () => false },
      quickRunner: inline,
      runner: {
        run: (name, input) =>
          name === 'repairFile' ? Promise.reject(new Error('EIO')) : inline.run(name, input),
      },
    },
  );
  await recovery.collect();
  await recovery.repairAll();
  assert.deepEqual(recovery.counts, { closed: 0, broken: 0, failed: 1 });
  assert.deepEqual(readdirSync(join(archiveDir, 'a')), [OPEN]);
  assert.equal(lines.find(({ level }) => level === 'error')?.fields['reason'], 'EIO');
});

test('a file that can never be read is moved aside after an hour of trials', async (t) => {
  const archiveDir = tempFolder(t);
  const name = writeOpen(join(archiveDir, 'a'), { startMs: START_MS });
  const clock = new FakeClock();
  const oldSec = (clock.wallMs() - 3_600_000) / 1000;
  utimesSync(join(archiveDir, 'a', name), oldSec, oldSec);
  t.mock.method(fs, 'readSync', () => {
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const runner = new InlineRunner();
  const { log, lines } = logLines();
  const live = { isLive: () => false };
  const recovery = new Recovery({ archiveDir }, { clock, log, live, runner, quickRunner: runner });
  t.after(() => recovery.stop());
  await recovery.repair('a', name);
  for (let minute = 0; minute < 50; minute += 1) {
    clock.advance(60_000);
    await settled();
  }
  assert.deepEqual(readdirSync(join(archiveDir, 'a')), [name], 'a disk may come back');
  for (let minute = 50; minute < 130; minute += 1) {
    clock.advance(60_000);
    await settled();
  }
  assert.deepEqual(readdirSync(join(archiveDir, 'a')), [`${name}.broken`]);
  assert.equal(recovery.counts.broken, 1);
  assert.equal(lines.at(-1)?.level === 'info' || lines.at(-1)?.level === 'warn', true);
  assert.equal(clock.pendingTimers, 0);
});
