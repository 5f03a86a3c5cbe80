import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { accessUnitHash } from '../support/access-units.js';
import { cameraAt, Engine, FrameLog } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { GstServer, remux } from '../support/gst-server.js';
import { watchLateness } from '../support/lateness.js';
import { tempFolder } from '../support/temp-folder.js';
import { undisturbed } from '../support/undisturbed.js';
import { until } from '../support/until.js';

/** Sockets and threads that this process has open, as the kernel counts them. */
const openThings = (): { sockets: number; threads: number } => ({
  sockets: readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length,
  threads: readdirSync('/proc/self/task').length,
});

test("the camera's server is killed and started ten times: streaming again each time, nothing leaks", async (t) => {
  const folder = tempFolder(t);
  const [short, long] = [join(folder, 'short.mp4'), join(folder, 'long.mp4')];
  remux([{ path: fixturePath('h264-high.264'), frameRateHz: 15 }], short);
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-stream_loop', '30', '-i', short, '-c', 'copy', long]);
  const mounts = {
    '/cam': `( filesrc location=${long} ! qtdemux ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1 )`,
  };
  let server = await GstServer.start({ mounts });
  const { port } = server;
  await using engine = new Engine();
  engine.cameras.setAll([cameraAt('cam', `rtsp://127.0.0.1:${port}/cam`)]);
  using log = new FrameLog(engine.cameras, 'cam');
  await engine.untilState('cam', 'streaming');
  const before = openThings();
  const memoryBefore = process.memoryUsage.rss();
  for (let round = 1; round <= 10; round++) {
    await server[Symbol.asyncDispose]();
    await engine.untilState('cam', 'reconnecting');
    server = await GstServer.start({ mounts, port });
    await engine.untilState('cam', 'streaming');
    const seen = log.video.length;
    await until('frames come', () => log.video.length > seen);
  }
  assert.deepEqual(openThings(), before);
  assert.ok(process.memoryUsage.rss() - memoryBefore < 60e6, 'memory stays flat');
  for (let index = 1; index < log.video.length; index++) {
    assert.ok(log.video[index]!.dtsTicks > log.video[index - 1]!.dtsTicks, 'time goes on over every gap');
  }
  const starts = log.video.filter((frame) => frame.discontinuity);
  assert.equal(starts.length, 10);
  assert.ok(starts.every((frame) => frame.isKey));
  await server[Symbol.asyncDispose]();
});

const GOOD_CAMERAS = 20;

const troubles = {
  'stalls, socket open': (camera: FakeCamera) => {
    camera.mount('/bad').faults.stall = true;
  },
  'feeds garbage': (camera: FakeCamera) => {
    camera.mount('/bad').faults.garbageBytes = 50_000;
  },
  'sends endless frames without an end': (camera: FakeCamera) => {
    camera.mount('/bad').faults.marker = 'missing';
    camera.mount('/bad').faults.timestamps = 'constant';
  },
};

for (const [trouble, begin] of Object.entries(troubles)) {
  test(`one camera ${trouble}: twenty others in the same thread lose no frame`, async () => {
    const video = fixtures.h264High();
    const names = Array.from({ length: GOOD_CAMERAS }, (_, index) => `good-${index}`);
    const mounts = Object.fromEntries([...names, 'bad'].map((name) => [`/${name}`, { video }]));
    await using camera = await FakeCamera.start({ mounts });
    await using engine = new Engine(100);
    engine.cameras.replaceAll([...names, 'bad'].map((name) => cameraAt(name, camera.url(`/${name}`))));
    const logs = names.map((name) => new FrameLog(engine.cameras, name));
    for (const name of [...names, 'bad']) await engine.untilState(name, 'streaming');
    assert.equal(engine.cameras.workerCount, 1);
    const had = logs.map((log) => log.video.length);
    begin(camera);
    await until(
      'all others got 60 frames more',
      () => logs.every((log, i) => log.video.length >= had[i]! + 60),
      {
        deadlineMs: 60_000,
        describe: () => logs.map((log) => log.video.length).join(' '),
      },
    );
    for (const [index, name] of names.entries()) {
      const sent = camera.mount(`/${name}`).stream.sent.map(({ bytes }) => accessUnitHash('h264', bytes));
      const got = logs[index]!.video.map((frame) => frame.hash);
      assert.deepEqual(got, sent.slice(0, got.length), name);
      assert.equal(logs[index]!.droppedFrames, 0);
      assert.equal(engine.cameras.get(name)!.status().reconnects, 0);
      logs[index]![Symbol.dispose]();
    }
  });
}

