import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../src/base/clock.js';
import { ntpToWallMs } from '../../src/rtp/rtcp-writer.js';
import { accessUnitHash } from './access-units.js';
import type { VideoStream } from './elementary-stream.js';
import { readVideoStream } from './elementary-stream.js';
import { FakeCamera } from './fake-camera/fake-camera.js';
import { noFaults } from './fake-camera/faults.js';
import { RtpOut } from './fake-camera/rtp-out.js';
import { StreamFeed } from './fake-camera/stream-feed.js';
import { fixtures } from './fixtures.js';
import { tempFolder } from './temp-folder.js';
import { until } from './until.js';

const execute = promisify(execFile);
/** An outside program that hangs must not hold up the tests. */
const run = (program: string, args: readonly string[]) => execute(program, args, { timeout: 60_000 });

const hashesOf = (stream: VideoStream): string[] =>
  stream.frames.map((frame) => accessUnitHash(stream.codec, frame.bytes));

/** Lets ffmpeg, which knows nothing of us, take the whole stream; the access units it got. */
const recordWithFfmpeg = async (url: string, stream: VideoStream, path: string, ...options: string[]) => {
  await run('ffmpeg', [
    ...['-nostdin', '-v', 'error', ...options, '-i', url, '-map', '0:v'],
    ...[
      '-frames:v',
      String(stream.frames.length),
      '-c',
      'copy',
      '-f',
      stream.codec === 'h264' ? 'h264' : 'hevc',
      path,
    ],
  ]);
  return readVideoStream(path, { codec: stream.codec, frameRateHz: stream.frameRateHz });
};

const cases = [
  { name: 'H.264 and AAC over TCP', video: fixtures.h264High, audio: fixtures.aac, transport: 'tcp' },
  { name: 'sliced H.264 over UDP', video: fixtures.h264Baseline, audio: null, transport: 'udp' },
  { name: 'B-frames over TCP', video: fixtures.h264BFrames, audio: null, transport: 'tcp' },
  { name: 'H.265 and G.711 over UDP', video: fixtures.h265Main, audio: fixtures.pcmu, transport: 'udp' },
] as const;

for (const { name, video, audio, transport } of cases) {
  test(`ffmpeg gets every access unit: ${name}`, async (t) => {
    const stream = video();
    const mount = { video: stream, audio: audio?.() ?? null, pacing: { mode: 'live', speed: 4 } } as const;
    await using camera = await FakeCamera.start({ mounts: { '/cam0': mount } });
    const path = join(tempFolder(t), 'got.bin');
    const got = await recordWithFfmpeg(camera.url(), stream, path, '-rtsp_transport', transport);
    assert.deepEqual(hashesOf(got), hashesOf(stream));
    assert.deepEqual(camera.methods.slice(0, 3), ['OPTIONS', 'DESCRIBE', 'SETUP']);
    // ffmpeg may reset the connection right behind its TEARDOWN, which then gets lost.
    await camera.until((one) => one.sessionsTornDown + one.sessionsAbandoned === 1 && one.openSockets === 0);
  });
}

test('ffprobe sees times in display order and both tracks', async () => {
  const mount = {
    video: fixtures.h264BFrames(),
    audio: fixtures.aac(),
    isLooped: false,
    pacing: { mode: 'live', speed: 8 },
  } as const;
  await using camera = await FakeCamera.start({ mounts: { '/cam0': mount } });
  const { stdout } = await run('ffprobe', [
    ...[
      '-v',
      'error',
      '-rtsp_transport',
      'tcp',
      '-show_entries',
      'packet=stream_index,pts_time:stream=codec_name',
    ],
    ...['-of', 'csv=p=0', camera.url()],
  ]);
  const lines = stdout.trim().split('\n');
  assert.deepEqual(
    lines.filter((line) => /^[a-z]/.test(line)),
    ['h264', 'aac'],
  );
  const times = lines.filter((line) => line.startsWith('0,')).map((line) => Number.parseFloat(line.slice(2)));
  const order = fixtures.h264BFrames().frames.map((frame) => frame.ptsTicks / 6000);
  // ffmpeg gives the first packet no time.
  assert.deepEqual(
    times.slice(1).map((time) => Math.round((time - times[1]!) * 15) + order[1]!),
    order.slice(1),
  );
  assert.ok(lines.filter((line) => line.startsWith('1,')).length > 180);
});

test('a camera that was held up reports when its picture was due, not when it came', async () => {
  const reports: Buffer[] = [];
  const transport = {
    sendRtp: () => {},
    sendRtcp: (bytes: Buffer) => void reports.push(bytes),
    close: () => {},
  };
  const out = new RtpOut({ payloadType: 96, ssrc: 1, firstSequence: 0 }, noFaults(), transport);
  const feed = new StreamFeed({ video: fixtures.h264High() });
  const beforeMs = systemClock.wallMs();
  feed.join({
    ...{ isBacklogged: false, trackOf: () => null, finish: () => {} },
    sendFrame: ({ bytes, ticks, isKey, dueMs }) =>
      out.sendFrame([{ payload: bytes, timestamp: ticks, marker: true }], isKey, { ticks, wallMs: dueMs }),
  });
  const joinedMs = systemClock.wallMs();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  await until('it reports', () => reports.length > 0);
  feed.close();
  const [report] = reports;
  const reportedMs = ntpToWallMs(report!.readUInt32BE(8), report!.readUInt32BE(12));
  // The first one was due at once.
  assert.ok(
    reportedMs > beforeMs - 50 && reportedMs < joinedMs + 50,
    `${reportedMs - joinedMs} ms after it was due`,
  );
});

test('ffmpeg logs in with a digest over TLS', async (t) => {
  const login = { user: 'admin', password: 'p@ss:w/rd#1' };
  const stream = fixtures.h264High();
  await using camera = await FakeCamera.start({
    mounts: { '/cam0': { video: stream, pacing: { mode: 'flood' } } },
    isTls: true,
    auth: { ...login, schemes: ['digest-md5'], hasQop: true },
  });
  const got = await recordWithFfmpeg(camera.url('/cam0', login), stream, join(tempFolder(t), 'got.264'));
  assert.deepEqual(hashesOf(got), hashesOf(stream));
  assert.equal(camera.gatekeeper?.refused, 0);
  await assert.rejects(
    run('ffprobe', ['-v', 'error', camera.url('/cam0', { ...login, password: 'wrong' })]),
    /401/,
  );
  assert.ok((camera.gatekeeper?.refused ?? 0) > 0);
});
