import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { nalOf } from '../support/ring.js';
import { until } from '../support/until.js';
import { FRAME_MS } from './test-camera.js';
import { type NumberedViewer, Watching } from './watching.js';

const SECOND = 1000 / FRAME_MS;

/** Whether so much waits for the kernel that the rest is left in the ring. */
const isHeldUp = (watching: Watching): Promise<boolean> =>
  until('the kernel takes no more', () => watching.pendingBytes > 256 << 10, { deadlineMs: 10_000 }).catch(
    () => false,
  );

/** A viewer that answers no ping by itself, and the pings that it gets. */
const watchSilently = (watching: Watching): { viewer: NumberedViewer; pings: readonly Buffer[] } => {
  const viewer = watching.watch('door', { autoPong: false });
  const pings: Buffer[] = [];
  viewer.webSocket.on('ping', (payload: Buffer) => pings.push(Buffer.from(payload)));
  return { viewer, pings };
};

/** So many frames, each at its time. */
const film = async (
  watching: Watching,
  viewer: NumberedViewer,
  frames: number,
  write: () => void,
): Promise<void> => {
  for (let count = 0; count < frames; count += 1) {
    write();
    await viewer.roundTrip();
    watching.clock.advance(FRAME_MS);
  }
};

const stallFor10s = async (watching: Watching): Promise<void> => {
  const camera = watching.addCamera('door');
  camera.write(true);
  const [healthy, stalled] = [watching.watch('door'), watching.watch('door')];
  await Promise.all([healthy.untilFrame(0), stalled.untilFrame(0)]);
  const run = async (frames: number, others: (typeof healthy)[]): Promise<void> => {
    for (let count = 0; count < frames; count += 1) {
      camera.write(camera.framesWritten % 50 === 0, 3_000);
      watching.clock.advance(FRAME_MS);
      const number = camera.framesWritten - 1;
      await Promise.all(others.map((viewer) => viewer.untilFrame(number).then(() => viewer.roundTrip())));
    }
  };
  await run(SECOND, [healthy, stalled]);
  stalled.webSocket.pause();
  await run(10 * SECOND, [healthy]);
  const before = stalled.numbers.at(-1) ?? 0;
  stalled.webSocket.resume();
  const missedUpTo = camera.framesWritten - 1;
  await stalled.untilFrame(missedUpTo);
  await run(SECOND, [healthy, stalled]);

  const { numbers } = stalled;
  const gapAt = numbers.findIndex((number, index) => index > 0 && number !== numbers[index - 1]! + 1);
  const [lastOld, firstNew] = [numbers[gapAt - 1]!, numbers[gapAt]!];
  assert.ok(lastOld - before <= 1.5 * SECOND, `${lastOld - before} old frames came after the stall`);
  assert.equal(firstNew, Math.floor(missedUpTo / 50) * 50, 'it goes on at the newest keyframe');
  assert.deepEqual(
    numbers.slice(gapAt),
    Array.from({ length: camera.framesWritten - firstNew }, (_, index) => firstNew + index),
  );
  assert.equal(watching.views.droppedFrames('door'), camera.framesWritten - numbers.length);
  assert.equal(healthy.frames.length, camera.framesWritten);
  assert.deepEqual([...healthy.faults, ...stalled.faults], []);
};

test('a viewer that reads nothing for 10 s sees now when it resumes; another one loses nothing', async () => {
  await using watching = await Watching.start();
  await stallFor10s(watching);
});

test('the same over TLS', async () => {
  await using watching = await Watching.start(true);
  await stallFor10s(watching);
});

