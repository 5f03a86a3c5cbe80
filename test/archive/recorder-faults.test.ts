import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { repairFile } from '../../src/archive/keep/repair-file.js';
import { Recordings } from '../../src/archive/list/recordings.js';
import { DirectDisk } from '../../src/archive/write/direct-disk.js';
import { disk } from '../../src/archive/write/disk.js';
import { DiskGate } from '../../src/archive/write/disk-gate.js';
import { DiskQueue } from '../../src/archive/write/disk-queue.js';
import { Recorder } from '../../src/archive/write/recorder.js';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { Bell } from '../../src/ring/doorbell.js';
import { RingWriter } from '../../src/ring/writer.js';
import { packetsOf, runQuietly } from '../fmp4/ffmpeg.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { forgetfulDisk } from './forgetful-disk.js';
import { InlineRunner } from './inline-runner.js';
import { nobodyWrites } from './nobody-writes.js';
import { recorderRoot } from './opened-root.js';
import { RecordingStudio } from './recording-studio.js';
import { encodeSource, SourceMovie } from './source-movie.js';

const START_MS = Date.parse('2026-11-21T08:30:00.250Z');

type Shoot = { readonly studio: RecordingStudio; readonly source: SourceMovie; readonly sentFrames: number };

const shootIn = (t: TestContext, fileSeconds = 3, withAudio = false): Shoot => {
  const folder = tempFolder(t);
  const path = encodeSource(folder, { codec: 'h264', seconds: 30, framesPerGop: 25, withAudio });
  const source = new SourceMovie(path, START_MS);
  const sentFrames = source.samples.filter(({ isVideo }) => isVideo).length;
  return { studio: new RecordingStudio(join(folder, 'archive'), fileSeconds), source, sentFrames };
};

/** Closes what was left, as the main thread does, and counts the pictures in all files, each of which has to play. */
const picturesIn = (studio: RecordingStudio): number => {
  for (const fileName of studio.left) repairFile({ folder: studio.folder, fileName });
  assert.ok(
    studio.files.every((name) => !/ongoing|broken/.test(name)),
    studio.files.join(),
  );
  for (const path of studio.paths) runQuietly('ffmpeg', ['-xerror', '-i', path, '-f', 'null', '-']);
  return studio.paths.reduce((sum, path) => sum + packetsOf(path, 'v').length, 0);
};

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

const operations = [
  'access',
  'close',
  'fdatasync',
  'fsync',
  'ftruncate',
  'identityOf',
  'lstat',
  'mkdir',
  'open',
  'rename',
  'writeAt',
];

for (const operation of operations as (keyof typeof disk)[]) {
  test(`a disk that fails at ${operation}: each picture is in one file, or counted as lost`, async (t) => {
    const { studio, source, sentFrames } = shootIn(t);
    await studio.play(source, 5_000);
    const broken = t.mock.method(disk, operation, failing('EIO'));
    await studio.play(source, 8_500);
    broken.mock.restore();
    await studio.play(source, Number.POSITIVE_INFINITY);
    await studio.finish();
    assert.ok(broken.mock.callCount() > 0, 'it failed');
    assert.deepEqual(studio.open, [], 'no file is forgotten');
    assert.equal(picturesIn(studio) + studio.lostFrames, sentFrames, studio.files.join());
    // 8.5 s without a disk, 10 s at most until it is tried again, and up to a keyframe.
    assert.ok(studio.lostFrames < 20 * 25, 'it goes on by itself');
  });
}

test('what a failed sync has lost is never given a closed name: the file is left, and the next one begins for it', async (t) => {
  const forgetful = forgetfulDisk(t);
  const { studio, source } = shootIn(t, 3600);
  await studio.play(source, 10_000);
  forgetful.failNextSync();
  await studio.play(source, 8_000);
  assert.ok(forgetful.hasFailed, 'a sync failed');
  assert.ok(
    studio.news.some(({ fault }) => fault === "recordings can't be written (EIO)"),
    'and is shown',
  );
  await studio.play(source, Number.POSITIVE_INFINITY);
  await studio.finish();
  const [first] = studio.files;
  assert.deepEqual(studio.left, [first]);
  assert.equal(first, '2026-11-21_08-30-00_ongoing.mp4');
  picturesIn(studio);
  const archiveDir = join(studio.folder, '..');
  const recordings = await new Recordings(
    { archiveDir },
    { runner: new InlineRunner(), live: nobodyWrites },
  ).list('door');
  assert.deepEqual(
    recordings.map(({ startReason }) => startReason),
    ['start', 'disk'],
  );
  const [seconds] = recordings.map(({ startMs, endMs }) => (endMs - startMs) / 1000);
  assert.ok(seconds! > 6 && seconds! < 10, `${seconds} s of what was synced`);
});

