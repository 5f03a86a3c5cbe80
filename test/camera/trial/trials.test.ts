import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { RecordingDesk } from '../../../src/archive/write/recording-desk.js';
import { systemClock } from '../../../src/base/clock.js';
import { createLogger } from '../../../src/base/log.js';
import { type CameraWorker, spawnCameraWorker } from '../../../src/camera/fleet/worker-thread.js';
import { Trials } from '../../../src/camera/trial/trials.js';
import { openedRoot } from '../../archive/opened-root.js';
import { FakeCamera } from '../../support/fake-camera/fake-camera.js';
import type { Faults } from '../../support/fake-camera/faults.js';
import { fixtures } from '../../support/fixtures.js';
import { type ConfigMessage, type FrameMessage, parseMessage } from '../../support/frame-messages.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';

const login = { user: 'admin', password: 's3cret' };

const setUp = (t: TestContext) => {
  const logged: string[] = [];
  const log = createLogger((level, message, fields) =>
    logged.push(`${level} ${message} ${JSON.stringify(fields)}`),
  );
  const archiveDir = tempFolder(t);
  const workers: CameraWorker[] = [];
  const office = new RecordingDesk(
    { archiveDir, fileSeconds: 60, root: openedRoot(archiveDir).memory },
    { clock: systemClock, log, recover: () => assert.fail('nothing is recorded'), onRefused: () => {} },
  );
  const trials = new Trials({
    ...{ clock: systemClock, log, office },
    spawn: (...how) => {
      const worker = spawnCameraWorker(...how);
      workers.push(worker);
      return worker;
    },
  });
  t.after(() => trials.stop());
  const tried = (url: string, transport: 'tcp' | 'udp' = 'tcp') => trials.test({ url, transport }, 'olga');
  return { trials, tried, logged, workers };
};

const startCamera = (t: TestContext, faults: Partial<Faults> = {}): Promise<FakeCamera> =>
  FakeCamera.start({
    mounts: {
      '/cam0': { video: fixtures.h264High(), audio: fixtures.aac() },
      '/h265': { video: fixtures.h265Main() },
    },
    auth: { ...login, schemes: ['digest-md5'] },
    faults,
  }).then((camera) => {
    t.after(() => camera[Symbol.asyncDispose]());
    return camera;
  });

const messagesIn = (pieces: readonly Buffer[]) => {
  const all = Buffer.concat(pieces);
  const messages = [];
  for (let at = 0; at < all.length; ) {
    const end = at + 4 + all.readUInt32BE(at);
    messages.push(parseMessage(all.subarray(at + 4, end)));
    at = end;
  }
  return messages;
};

test('a camera that works says what it sends, and shows it once to whoever asked', async (t) => {
  const camera = await startCamera(t);
  const { trials, tried, logged } = setUp(t);
  const { test_id: id, fps, keyframe_ms: keyframeMs, ...result } = await tried(camera.url('/cam0', login));
  assert.deepEqual(result, {
    ...{ ok: true, code: 'ok', detail: '', codec: 'h264', width: 320, height: 180 },
    ...{ reorder: 0, audio_codec: 'aac' },
  });
  const video = fixtures.h264High();
  const frameMs = 1_000 / video.frameRateHz;
  assert.ok(Math.abs(fps - video.frameRateHz) < 2, `${fps} fps`);
  assert.ok(Math.abs((keyframeMs ?? 0) - 15 * frameMs) < 2 * frameMs, `${keyframeMs} ms`);
  await until('the session was ended in so many words', () => camera.sessionsTornDown === 1);
  assert.throws(() => trials.take(id, 'eve'), /no such test/);
  const [config, ...frames] = messagesIn(trials.take(id, 'olga')) as [ConfigMessage, ...FrameMessage[]];
  assert.deepEqual([config.type, config.width, config.height], ['config', 320, 180]);
  assert.ok(frames[0]?.isKey && frames.length > 15 && frames.every(({ type }) => type === 'frame'));
  const stream = Buffer.concat([config.description, ...frames.map(({ bytes }) => bytes)]);
  const probe = [
    '-v',
    'error',
    '-f',
    'h264',
    '-count_frames',
    '-show_entries',
    'stream=width,nb_read_frames',
  ];
  const seen = execFileSync('ffprobe', [...probe, '-of', 'csv=p=0', '-'], { input: stream });
  assert.equal(seen.toString().trim(), `320,${frames.length}`);
  assert.throws(() => trials.take(id, 'olga'), /no such test/);
  const udp = await tried(camera.url('/h265', login), 'udp');
  assert.deepEqual([udp.ok, udp.codec, udp.audio_codec], [true, 'h265', '']);
  assert.doesNotMatch(logged.join('\n'), /s3cret/);
});

test('a camera that fails says how, and what to do about it', async (t) => {
  const camera = await startCamera(t);
  const { tried, logged } = setUp(t);
  const deaf = createServer(() => {}).listen(0, '127.0.0.1');
  t.after(() => deaf.close());
  await until('it listens', () => deaf.listening);
  const deafPort = (deaf.address() as { port: number }).port;
  const other = await startCamera(t, { editSdp: (sdp) => sdp.replace(/H26[45]/g, 'JPEG2000') });
  const late = await startCamera(t, { stall: true });
  const wrong = { ...login, password: 'wrong' };
  const urls: readonly (readonly [url: string, code: RegExp, detail: RegExp])[] = [
    [camera.url('/cam0', wrong), /^unauthorized$/, /user name and password/],
    [camera.url('/nothing', login), /^not_found$/, /path/],
    ['rtsp://127.0.0.1:1/x', /^connection_refused$/, /port/],
    ['rtsp://no-such-host.invalid/x', /^host_unreachable$/, /name|address/],
    [`rtsp://127.0.0.1:${deafPort}/x`, /^timeout$/, /port|reach|answer/],
    [other.url('/cam0', login), /^unsupported_codec$/, /choose H\.264/],
    [late.url('/cam0', login), /^(no_picture|stalled)$/, /transport/],
  ];
  await Promise.all(
    urls.map(async ([url, code, detail]) => {
      const result = await tried(url);
      assert.deepEqual([result.ok, result.test_id], [false, ''], url);
      assert.match(result.code, code, url);
      assert.match(result.detail, detail, url);
      assert.doesNotMatch(result.detail, /s3cret|wrong/);
    }),
  );
  assert.doesNotMatch(logged.join('\n'), /s3cret|:wrong@/);
});

test('eight at once, in one thread, which is gone a while after the last', async (t) => {
  const { trials, tried, workers } = setUp(t);
  const url = 'rtsp://127.0.0.1:1/x';
  const running = Array.from({ length: 8 }, () => tried(url));
  await assert.rejects(tried(url), { code: 'tests_busy' });
  await Promise.all(running);
  assert.equal((await tried(url)).code, 'connection_refused');
  assert.equal(workers.length, 1);
  await trials.stop();
  assert.equal((await tried(url)).code, 'connection_refused');
  assert.equal(workers.length, 2);
});

test('a test that ends its thread is told so, and the next one has another', async (t) => {
  const camera = await startCamera(t, { stall: true });
  const { tried, workers } = setUp(t);
  const running = tried(camera.url('/cam0', login));
  await until('its thread runs', () => camera.requests.length > 0);
  workers[0]?.kill('killed by the test');
  assert.equal((await running).code, 'internal_error');
  assert.equal((await tried('rtsp://127.0.0.1:1/x')).code, 'connection_refused');
});