for (const isTls of [false, true]) {
  test(`what waits in our own memory stays what it was, and is bounded${isTls ? ', over TLS' : ''}`, async () => {
    await using watching = await Watching.start(isTls);
    const camera = watching.addCamera('door');
    camera.write(true);
    const [healthy, stalled] = [watching.watch('door'), watching.watch('door')];
    await Promise.all([healthy.untilFrame(0), stalled.untilFrame(0)]);
    stalled.webSocket.pause();
    // More than kernels take, in less than a second; and another camera, whose frames may take over the memory.
    const other = watching.addCamera('yard');
    other.write(true);
    const elsewhere = watching.watch('yard');
    await elsewhere.untilFrame(0);
    const sizes = [60_000, 50_000, 900];
    for (let number = 1; number <= 300; number += 1) {
      camera.write(number % 100 === 0, sizes[number % 3]);
      await healthy.untilFrame(number);
      await healthy.roundTrip();
      other.write(true, 60_000);
      await elsewhere.untilFrame(number);
    }
    stalled.webSocket.resume();
    await stalled.untilFrame(300);
    for (const { bytes } of stalled.frames) {
      const nal = bytes.subarray(4);
      assert.deepEqual(nal, nalOf(nal.readInt32LE(), nal.length));
    }
    assert.ok(stalled.frames.length < 300, 'it lost what would have been too much');
    assert.equal(healthy.frames.length, 301);
    assert.equal(watching.views.droppedFrames('door'), 301 - stalled.frames.length);
    assert.deepEqual([...healthy.faults, ...stalled.faults], []);
  });
}

test('a viewer on a slow line is not given its backlog again: it goes on with the next keyframe', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const { viewer, pings } = watchSilently(watching);
  await viewer.untilFrame(0);
  const answer = async (ping: Buffer | undefined): Promise<void> => {
    viewer.webSocket.pong(ping);
    await viewer.roundTrip();
  };
  const write = (frames: number): Promise<void> =>
    film(watching, viewer, frames, () => camera.write(camera.framesWritten % 50 === 0));
  await write(40);
  await until('it is slow', () => pings.length >= 6);
  const lastBefore = viewer.lastNumber;
  assert.ok(lastBefore < 35, `frame ${lastBefore} was sent to a viewer that answered nothing`);
  await answer(pings[1]);
  await write(20);
  await answer(pings.at(-1));
  await write(20);
  assert.equal(viewer.lastNumber, lastBefore, 'the keyframe that came meanwhile is not sent any more');
  await write(25);
  await viewer.untilFrame(camera.framesWritten - 1);
  assert.equal(viewer.numbers[viewer.numbers.indexOf(lastBefore) + 1], 100);
  assert.equal(watching.views.droppedFrames('door'), 100 - lastBefore - 1);
  assert.deepEqual(viewer.faults, []);
});

test('a viewer that answers late, and quickly then, loses nothing of a GOP whose keyframe it has', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const { viewer, pings } = watchSilently(watching);
  await viewer.untilFrame(0);
  await film(watching, viewer, 40, () => camera.write(false));
  assert.ok(viewer.lastNumber < 35, `frame ${viewer.lastNumber} was sent to a viewer that answered nothing`);
  viewer.webSocket.pong(pings.at(-1));
  await viewer.untilFrame(40);
  camera.write(false);
  await viewer.untilFrame(41);
  assert.deepEqual(
    viewer.numbers,
    Array.from({ length: 42 }, (_, number) => number),
  );
  assert.equal(watching.views.droppedFrames('door'), 0);
  assert.deepEqual(viewer.faults, []);
});

test('a viewer that missed nothing while it was slow goes on with what comes next', async (t) => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true, 4_900_000);
  const { viewer, pings } = watchSilently(watching);
  viewer.webSocket.on('open', () => viewer.webSocket.pause());
  await once(viewer.webSocket, 'open');
  if (!(await isHeldUp(watching))) return t.skip('the kernel takes it all');
  // It is looked after several times a second.
  for (let step = 0; step < 6; step += 1) watching.clock.advance(250);
  viewer.webSocket.resume();
  await viewer.untilFrame(0);
  await until('it is slow, and asked', () => pings.length > 1);
  viewer.webSocket.pong(pings.at(-1));
  await viewer.roundTrip();
  camera.write(false);
  await viewer.untilFrame(1);
  assert.equal(watching.views.droppedFrames('door'), 0);
});

