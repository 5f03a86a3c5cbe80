import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { until } from '../support/until.js';
import { type NumberedViewer, Watching } from './watching.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const FRAME_MS = 200;
const FRAMES_PER_MINUTE = 60_000 / FRAME_MS;

/** The least of some readings: what is on its way between sockets right now is no leak. */
const usedMb = async (): Promise<number> => {
  let leastMb = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < 5; reading += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    leastMb = Math.min(leastMb, (heapUsed + arrayBuffers) / 1e6);
  }
  return leastMb;
};

test('an hour of viewers that come, stall and go leaves nothing behind', async () => {
  await using watching = await Watching.start();
  const camera = watching.addCamera('door', { maxDataBytes: 4 << 20, maxFrameBytes: 1 << 20 });
  camera.write(true);
  const steady = watching.watch('door');
  await steady.untilFrame(0);
  const passing: NumberedViewer[] = [];
  const minuteOf = async (minute: number): Promise<void> => {
    for (let frame = 0; frame < FRAMES_PER_MINUTE; frame += 1) {
      camera.write(frame % 10 === 0, 500 + frame);
      watching.clock.advance(FRAME_MS);
      // Its answers must have come before a second of the test's time has gone by.
      if (frame % 4 === 3) {
        await steady.untilFrame(camera.framesWritten - 1);
        await steady.roundTrip();
      }
      // What the test itself keeps would look like a leak.
      steady.frames.splice(0, Math.max(0, steady.frames.length - 1));
      if (frame % 50 === 0) passing.push(watching.watch('door'));
      if (frame % 50 === 25 && minute % 2 === 0) passing.at(-1)?.webSocket.pause();
      if (passing.length > 4) {
        const [leaving] = passing.splice(0, 1);
        if (frame % 100 === 0) leaving?.webSocket.terminate();
        else leaving?.webSocket.resume();
        leaving?.webSocket.close();
      }
      watching.viewers.splice(0, watching.viewers.length, steady, ...passing);
      watching.endings.length = 0;
    }
  };
  let settledMb = 0;
  for (let minute = 0; minute < 60; minute += 1) {
    await minuteOf(minute);
    if (minute === 9) settledMb = await usedMb();
  }
  const endMb = await usedMb();
  assert.ok(endMb - settledMb < 3, `${settledMb.toFixed(1)} MB became ${endMb.toFixed(1)} MB`);
  assert.deepEqual(steady.faults, []);

  for (const viewer of [steady, ...passing]) viewer.webSocket.terminate();
  await until('all have gone', () => watching.views.viewers('door') === 0 && watching.places.size === 0);
  assert.equal(watching.clock.pendingTimers, 0);
  assert.equal(camera.followers, 0);
  assert.equal(camera.writer.subscribers, 0);
  const connections = await new Promise((resolve) => {
    watching.server.getConnections((_, count) => resolve(count));
  });
  assert.equal(connections, 0);
});
