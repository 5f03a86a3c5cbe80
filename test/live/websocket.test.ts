import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { until } from '../support/until.js';
import { Watching } from './watching.js';

test('a viewer gets the configuration, the newest keyframe and all that follows, each frame once', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  // More than is sent at once to who has just come.
  for (let frame = 0; frame < 25; frame += 1) camera.write(frame % 10 === 0, 60_000);
  const viewer = watching.watch('door');
  await viewer.untilFrame(24);
  for (let frame = 25; frame < 60; frame += 1) camera.write(frame % 10 === 0, frame === 30 ? 90_000 : 600);
  await viewer.untilFrame(59);
  assert.deepEqual(
    viewer.numbers,
    Array.from({ length: 40 }, (_, index) => 20 + index),
  );
  assert.deepEqual(viewer.faults, []);
  const sets = [Buffer.alloc(20, 1), Buffer.of(0x68, 1)];
  const startCode = Buffer.of(0, 0, 0, 1);
  assert.deepEqual(
    viewer.configs.map(({ bytes }) => bytes),
    [Buffer.concat(sets.flatMap((set) => [startCode, set]))],
  );
  const frame = viewer.frames.find(({ bytes }) => bytes.readInt32LE(4) === 30);
  assert.equal(frame?.bytes.length, 90_004, 'a frame over 64 KB is whole');
  assert.equal(watching.views.viewers('door'), 1);
  assert.equal(watching.views.droppedFrames('door'), 0);
});

test('changed parameter sets are sent before the frame that needs them, unchanged ones are not', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const viewer = watching.watch('door');
  await viewer.untilFrame(0);
  camera.describe(1);
  camera.write(true);
  await viewer.untilFrame(1);
  assert.equal(viewer.configs.length, 1);
  camera.describe(2);
  camera.write(true);
  await viewer.untilFrame(2);
  assert.equal(viewer.configs.length, 2);
  assert.equal(viewer.configs[1]?.bytes.at(-1), 2);
  assert.deepEqual(viewer.faults, []);
});

test('a camera that has sent no picture, or is unknown, is refused before the upgrade', async () => {
  await using watching = await Watching.start();
  watching.addCamera('dark');
  const dark = watching.watch('dark');
  const unknown = watching.watch('unknown');
  await until('both are refused', () => watching.refused.length === 2);
  assert.deepEqual(watching.refused, ['no_picture', 'no_picture']);
  await until('both know', () => dark.closedWith !== null && unknown.closedWith !== null);
  assert.match(dark.faults[0] ?? '', /503/);
  assert.equal(watching.places.size, 0);
  assert.equal(watching.clock.pendingTimers, 0);
});

test('whoever wakes a camera on demand stays, and gets its first picture however late its ring comes', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('sim');
  camera.isOnDemand = true;
  camera.sleep();
  const viewers = [watching.watch('sim'), watching.watch('sim')];
  await until('both are let in', () => watching.views.viewers('sim') === 2);
  for (let tick = 0; tick < 36; tick += 1) watching.clock.advance(250);
  camera.restart();
  camera.write(true);
  camera.write(false);
  for (const viewer of viewers) {
    await viewer.untilFrame(1);
    // The ping behind the frames has come, then its answer has: who owes one for seconds is taken for slow.
    await viewer.roundTrip();
    await viewer.roundTrip();
  }
  for (let tick = 0; tick < 20; tick += 1) watching.clock.advance(250);
  camera.write(false);
  for (const viewer of viewers) {
    await viewer.untilFrame(2);
    assert.deepEqual([viewer.numbers, viewer.configs.length, viewer.closedWith], [[0, 1, 2], 1, null]);
  }
});

test('whoever gets no picture of a camera on demand in 10 s is told to try again later', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('sim');
  camera.isOnDemand = true;
  const viewer = watching.watch('sim');
  await until('it is let in', () => watching.views.viewers('sim') === 1);
  camera.write(false);
  for (let tick = 0; tick < 39; tick += 1) watching.clock.advance(250);
  assert.equal(watching.views.viewers('sim'), 1);
  watching.clock.advance(250);
  await until('it is told', () => viewer.closedWith !== null);
  assert.deepEqual([viewer.closedWith, viewer.configs.length, viewer.numbers], [1013, 0, []]);
  assert.deepEqual([camera.followers, watching.places.size], [0, 0]);
});

