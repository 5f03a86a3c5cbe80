import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseRecordingName } from '../../src/archive/files/file-name.js';
import { disk } from '../../src/archive/write/disk.js';
import { DiskGate } from '../../src/archive/write/disk-gate.js';
import { DiskQueue } from '../../src/archive/write/disk-queue.js';
import { decodedHashes, packetsOf, runQuietly } from '../fmp4/ffmpeg.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { RecordingStudio } from './recording-studio.js';
import { encodeSource, SourceMovie } from './source-movie.js';

const START_MS = Date.parse('2026-11-21T08:30:00.250Z');

const studioWith = (
  t: TestContext,
  fileSeconds = 3600,
): { studio: RecordingStudio; source: SourceMovie; path: string } => {
  const folder = tempFolder(t);
  const path = encodeSource(folder, { codec: 'h264', seconds: 40, framesPerGop: 25 });
  return {
    studio: new RecordingStudio(join(folder, 'archive'), fileSeconds),
    source: new SourceMovie(path, START_MS),
    path,
  };
};

test('a file is named by its first picture, and by its last one when it is closed', async (t) => {
  const { studio, source } = studioWith(t);
  await studio.play(source, 4_000);
  assert.deepEqual(studio.files, ['2026-11-21_08-30-00_ongoing.mp4']);
  assert.equal(studio.news.at(-1)?.fileName, '2026-11-21_08-30-00_ongoing.mp4');
  await studio.finish();
  assert.deepEqual(studio.files, ['2026-11-21_08-30-00_to_08-30-05.mp4']);
});

test('what was written a second ago is on the disk, whole, while the file is open', async (t) => {
  const { studio, source } = studioWith(t);
  for (let playedMs = 2_000; playedMs <= 6_000; playedMs += 1_000) {
    await studio.play(source, playedMs === 2_000 ? 2_000 : 1_000);
    const frames = packetsOf(studio.paths[0]!, 'v').length;
    assert.ok(frames >= (playedMs - 1_000) / 40, `${frames} frames after ${playedMs} ms`);
  }
  await studio.finish();
});

test('no more than ten seconds of an open file are left to the system to write when it likes', async (t) => {
  const { studio, source } = studioWith(t);
  const { fdatasync } = disk;
  const atMs: number[] = [];
  t.mock.method(disk, 'fdatasync', (descriptor: number) => {
    atMs.push(source.nowMs);
    return fdatasync(descriptor);
  });
  const startMs = source.nowMs;
  await studio.play(source, 35_000);
  const gapsMs = [...atMs, source.nowMs].map((ms, index) => ms - (atMs[index - 1] ?? startMs));
  assert.ok(atMs.length >= 3 && atMs.length <= 5, `${atMs.length} syncs in 35 s`);
  assert.ok(Math.max(...gapsMs) < 10_000, gapsMs.join());
  await studio.finish();
});

test('a disk that stands still costs the recording a gap, and nothing of what comes after', async (t) => {
  const { studio, source, path } = studioWith(t);
  await studio.play(source, 3_000);
  const release = studio.blockDisk();
  await studio.play(source, 12_000);
  assert.ok(studio.lostFrames > 0, 'the ring has gone round');
  release();
  await studio.play(source, Number.POSITIVE_INFINITY);
  await studio.finish();
  assert.equal(studio.files.length, 2, studio.files.join());
  const joined = studio.paths.flatMap((file) => decodedHashes(file, 'v'));
  const sent = decodedHashes(path, 'v');
  assert.equal(joined.length + studio.lostFrames, sent.length);
  const gapAt = decodedHashes(studio.paths[0]!, 'v').length;
  assert.deepEqual(joined, [...sent.slice(0, gapAt), ...sent.slice(gapAt + studio.lostFrames)]);
  for (const file of studio.paths) runQuietly('ffmpeg', ['-xerror', '-i', file, '-f', 'null', '-']);
  assert.ok(
    studio.records.some(({ message }) => message.includes('disk')),
    'and it is logged',
  );
});

test('a folder that nothing can be made in is tried again until it can', async (t) => {
  const { studio, source } = studioWith(t);
  // Where the folder should be there is a file.
  writeFileSync(studio.folder, '');
  await studio.play(source, 5_000);
  assert.equal(studio.news.at(-1)?.fileName, null);
  rmSync(studio.folder);
  await studio.play(source, Number.POSITIVE_INFINITY);
  await studio.finish();
  assert.equal(studio.files.length, 1);
  assert.ok(decodedHashes(studio.paths[0]!, 'v').length >= 25 * 20);
  assert.ok(studio.records.some(({ message }) => message === 'recording again'));
});

test('a name that is taken is never written over', async (t) => {
  const { studio, source } = studioWith(t);
  mkdirSync(studio.folder, { recursive: true });
  const mine = ['2026-11-21_08-30-00_ongoing.mp4', '2026-11-21_08-30-01_to_08-30-05.mp4'];
  for (const name of mine) writeFileSync(join(studio.folder, name), 'mine');
  await studio.play(source, 4_000);
  await studio.finish();
  assert.deepEqual(studio.files, [...mine, '2026-11-21_08-30-01_to_08-30-06.mp4'].sort());
  assert.ok(studio.files.every((name) => parseRecordingName(name) !== null));
});

