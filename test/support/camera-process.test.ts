import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../src/base/clock.js';
import { isKeyH264, isKeyH265, nalTypeH264, nalTypeH265 } from '../../src/codec/nal.js';
import { findStartCode } from '../../src/codec/nal-cursor.js';
import { splitNals } from './access-units.js';
import { readVideoStream } from './elementary-stream.js';
import { CameraProcess } from './fake-camera/camera-process.js';
import { generateVideo, sendTimeMs } from './frame-generator.js';
import { tempFolder } from './temp-folder.js';
import { until } from './until.js';

const execute = promisify(execFile);

test('generated H.265 has a first slice in each picture, keyframes and all', () => {
  const stream = generateVideo({ codec: 'h265', kbps: 2_000, frameRateHz: 25, framesPerGop: 25 });
  for (const frame of stream.frames) {
    const slice = splitNals(frame.bytes).at(-1)!;
    assert.equal(isKeyH265(nalTypeH265(slice[0]!)), frame.isKey);
    assert.ok(slice[2]! >= 0x80 && findStartCode(slice, 0, slice.length) < 0);
  }
});

test('generated frames have the sizes of a camera and no start codes', () => {
  const stream = generateVideo({ kbps: 4_000, frameRateHz: 25, framesPerGop: 50, gops: 2 });
  assert.equal(stream.frames.length, 100);
  const bytes = stream.frames.reduce((sum, frame) => sum + frame.bytes.length, 0);
  assert.ok(Math.abs(bytes / 2_000_000 - 1) < 0.01, `${bytes} bytes in 4 s`);
  const keys = stream.frames.filter(({ isKey }) => isKey).map((frame) => frame.bytes.length);
  const others = stream.frames.filter(({ isKey }) => !isKey).map((frame) => frame.bytes.length);
  const mean = others.reduce((sum, size) => sum + size, 0) / others.length;
  for (const size of keys) assert.ok(size > 4.5 * mean && size < 8.5 * mean, `${size} against ${mean}`);
  for (const frame of stream.frames) {
    const slice = splitNals(frame.bytes).at(-1)!;
    assert.equal(isKeyH264(nalTypeH264(slice[0]!)), frame.isKey);
    assert.ok(slice[1]! >= 0x80 && findStartCode(slice, 0, slice.length) < 0);
  }
});

for (const [pattern, transport] of [
  ['paced', 'tcp'],
  ['burst', 'udp'],
  ['flood', 'tcp'],
] as const) {
  test(`ffmpeg gets stamped frames of a camera process: ${pattern} over ${transport}`, async (t) => {
    const startMs = systemClock.monotonicMs();
    await using cameras = await CameraProcess.start({
      cameras: 3,
      pattern,
      stampSendTime: true,
      kbps: 800,
      framesPerGop: 25,
    });
    const path = join(tempFolder(t), 'got.264');
    const options = [
      '-nostdin',
      '-v',
      'fatal',
      '-analyzeduration',
      '0',
      '-rtsp_transport',
      transport,
      '-i',
      cameras.urls[2]!,
    ];
    await execute('ffmpeg', [...options, '-frames:v', '30', '-c', 'copy', '-f', 'h264', path], {
      timeout: 60_000,
    });
    const { frames } = readVideoStream(path, { codec: 'h264', frameRateHz: 25 });
    const times = frames.map((frame) => sendTimeMs(frame.bytes));
    const endMs = systemClock.monotonicMs();
    for (const timeMs of times)
      assert.ok(timeMs > startMs && timeMs < endMs, `${startMs} ${timeMs} ${endMs}`);
    assert.deepEqual(
      times.toSorted((a, b) => a - b),
      times,
    );
    if (pattern !== 'flood') assert.ok(times.at(-1)! - times[0]! > (29 * 40) / 2, 'faster than it should be');
    await until('the session is over', async () => (await cameras.report()).playing === 0);
    assert.equal((await cameras.report()).connectionsSeen, 1);
  });
}

test('a camera process ends with its parent', async () => {
  const parent = `import { CameraProcess } from ${JSON.stringify(new URL('./fake-camera/camera-process.js', import.meta.url).href)};
    const cameras = await CameraProcess.start({ cameras: 1, pattern: 'burst' });
    console.log(cameras.pid);
    process.kill(process.pid, 'SIGKILL');`;
  const run = execute(process.execPath, ['--input-type=module', '-e', parent]);
  const fault = (await run.catch((thrown: unknown) => thrown)) as { stdout: string };
  const pid = Number(fault.stdout);
  assert.ok(pid > 0);
  await until('the camera process is gone', () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
});