test('a file whose last sync fails is left to recovery, which finds what is there', async (t) => {
  const forgetful = forgetfulDisk(t);
  const { studio, source } = shootIn(t, 3600);
  await studio.play(source, 12_000);
  forgetful.failNextSync();
  await studio.finish();
  assert.ok(forgetful.hasFailed);
  assert.deepEqual(studio.left, studio.files);
  picturesIn(studio);
});

test('a full disk that still gives names is tried more and more seldom, and told of once', async (t) => {
  const { studio, source } = shootIn(t, 3600);
  const full = t.mock.method(disk, 'writeAt', failing('ENOSPC'));
  await studio.play(source, 20_000);
  assert.ok(full.mock.callCount() <= 6, `${full.mock.callCount()} attempts`);
  assert.equal(studio.news.at(-1)?.fault, 'the disk is full');
  assert.ok(studio.news.every(({ fileName }) => fileName === null));
  assert.equal(studio.records.length, 1, JSON.stringify(studio.records));
  full.mock.restore();
  await studio.play(source, Number.POSITIVE_INFINITY);
  assert.equal(studio.news.at(-1)?.fault, null);
  await studio.finish();
  assert.equal(studio.files.length, 1);
});

test('a disk that refused is not blamed any more when the camera is away', async (t) => {
  const { studio, source } = shootIn(t);
  t.mock.method(disk, 'writeAt', failing('EIO'));
  await studio.play(source, 5_000);
  assert.notEqual(studio.news.at(-1)?.fault, null);
  studio.standStill(source, 12_000);
  assert.equal(studio.news.at(-1)?.fault, null);
  await studio.finish();
});

test('the end of a file that is lost says nothing of the file behind it', async (t) => {
  const { studio, source } = shootIn(t, 3, true);
  await studio.play(source, 2_900);
  const broken = t.mock.method(disk, 'writeAt', failing('EIO'), { times: 1 });
  await studio.play(source, 2_000);
  broken.mock.restore();
  await studio.play(source, 5_000);
  assert.equal(studio.news.at(-1)?.fault, null);
  await studio.finish();
});

test('switched off and on within one GOP, no picture is recorded twice', async (t) => {
  const { studio, source } = shootIn(t, 3600);
  await studio.play(source, 4_400);
  studio.recorders.setRecorded('door', false);
  studio.recorders.setRecorded('door', true);
  await studio.play(source, 4_000);
  // As when the camera moves to another thread, which is told of the ring.
  studio.recorders.remove('door');
  studio.recorders.setRing('door', studio.writer.ring);
  studio.recorders.setRecorded('door', true);
  await studio.play(source, 4_000);
  await studio.finish();
  const hashes = studio.paths.flatMap((path) =>
    runQuietly('ffmpeg', ['-i', path, '-map', '0:v', '-c', 'copy', '-f', 'framemd5', '-'])
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(',')[5]!),
  );
  assert.equal(studio.files.length, 3);
  assert.equal(new Set(hashes).size, hashes.length);
});

test('where the end of a file is lost to the disk, the next one begins for that, though it was time for it', async (t) => {
  const { studio, source } = shootIn(t, 10);
  // The first file of this camera ends at its sixth second.
  await studio.play(source, 4_500);
  const release = studio.blockDisk();
  while (studio.lostFrames === 0) await studio.play(source, 200);
  release();
  await studio.play(source, Number.POSITIVE_INFINITY);
  await studio.finish();
  const archiveDir = join(studio.folder, '..');
  const recordings = await new Recordings(
    { archiveDir },
    { runner: new InlineRunner(), live: nobodyWrites },
  ).list('door');
  assert.deepEqual(
    recordings.map(({ startReason }) => startReason),
    ['start', 'disk', 'rollover', 'rollover'],
  );
});

test('pictures that come six seconds late are in the same file as those before', async (t) => {
  const { studio, source, sentFrames } = shootIn(t, 3600);
  await studio.play(source, 4_500);
  studio.standStill(source, 6_000);
  await studio.play(source, Number.POSITIVE_INFINITY);
  await studio.finish();
  assert.equal(studio.files.length, 1, studio.files.join());
  assert.equal(picturesIn(studio), sentFrames);
});