test('a change of the parameter sets begins a new file at the next keyframe', async (t) => {
  const { studio, source, path } = studioWith(t);
  await studio.play(source, 4_000);
  const { video } = source.info;
  const other = [...video.pps, Uint8Array.of(0x68, 0x5b, 0xee, 0x3c, 0x80)];
  await studio.play(source, 4_000, { ...source.info, video: { ...video, pps: other } });
  await studio.finish();
  assert.equal(studio.files.length, 2);
  const joined = studio.paths.flatMap((file) => decodedHashes(file, 'v'));
  assert.deepEqual(joined, decodedHashes(path, 'v').slice(0, joined.length));
});

test('a stream that stands still has its file closed, and another begins when it goes on', async (t) => {
  const { studio, source } = studioWith(t);
  await studio.play(source, 3_000);
  studio.standStill(source, 12_000);
  await until('the file is closed', () => studio.files.every((name) => !name.includes('ongoing')));
  source.skip(12_000);
  await studio.play(source, 3_000);
  await studio.finish();
  assert.equal(studio.files.length, 2);
});

test('recording switched off closes the file; switched on again it begins another', async (t) => {
  const { studio, source } = studioWith(t);
  await studio.play(source, 3_000);
  studio.recorders.setRecorded('door', false);
  assert.equal(studio.news.at(-1)?.fileName, null);
  await until('the file is closed', () => studio.files.every((name) => !name.includes('ongoing')));
  await studio.play(source, 3_000);
  assert.equal(studio.files.length, 1);
  studio.recorders.setRecorded('door', true);
  await studio.play(source, 3_000);
  assert.equal(studio.files.length, 2);
  await studio.finish();
});

test('no more operations are under way than the gate lets in, whatever waits', async () => {
  const gate = DiskGate.create(2);
  const queues = [0, 1, 2].map((seat) => new DiskQueue({ gate, seat }));
  let most = 0;
  let running = 0;
  const operation = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  };
  const all = Array.from({ length: 60 }, (_, index) => queues[index % 3]!.run('write', operation));
  const waking = setInterval(() => queues.forEach((queue) => void queue.drain()), 1);
  await Promise.all(all);
  clearInterval(waking);
  assert.equal(most, 2);
  assert.equal(gate.inUse, 0);
});

test('the time of writes is counted over all threads, from when they were due, and of nothing but writes', async (t) => {
  const gate = DiskGate.create(1);
  const queues = [0, 1].map((seat) => new DiskQueue({ gate: DiskGate.open(gate.memory), seat }));
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  let release = (): void => {};
  const hanging = (): Promise<void> => new Promise((resolve) => (release = resolve));
  const first = queues[0]!.run('write', hanging);
  const behind = queues[0]!.run('write', async () => {});
  nowMs += 300;
  release();
  await Promise.all([first, behind]);
  await queues[1]!.run('close', async () => {});
  const refused = queues[1]!.run('write', () => Promise.reject(new Error('no room')));
  await assert.rejects(refused);
  const { bounds, counts, sum } = gate.writeTimes.spread;
  assert.deepEqual(
    [bounds, counts],
    [
      [0.001, 0.005, 0.02, 0.1, 0.5, 2, 8],
      [1, 0, 0, 0, 2, 0, 0, 0],
    ],
  );
  assert.equal(sum, 0.6);
});

test('syncs and closes never take the last place at the gate: a write always finds one that they do not hold', async () => {
  const gate = DiskGate.create(3);
  const queues = [0, 1, 2, 3].map((seat) => new DiskQueue({ gate, seat }));
  const release: (() => void)[] = [];
  const hanging = (): Promise<void> => new Promise((resolve) => release.push(resolve));
  const slow = queues.flatMap((queue) => [queue.run('sync', hanging), queue.run('close', hanging)]);
  assert.equal(gate.inUse, 2);
  let isWritten = false;
  await queues[3]!.run('write', async () => {
    isWritten = true;
  });
  assert.ok(isWritten);
  const waking = setInterval(() => {
    for (const end of release.splice(0)) end();
    for (const queue of queues) queue.drain();
  }, 1);
  await Promise.all(slow);
  clearInterval(waking);
  assert.equal(gate.inUse, 0);
});

test('a gate of one place lets everything in, one after another', () => {
  const gate = DiskGate.create(1);
  assert.ok(gate.tryEnter(0, 'other'));
  assert.equal(gate.tryEnter(0, 'write'), false);
  gate.leave(0, 'other');
  assert.ok(gate.tryEnter(0, 'write'));
});

test('a thread that died gives its places at the gate back', () => {
  const gate = DiskGate.create(2);
  assert.ok(gate.tryEnter(7, 'write') && gate.tryEnter(7, 'write'));
  assert.equal(gate.tryEnter(3, 'write'), false);
  gate.vacate(7);
  assert.ok(gate.tryEnter(3, 'other'));
  assert.equal(gate.tryEnter(4, 'other'), false, 'the other place is for writes');
  gate.vacate(3);
  assert.ok(gate.tryEnter(4, 'other'));
});

test('a thread whose recorders end leaves the gate as narrow as it was for all the others', async (t) => {
  const { studio, source } = studioWith(t);
  await studio.play(source, 2_000);
  await studio.finish();
  studio.blockDisk();
  assert.throws(() => studio.blockDisk(), /the disk is busy/);
});

test('nothing is left behind where nothing was recorded', async (t) => {
  const { studio } = studioWith(t);
  await studio.finish();
  assert.ok(!existsSync(studio.folder) || readdirSync(studio.folder).length === 0);
});
