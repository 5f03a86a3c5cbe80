import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessUnitHash, joinNals, splitNals } from '../support/access-units.js';
import type { VideoStream } from '../support/elementary-stream.js';
import { cameraAt, Engine, FrameLog } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { joinedInMidGop } from '../support/mid-gop.js';
import { until } from '../support/until.js';

/** Longer than the test goes on. */
const GOP_REST_SECONDS = 120;
/** Longer than a camera that sends nothing is waited for. */
const WAITED_SECONDS = 11;

const statusOf = (engine: Engine): { state: string; lastError: string; reconnects: number } =>
  engine.cameras.get('cam')!.status();

const secondsWaited = (engine: Engine): number =>
  Number(/^waiting for a keyframe \((\d+) s\)$/.exec(statusOf(engine).lastError)?.[1] ?? Number.NaN);

test('a camera that is joined in the middle of a long GOP is waited for, and says so', async () => {
  const video = joinedInMidGop(fixtures.h264High(), GOP_REST_SECONDS);
  await using camera = await FakeCamera.start({
    mounts: { '/cam0': { video } },
    faults: { startMidGop: true },
  });
  await using engine = new Engine();
  engine.cameras.setAll([cameraAt('cam', camera.url())]);
  using log = new FrameLog(engine.cameras, 'cam');
  const deadline = { deadlineMs: 60_000, describe: () => JSON.stringify(statusOf(engine)) };
  await until(
    'it has waited longer than for a dead one',
    () => secondsWaited(engine) >= WAITED_SECONDS,
    deadline,
  );
  assert.equal(statusOf(engine).state, 'connecting');
  const whole = fixtures.h264High();
  camera.mount('/cam0').stream.setVideo(whole);
  await engine.untilState('cam', 'streaming', 60_000);
  await until('pictures come', () => log.video.length > 0, deadline);
  assert.equal(statusOf(engine).lastError, '');
  assert.equal(statusOf(engine).reconnects, 0);
  assert.equal(camera.connectionsSeen, 1);
  const keys = whole.frames.filter(({ isKey }) => isKey);
  // A reader on a busy machine may have joined at a later keyframe.
  assert.ok(keys.some(({ bytes }) => accessUnitHash('h264', bytes) === log.video[0]!.hash));
});

/** The same with an SPS that is cut short, in the SDP too. */
const withBrokenSps = (stream: VideoStream): VideoStream => {
  const broken = (nal: Buffer): Buffer => ((nal[0]! & 0x1f) === 7 ? nal.subarray(0, 5) : nal);
  return {
    ...stream,
    parameterSets: stream.parameterSets.map(broken),
    frames: stream.frames.map((frame) => ({ ...frame, bytes: joinNals(splitNals(frame.bytes).map(broken)) })),
  };
};

test('a camera whose parameter sets can not be read says which, and why, and is not dropped for it', async () => {
  const video = withBrokenSps(fixtures.h264High());
  await using camera = await FakeCamera.start({ mounts: { '/cam0': { video } } });
  await using engine = new Engine();
  engine.cameras.setAll([cameraAt('cam', camera.url())]);
  const expected = /^waiting for parameter sets: the SPS can't be read \(5 bytes: cut short.*\) \(\d+ s\)$/;
  await until('it says why', () => expected.test(statusOf(engine).lastError), {
    describe: () => JSON.stringify(statusOf(engine)),
  });
  assert.equal(statusOf(engine).state, 'connecting');
  camera.mount('/cam0').stream.setVideo(fixtures.h264High());
  await engine.untilState('cam', 'streaming', 60_000);
  assert.equal(statusOf(engine).lastError, '');
  assert.equal(camera.connectionsSeen, 1);
});