test('a camera that sends nothing any more is lost after 10 s, and comes back by itself', async (t) => {
  const latenessMs = watchLateness(t);
  await using camera = await FakeCamera.start({ mounts: { '/cam': { video: fixtures.h264High() } } });
  await using engine = new Engine();
  engine.cameras.setAll([cameraAt('cam', camera.url())]);
  await engine.untilState('cam', 'streaming');
  camera.faults.stall = true;
  // From then on frames count as sent, and go nowhere.
  const lastSentMs = camera.sent.at(-1)!.sentMs;
  await engine.untilState('cam', 'reconnecting', 40_000);
  const noticedMs = systemClock.monotonicMs() - lastSentMs;
  const mostMs = 12_000 + 2 * latenessMs();
  assert.ok(noticedMs > 9_000 && noticedMs < mostMs, `noticed after ${noticedMs} ms, beside ${mostMs}`);
  assert.match(engine.cameras.get('cam')!.status().lastError, /no video frame for 10 s/);
  camera.faults.stall = false;
  await engine.untilState('cam', 'streaming');
  assert.equal(camera.openSockets, 1);
});

test('a worker thread that dies takes its cameras to a fresh one: same rings, time goes on, others untouched', async () => {
  const video = fixtures.h264High();
  const names = ['a', 'b', 'c', 'd'];
  await using camera = await FakeCamera.start({
    mounts: Object.fromEntries(names.map((name) => [`/${name}`, { video }])),
  });
  await using engine = new Engine(2);
  engine.cameras.replaceAll(names.map((name) => cameraAt(name, camera.url(`/${name}`))));
  const logs = new Map(names.map((name) => [name, new FrameLog(engine.cameras, name)]));
  for (const name of names) await engine.untilState(name, 'streaming');
  assert.equal(engine.workers.length, 2);
  // Not a message that it knows: the handler throws, and nothing catches that.
  engine.workers[0]!.send(null as never);
  await until('two cameras are away', () => {
    return names.filter((name) => engine.cameras.get(name)!.status().state === 'reconnecting').length === 2;
  });
  const moved = names.filter((name) => engine.cameras.get(name)!.status().state === 'reconnecting');
  for (const name of moved) await engine.untilState(name, 'streaming');
  assert.equal(engine.workers.length, 3);
  const had = new Map([...logs].map(([name, log]) => [name, log.video.length]));
  await until('all go on', () => names.every((name) => logs.get(name)!.video.length > had.get(name)! + 15));
  for (const name of names) {
    const { video: frames, droppedFrames } = logs.get(name)!;
    const cuts = frames.filter((frame) => frame.discontinuity);
    assert.equal(cuts.length, moved.includes(name) ? 1 : 0, name);
    assert.ok(cuts.every((frame) => frame.isKey));
    assert.equal(droppedFrames, 0);
    for (let index = 1; index < frames.length; index++) {
      assert.ok(frames[index]!.dtsTicks > frames[index - 1]!.dtsTicks, `${name}: time goes on`);
    }
    logs.get(name)![Symbol.dispose]();
  }
});

test('a hundred cameras that answer at once stream soon, however many dead hosts are among them', async (t) => {
  const video = fixtures.h264High();
  const names = Array.from({ length: 100 }, (_, index) => `cam-${index}`);
  await using camera = await FakeCamera.start({
    mounts: Object.fromEntries(names.map((name) => [`/${name}`, { video }])),
  });
  // Accepts connections and never says a word.
  await using dead = await FakeCamera.start({
    mounts: { '/dead': { video } },
    faults: { neverAnswer: ['OPTIONS', 'DESCRIBE'] },
  });
  const silent = names.map((name, index) =>
    cameraAt(`dead-${name}`, dead.url('/dead'), { host: `dead-${index}` }),
  );
  const living = names.map((name) => cameraAt(name, camera.url(`/${name}`)));
  const streamAll = async (all: typeof living): Promise<number> => {
    await using engine = new Engine();
    const startMs = performance.now();
    engine.cameras.replaceAll(all);
    for (const name of names) await engine.untilState(name, 'streaming', 60_000);
    return performance.now() - startMs;
  };
  await undisturbed(t, async () => {
    const aloneMs = await streamAll(living);
    const amongMs = await streamAll([...silent, ...living]);
    t.diagnostic(`alone ${aloneMs.toFixed()} ms, among dead hosts ${amongMs.toFixed()} ms`);
    // Two half-second rounds of the gate for 100 dead hosts, a GOP of 1 s; answers that never come take 10 s each.
    assert.ok(amongMs < 2 * aloneMs + 2_000, `${amongMs} ms among dead hosts, ${aloneMs} ms alone`);
  });
});
