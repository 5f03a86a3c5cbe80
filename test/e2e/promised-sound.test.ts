import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packetsOf, runQuietly } from '../fmp4/ffmpeg.js';
import { cameraAt, Engine, FrameLog } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import type { Faults } from '../support/fake-camera/faults.js';
import { fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const mounts = { '/cam0': { video: fixtures.h264High(), audio: fixtures.aac() } };
const deadline = { deadlineMs: 30_000 };

/** The kinds of the tracks of each file, in the order of time. */
const tracksIn = (folder: string): string[] =>
  readdirSync(folder)
    .toSorted()
    .map((file) => {
      const shown = ['-show_entries', 'stream=codec_type', '-of', 'csv=p=0', join(folder, file)];
      return runQuietly('ffprobe', shown).trim().split('\n').join();
    });

const record = async (
  archiveDir: string,
  camera: FakeCamera,
  play: (log: FrameLog, engine: Engine) => Promise<void>,
): Promise<string[]> => {
  const engine = new Engine('auto', { archiveDir, fileSeconds: 3600 });
  engine.cameras.setAll([cameraAt('cam', camera.url(), { isRecorded: true })]);
  using log = new FrameLog(engine.cameras, 'cam');
  await play(log, engine);
  await engine[Symbol.asyncDispose]();
  return tracksIn(join(archiveDir, 'cam'));
};

const keyFrames = (log: FrameLog): number => log.video.filter(({ isKey }) => isKey).length;

const never: Readonly<Record<string, Partial<Faults>>> = {
  'announced and never sent': { silentAudio: true },
  'refused at SETUP': {
    answer: ({ method, url }) => (method === 'SETUP' && url.includes('trackID=1') ? 461 : null),
  },
};
for (const [name, faults] of Object.entries(never)) {
  test(`sound that is ${name} is declared nowhere, and no picture waits for it`, async (t) => {
    const archiveDir = tempFolder(t);
    await using camera = await FakeCamera.start({ mounts, faults });
    const files = await record(archiveDir, camera, async (log, engine) => {
      await until('pictures come', () => log.video.length >= 3, deadline);
      await engine.untilState('cam', 'streaming');
      await until('two GOPs are there', () => keyFrames(log) > 2, deadline);
      assert.ok(log.frames.every(({ info, isVideo }) => isVideo && info?.audio === null));
    });
    assert.deepEqual(files, ['video']);
    const recording = join(archiveDir, 'cam', readdirSync(join(archiveDir, 'cam'))[0]!);
    assert.ok(packetsOf(recording, 'v').length >= 30, 'from the first keyframe on');
  });
}

test('sound that comes is in the first file from its beginning', async (t) => {
  const archiveDir = tempFolder(t);
  await using camera = await FakeCamera.start({ mounts });
  const files = await record(archiveDir, camera, async (log) => {
    await until('two GOPs are there', () => keyFrames(log) > 2, deadline);
  });
  assert.deepEqual(files, ['video,audio']);
  const recording = join(archiveDir, 'cam', readdirSync(join(archiveDir, 'cam'))[0]!);
  assert.ok(packetsOf(recording, 'a')[0]!.dts < 0.2 * 48_000);
});

test('sound that begins later begins a file; that it falls silent, or is back, begins none', async (t) => {
  const archiveDir = tempFolder(t);
  await using camera = await FakeCamera.start({ mounts, faults: { silentAudio: true } });
  const declares = (log: FrameLog, isWanted: boolean) => () =>
    (log.video.at(-1)?.info?.audio != null) === isWanted && keyFrames(log) >= 2;
  const files = await record(archiveDir, camera, async (log) => {
    await until('it is silent', declares(log, false), deadline);
    camera.faults.silentAudio = false;
    await until('it has sound', declares(log, true), deadline);
    const isSoundBefore = log.video.findIndex(({ info }) => info?.audio != null);
    assert.equal(log.video[isSoundBefore]!.isKey, true, 'from a keyframe on');
    camera.faults.silentAudio = true;
    await until('it is silent again', declares(log, false), deadline);
    camera.faults.silentAudio = false;
    await until('it has sound again', declares(log, true), deadline);
    const before = keyFrames(log);
    await until('some more', () => keyFrames(log) > before, deadline);
  });
  assert.deepEqual(files, ['video', 'video,audio']);
});

test('a camera that comes back with its sound goes on in the same file', async (t) => {
  const archiveDir = tempFolder(t);
  await using camera = await FakeCamera.start({ mounts });
  const files = await record(archiveDir, camera, async (log) => {
    await until('two GOPs are there', () => keyFrames(log) > 2, deadline);
    camera.resetConnections();
    const before = keyFrames(log);
    await until('it is back', () => keyFrames(log) > before + 1, deadline);
    assert.ok(log.video.slice(3).every(({ info }) => info?.audio?.codec === 'aac'));
  });
  assert.deepEqual(files, ['video,audio']);
});
