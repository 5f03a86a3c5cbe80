import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessUnitHash } from '../support/access-units.js';
import { cameraAt, Engine, FrameLog } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { until } from '../support/until.js';

const mounts = { '/cam0': { video: fixtures.h264High(), audio: fixtures.aac() } };

/** A camera that plays into an engine, once the first frames are there. */
const play = async (camera: FakeCamera, engine: Engine): Promise<FrameLog> => {
  engine.cameras.setAll([cameraAt('cam', camera.url())]);
  const log = new FrameLog(engine.cameras, 'cam');
  await until('frames come', () => log.video.length >= 3 && log.audio.length >= 3);
  return log;
};

test('another resolution in mid-stream: new parameters, no frame lost, no reconnect', async () => {
  await using camera = await FakeCamera.start({ mounts });
  await using engine = new Engine();
  using log = await play(camera, engine);
  camera.mount('/cam0').stream.setVideo(fixtures.h264Large());
  await until('the new pictures come', () => log.video.at(-1)?.info?.video.width === 640);
  await until('some more', () => log.video.filter((frame) => frame.info?.video.width === 640).length > 5);
  const sent = camera.sent
    .filter(({ kind }) => kind === 'video')
    .map((one) => accessUnitHash('h264', one.bytes));
  assert.deepEqual(
    log.video.map((frame) => frame.hash),
    sent.slice(0, log.video.length),
  );
  const first = log.video.find((frame) => frame.info?.video.width === 640);
  assert.equal(first?.hash, accessUnitHash('h264', fixtures.h264Large().frames[0]!.bytes));
  assert.equal(engine.cameras.get('cam')?.status().reconnects, 0);
});

test('H.265 in a session that was announced as H.264: none of it is a picture, and the camera is asked anew', async () => {
  await using camera = await FakeCamera.start({ mounts });
  await using engine = new Engine();
  using log = await play(camera, engine);
  camera.mount('/cam0').stream.setVideo(fixtures.h265Main());
  const isNew = (): boolean => log.video.at(-1)?.info?.video.codec === 'h265';
  await until('the new pictures come', isNew);
  const sent = fixtures.h264High().frames.map(({ bytes }) => accessUnitHash('h264', bytes));
  const taken = log.video.filter((frame) => frame.info?.video.codec === 'h264');
  assert.ok(taken.every(({ hash }) => sent.includes(hash)));
});

test('a time jump of an hour: every frame kept, one discontinuity a track, times go on', async () => {
  await using camera = await FakeCamera.start({ mounts });
  await using engine = new Engine();
  using log = await play(camera, engine);
  camera.mount('/cam0').stream.jumpTime(3_600_000);
  const before = log.video.length;
  await until('frames go on', () => log.video.length > before + 8);
  const sent = camera.sent.filter(({ kind }) => kind === 'video');
  assert.deepEqual(
    log.video.map((frame) => frame.hash),
    sent.slice(0, log.video.length).map((one) => accessUnitHash('h264', one.bytes)),
  );
  assert.equal(log.video.filter((frame) => frame.discontinuity).length, 1);
  for (let i = 1; i < log.video.length; i += 1) {
    const stepMs = (log.video[i]!.dtsTicks - log.video[i - 1]!.dtsTicks) / 90;
    // Over the jump time goes on by what passed.
    const passedMs = sent[i]!.sentMs - sent[i - 1]!.sentMs;
    assert.ok(stepMs > 0 && stepMs < 1_000 + passedMs, `a step of ${stepMs} ms in ${passedMs} ms`);
  }
});

for (const [name, fail] of [
  ['a reset', (camera: FakeCamera) => camera.resetConnections()],
  ['a half-closed connection', (camera: FakeCamera) => camera.halfClose()],
] as const) {
  test(`the engine comes back after ${name}, from a keyframe and with a discontinuity`, async () => {
    await using camera = await FakeCamera.start({ mounts });
    await using engine = new Engine();
    using log = await play(camera, engine);
    fail(camera);
    await camera.until(({ connectionsSeen, playing }) => connectionsSeen >= 2 && playing === 1);
    const before = log.video.length;
    await until('frames come again', () => log.video.length > before + 3);
    const again = log.video.filter((frame) => frame.discontinuity);
    assert.deepEqual(
      again.map((frame) => frame.isKey),
      [true],
    );
    assert.equal(engine.cameras.get('cam')?.status().reconnects, 1);
    await camera.until(({ openSockets }) => openSockets === 1);
  });
}

test('packet loss over UDP costs frames up to the next keyframe, and nothing else', async () => {
  await using camera = await FakeCamera.start({ mounts });
  await using engine = new Engine();
  engine.cameras.setAll([cameraAt('cam', camera.url(), { source: { url: camera.url(), transport: 'udp' } })]);
  using log = new FrameLog(engine.cameras, 'cam');
  await until('frames come', () => log.video.length >= 3);
  camera.faults.loss = 0.05;
  await until('frames were lost', () => log.video.some((frame) => frame.damaged));
  camera.faults.loss = 0;
  const before = log.video.length;
  await until('it goes on', () => log.video.length > before + 20);
  const sent = camera.sent
    .filter(({ kind }) => kind === 'video')
    .map((one) => accessUnitHash('h264', one.bytes));
  let at = 0;
  for (const { hash } of log.video) {
    at = sent.indexOf(hash, at) + 1;
    assert.ok(at > 0, 'a frame that was never sent, or out of order');
  }
  assert.equal(engine.cameras.get('cam')?.status().reconnects, 0);
});