/** A recorder with a disk that takes nothing, and a source that is played into any ring. */
const stalledRecorder = (t: TestContext) => {
  const folder = tempFolder(t);
  const path = encodeSource(folder, { codec: 'h264', seconds: 300, framesPerGop: 5 });
  const source = new SourceMovie(path, START_MS);
  const gate = DiskGate.create(1);
  const queue = new DiskQueue({ gate, seat: 0 });
  const makeWriter = (): RingWriter => {
    const writer = new RingWriter({}, { bell: new Bell(), onReplaced: (ring) => recorder.moveTo(ring) });
    writer.setStreamInfo(source.info);
    return writer;
  };
  const lost: number[] = [];
  const writer = makeWriter();
  const options = {
    cameraId: 'door',
    root: recorderRoot(join(folder, 'archive')),
    fileSeconds: 3600,
    mode: 'continuous' as const,
  };
  const ignore = (): void => {};
  const recorder: Recorder = new Recorder(options, writer.ring, {
    ...{
      log: createLogger(ignore),
      queue,
      direct: new DirectDisk({ clock: systemClock, onChange: ignore }),
      onNews: ignore,
      onFile: ignore,
    },
    onLost: (frames) => lost.push(frames),
  });
  assert.ok(gate.tryEnter(1, 'write'), 'the disk takes nothing');
  const play = (into: RingWriter, seconds: number): void => {
    for (let step = 0; step < seconds * 25 && !source.isOver; step += 1) {
      source.play(into, 40);
      recorder.pump(source.nowMs);
      recorder.report();
    }
  };
  const finish = async (): Promise<void> => {
    gate.leave(1, 'write');
    queue.drain();
    await recorder.stop();
  };
  return { recorder, queue, writer, makeWriter, play, finish, lost };
};

test('what waits for a dead disk has an end, however long it is dead', async (t) => {
  const { queue, writer, play, finish } = stalledRecorder(t);
  play(writer, 300);
  assert.ok(queue.waiting <= 10, `${queue.waiting} operations wait`);
  await finish();
});

test('a ring that was replaced keeps what waits in it, and does not speak for the next ring', async (t) => {
  const { recorder, writer, makeWriter, play, finish, lost } = stalledRecorder(t);
  play(writer, 1.5);
  const next = makeWriter();
  recorder.moveTo(next.ring);
  play(next, 60);
  assert.ok(lost.length > 0, 'frames are given up while the disk takes nothing');
  await finish();
});

test('what a fault in its own code leaves is closed, and recording goes on with the next keyframe', async (t) => {
  const { studio, source } = shootIn(t, 3600);
  await studio.play(source, 4_000);
  const { info } = source;
  // Parameter sets that nobody can read never come this far; should they, the recorder throws at each keyframe.
  const video = { ...info.video, sps: [] };
  await studio.play(source, 4_000, { ...info, video });
  await until('the file is closed', () => studio.files.every((name) => !name.includes('ongoing')));
  const faults = studio.records.filter(({ message }) => message === 'a recorder failed and begins anew');
  assert.ok(faults.length >= 1 && faults.length <= 5, `${faults.length} faults in 4 keyframes`);
  await studio.play(source, 4_000);
  await studio.finish();
  assert.equal(studio.files.length, 2);
  assert.deepEqual(studio.open, []);
});

test('the folder may go while it is recorded', async (t) => {
  const { studio, source } = shootIn(t);
  await studio.play(source, 4_000);
  rmSync(studio.folder, { recursive: true });
  await studio.play(source, 6_000);
  rmSync(studio.folder, { recursive: true });
  writeFileSync(studio.folder, '');
  await studio.play(source, 6_000);
  rmSync(studio.folder);
  await studio.play(source, Number.POSITIVE_INFINITY);
  await studio.finish();
  assert.ok(studio.files.length > 0);
});

test("a camera's folder that is a link is not recorded into, and says so until it is a folder", async (t) => {
  const { studio, source } = shootIn(t);
  const elsewhere = tempFolder(t);
  mkdirSync(join(studio.folder, '..'), { recursive: true });
  rmSync(studio.folder, { recursive: true, force: true });
  symlinkSync(elsewhere, studio.folder);
  await studio.play(source, 5_000);
  assert.deepEqual(readdirSync(elsewhere), []);
  assert.match(studio.news.at(-1)?.fault ?? '', /is a link or a file/);
  renameSync(studio.folder, `${studio.folder}-link`);
  await studio.play(source, 15_000);
  assert.deepEqual(readdirSync(elsewhere), []);
  assert.equal(studio.news.at(-1)?.fault, null);
  await studio.play(source, Number.POSITIVE_INFINITY);
  await studio.finish();
  assert.ok(studio.files.length > 0);
});