test('a request that is no WebSocket handshake is refused, and holds no place', async () => {
  await using watching = await Watching.start();
  watching.addCamera('door').write(true);
  const { port } = new URL(watching.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('GET /door HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
  await until('it is refused', () => watching.refused.length === 1);
  socket.destroy();
  assert.deepEqual(watching.refused, ['bad_request']);
  assert.equal(watching.places.size, 0);
  assert.equal(watching.clock.pendingTimers, 0);
});

test('a viewer that takes nothing for 30 s is closed with 1013', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const viewer = watching.watch('door');
  await viewer.untilFrame(0);
  await viewer.roundTrip();
  viewer.webSocket.pause();
  let second = 0;
  for (; second < 40 && watching.views.viewers('door') === 1; second += 1) {
    camera.write(second % 2 === 0);
    await new Promise((resolve) => setImmediate(resolve));
    watching.clock.advance(1_000);
  }
  assert.ok(second > 30 && second < 40, `it was closed after ${second} s`);
  viewer.webSocket.resume();
  assert.equal(await viewer.untilClosed(), 1013);
  const lost = camera.framesWritten - viewer.frames.length;
  assert.ok(watching.views.droppedFrames('door') >= lost - 3 && lost > 25, 'what it lost is counted');
  await until('its place is given back', () => watching.places.size === 0);
  assert.equal(watching.clock.pendingTimers, 0);
});

test('a viewer that wakes long after it was closed still hears why', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const viewer = watching.watch('door');
  await viewer.untilFrame(0);
  await viewer.roundTrip();
  viewer.webSocket.pause();
  for (let tick = 0; tick < 160 && watching.views.viewers('door') === 1; tick += 1) {
    // Half a megabyte a second until it is slow: more than it takes at once when it wakes.
    camera.write(tick % 8 === 0, 120_000);
    await new Promise((resolve) => setImmediate(resolve));
    watching.clock.advance(250);
  }
  assert.equal(watching.views.viewers('door'), 0);
  // Longer than ws waits for an answer unless it is told to; a pong to a socket that is gone would be answered by a reset.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  viewer.webSocket.resume();
  assert.equal(await viewer.untilClosed(), 1013);
  await until('its place is given back', () => watching.places.size === 0);
});

test('a viewer that vanished while the camera is silent is found out', async () => {
  await using watching = await Watching.start();
  watching.addCamera('door').write(true);
  const viewer = watching.watch('door');
  await viewer.untilFrame(0);
  await viewer.roundTrip();
  viewer.webSocket.pause();
  watching.clock.advance(45_000);
  assert.equal(watching.views.viewers('door'), 0);
});

test('the close code says why: camera deleted, access withdrawn, service stopped', async () => {
  await using watching = await Watching.start();
  for (const id of ['deleted', 'locked', 'stopped']) watching.addCamera(id).write(true);
  const deleted = watching.watch('deleted');
  await deleted.untilFrame(0);
  const locked = watching.watch('locked');
  await locked.untilFrame(0);
  const stopped = watching.watch('stopped');
  await stopped.untilFrame(0);
  watching.cameras.get('deleted')?.delete();
  watching.endings[1]?.('access_withdrawn');
  const stop = watching.views.stop();
  assert.deepEqual(
    [await deleted.untilClosed(), await locked.untilClosed(), await stopped.untilClosed()],
    [4404, 4403, 1001],
  );
  await stop;
  await until('all places are given back', () => watching.places.size === 0);
  assert.equal(watching.clock.pendingTimers, 0);
  for (const camera of watching.cameras.values()) assert.equal(camera.followers, 0);
});

test('stopping waits no longer than it must for a viewer that does not read', async () => {
  await using watching = await Watching.start();
  watching.addCamera('door').write(true);
  const viewer = watching.watch('door');
  await viewer.untilFrame(0);
  viewer.webSocket.pause();
  const stopped = watching.views.stop();
  watching.clock.advance(2_000);
  await stopped;
  assert.equal(watching.places.size, 0);
});

test('a camera that is switched off and on again goes on in the same connection', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  for (let frame = 0; frame < 10; frame += 1) camera.write(frame === 0);
  const viewer = watching.watch('door');
  await viewer.untilFrame(9);
  camera.restart();
  watching.clock.advance(5_000);
  for (let frame = 0; frame < 10; frame += 1) camera.write(frame === 0);
  await viewer.untilFrame(19);
  assert.equal(viewer.frames.length, 20);
  assert.deepEqual(viewer.faults, []);
  assert.equal(watching.views.droppedFrames('door'), 0);
});

test('a larger ring is followed without losing a frame, also while a viewer catches up', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door', { slotCount: 16, maxSlotCount: 1024 });
  const live: ReturnType<typeof watching.watch>[] = [];
  for (let frame = 0; frame < 300; frame += 1) {
    camera.write(frame % 100 === 0);
    if (frame % 20 === 10) live.push(watching.watch('door'));
    if (frame % 20 === 0) await Promise.all(live.map((viewer) => viewer.untilFrame(frame)));
  }
  await Promise.all(live.map((viewer) => viewer.untilFrame(299)));
  for (const { numbers, faults } of live) {
    assert.equal(numbers.length, 300 - numbers[0]!);
    assert.deepEqual(faults, []);
  }
  assert.equal(watching.views.droppedFrames('door'), 0);
});

test('what a viewer says is ignored, and its pings are answered', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const viewer = watching.watch('door');
  await viewer.untilFrame(0);
  viewer.webSocket.send('hello');
  viewer.webSocket.send(Buffer.alloc(5_000));
  viewer.webSocket.pong(Buffer.alloc(8, 0xff));
  viewer.webSocket.pong('not ours');
  await viewer.roundTrip();
  camera.write(false);
  await viewer.untilFrame(1);
  assert.deepEqual(viewer.faults, []);
});

test('a viewer whose frames are no WebSocket frames is cut off, and nobody else', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const [rude, polite] = [watching.watch('door'), watching.watch('door')];
  await Promise.all([rude.untilFrame(0), polite.untilFrame(0)]);
  // Reserved bits and an unmasked frame.
  (rude.webSocket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(
    Buffer.alloc(64, 0xff),
  );
  await rude.untilClosed();
  camera.write(false);
  await polite.untilFrame(1);
  assert.equal(watching.views.viewers('door'), 1);
  assert.deepEqual(polite.faults, []);
});