test('a viewer whose ring laps what it had yet to get goes on with a keyframe, and nothing before', async (t) => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door', {
    ...{ dataBytes: 1 << 20, maxDataBytes: 8 << 20, maxFrameBytes: 1 << 20 },
  });
  camera.write(true, 30_000);
  const { viewer, pings } = watchSilently(watching);
  await viewer.untilFrame(0);
  await film(watching, viewer, 200, () => camera.write(false, 30_000));
  const before = viewer.lastNumber;
  assert.ok(before < 35);
  // What comes of the rest waits in the kernel, and then in the ring, which is written once around.
  viewer.webSocket.pause();
  viewer.webSocket.pong(pings.at(-1));
  if (!(await isHeldUp(watching))) return t.skip('the kernel takes it all');
  for (let count = 0; count < 400; count += 1) {
    camera.write(false, 30_000);
    // Others are told of it meanwhile.
    if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  viewer.webSocket.resume();
  await viewer.roundTrip();
  for (let count = 0; count < 50; count += 1) {
    camera.write(count === 30, 30_000);
    await viewer.roundTrip();
  }
  await viewer.untilFrame(650);
  const { numbers } = viewer;
  const gaps = numbers.filter((number, at) => at > 0 && number !== numbers[at - 1]! + 1);
  assert.deepEqual(gaps, [631]);
  assert.equal(watching.views.droppedFrames('door'), 651 - numbers.length);
  assert.deepEqual(viewer.faults, []);
});

test('a viewer that recovers gets no frame twice', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const { viewer, pings } = watchSilently(watching);
  await viewer.untilFrame(0);
  const recover = async (): Promise<void> => {
    await viewer.roundTrip();
    viewer.webSocket.pong(pings.at(-1));
    await viewer.roundTrip();
  };
  const stall = (frames: number): Promise<void> =>
    film(watching, viewer, frames, () => camera.write(camera.framesWritten % 50 === 0));
  await stall(75);
  assert.ok(viewer.lastNumber < 35);
  await recover();
  assert.equal(viewer.lastNumber, 75);
  await stall(40);
  assert.ok(viewer.lastNumber < 105);
  // A keyframe and more, which nobody on this side has heard of yet.
  for (let count = 0; count < 10; count += 1) camera.write(camera.framesWritten === 120, 600, false);
  await recover();
  camera.write(false);
  await viewer.untilFrame(126);
  assert.deepEqual(viewer.faults, []);
  assert.deepEqual(viewer.numbers.slice(-7), [120, 121, 122, 123, 124, 125, 126]);
});

test('a frame that it was sent before others were told of it is not sent again', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const { viewer, pings } = watchSilently(watching);
  const answer = async (): Promise<void> => {
    viewer.webSocket.pong(pings.at(-1));
    for (let turn = 0; turn < 3; turn += 1) await viewer.roundTrip();
  };
  await viewer.untilFrame(0);
  await film(watching, viewer, 40, () => camera.write(false));
  for (let count = 0; count < 11; count += 1) camera.write(count === 0, 200_000, false);
  await answer();
  for (let step = 0; step < 6; step += 1) {
    watching.clock.advance(250);
    await viewer.roundTrip();
  }
  camera.bell.ringIfNeeded();
  await answer();
  for (let count = 0; count < 3; count += 1) {
    camera.write(false);
    await answer();
  }
  await viewer.untilFrame(54);
  const { numbers } = viewer;
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].toSorted((a, b) => a - b),
  );
  assert.deepEqual(
    numbers.slice(-14),
    Array.from({ length: 14 }, (_, at) => 41 + at),
  );
});

test('of a viewer that goes while it is slow each picture that it lost is counted once, whatever is heard last', async () => {
  for (const isHeard of [false, true]) {
    await using watching = await Watching.start();
    const camera = watching.addCamera('door');
    camera.write(true);
    const viewer = watching.watch('door', { autoPong: false });
    await viewer.untilFrame(0);
    await film(watching, viewer, 40, () => camera.write(false));
    if (isHeard) camera.hear(1);
    viewer.webSocket.terminate();
    await until('it is gone', () => watching.views.viewers('door') === 0);
    assert.equal(watching.views.droppedFrames('door'), 41 - viewer.frames.length);
  }
});

test('a viewer on a slow line goes on with a keyframe that came just now, before others were told of it', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  const { viewer, pings } = watchSilently(watching);
  await viewer.untilFrame(0);
  const answer = async (ping: Buffer | undefined): Promise<void> => {
    viewer.webSocket.pong(ping);
    await viewer.roundTrip();
  };
  await film(watching, viewer, 40, () => camera.write(false));
  await until('it is slow', () => pings.length >= 6);
  await answer(pings[1]);
  for (let step = 0; step < 3; step += 1) watching.clock.advance(250);
  camera.write(true, 600, false);
  await answer(pings.at(-1));
  camera.write(false);
  await viewer.untilFrame(42);
  assert.deepEqual(viewer.numbers.slice(-2), [41, 42]);
});
