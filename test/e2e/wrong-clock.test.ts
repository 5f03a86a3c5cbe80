import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packetsOf, runQuietly } from '../fmp4/ffmpeg.js';
import { cameraAt, Engine } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const RECORDED_MS = 40_000;
const SETTLED_MS = 15_000;

/** Seconds from a track's first packet to the end of its last one. */
const secondsOf = (path: string, track: 'v' | 'a'): number => {
  const packets = packetsOf(path, track);
  const timescaleHz = Number(
    runQuietly('ffprobe', [
      ...['-select_streams', `${track}:0`, '-show_entries', 'stream=time_base'],
      ...['-of', 'csv=p=0', path],
    ]).split('/')[1],
  );
  return (packets.at(-1)!.dts + packets.at(-1)!.duration - packets[0]!.dts) / timescaleHz;
};

test('20 pictures a second stamped as 25 are one file, as long as the time that passed, with its sound beside it', async (t) => {
  const archiveDir = tempFolder(t);
  const video = fixtures.h264High();
  const mounts = {
    '/wrong': { video, audio: fixtures.aac(), clockRates: { video: 0.8 } },
    '/right': { video, audio: fixtures.aac() },
  };
  await using camera = await FakeCamera.start({ mounts });
  await using engine = new Engine('auto', { archiveDir, fileSeconds: 3600 });
  for (const id of ['wrong', 'right']) {
    engine.cameras.setAll([cameraAt(id, camera.url(`/${id}`), { isRecorded: true })]);
  }
  const areRecorded = (): boolean => ['wrong', 'right'].every((id) => engine.desk.isRecording(id));
  await until('both are recorded', areRecorded, { deadlineMs: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, RECORDED_MS));
  await engine.cameras.stop();
  const frameTicks = 90_000 / video.frameRateHz;
  for (const id of ['wrong', 'right']) {
    const names = readdirSync(join(archiveDir, id));
    assert.equal(names.length, 1, names.join());
    const path = join(archiveDir, id, names[0]!);
    // Each picture is in it, so their count tells how much time passed.
    const packets = packetsOf(path, 'v');
    const passedSec = packets.length / video.frameRateHz;
    const [videoSec, audioSec] = [secondsOf(path, 'v'), secondsOf(path, 'a')];
    assert.ok(passedSec > RECORDED_MS / 1000 - 5, `${packets.length} pictures`);
    const lengths = `${id}: ${videoSec} s of pictures, ${audioSec} s of sound, ${passedSec} s passed`;
    assert.ok(Math.abs(videoSec - passedSec) < (id === 'wrong' ? 2.5 : 0.01), lengths);
    assert.ok(Math.abs(audioSec - passedSec) < 2.5, lengths);
    for (const { dts, duration } of packets) {
      if (id === 'right') assert.equal(duration, frameTicks);
      if (dts < SETTLED_MS * 90) continue;
      assert.ok(Math.abs(duration / frameTicks - 1) < 0.1, `${id}: a picture of ${duration} ticks at ${dts}`);
    }
  }
  const told = engine.records.filter(({ message }) => message.startsWith("the camera's clock runs wrong"));
  assert.deepEqual(
    told.map(({ level, fields }) => [level, fields['camera_id']]),
    [['warn', 'wrong']],
  );
  const ppm = Number(told[0]!.fields['clock_error_ppm']);
  assert.ok(Math.abs(ppm + 200_000) < 20_000, `${ppm}`);
});
