import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCounters } from '../../src/ring/counters.js';
import { cleanTry } from '../support/clean-try.js';
import { cameraAt, Engine, FrameLog } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { StreamFeed } from '../support/fake-camera/stream-feed.js';
import { generateVideo } from '../support/frame-generator.js';
import { until } from '../support/until.js';

const MB = 1e6;
const BUDGET_BYTES = 24 * MB;

/** 12 MB a GOP: four of them would have 54 MB. */
const longVideo = generateVideo({ kbps: 16_000, framesPerGop: 150, gops: 1 });
const shortVideo = generateVideo({ kbps: 2_000, framesPerGop: 25, gops: 1 });

/** How many frames of one of them its viewer missed. */
const watchOne = async (): Promise<number> => {
  const long = new StreamFeed({ video: longVideo });
  const short = new StreamFeed({ video: shortVideo });
  const ids = ['long-0', 'long-1', 'long-2', 'long-3', 'short'];
  const mounts = Object.fromEntries(ids.map((id) => [`/${id}`, id === 'short' ? short : long]));
  await using source = await FakeCamera.start({ mounts });
  await using engine = new Engine(3, undefined, BUDGET_BYTES);
  engine.cameras.replaceAll(ids.map((id) => cameraAt(id, source.url(`/${id}`))));
  for (const id of ids) await engine.untilState(id, 'streaming');
  using watched = new FrameLog(engine.cameras, 'long-0');
  const ringOf = (id: string): SharedArrayBuffer => {
    const ring = engine.cameras.ring(id);
    assert.ok(ring !== null);
    return ring;
  };
  let mostBytes = 0;
  const keyFrames = (): number => {
    mostBytes = Math.max(
      mostBytes,
      ids.reduce((sum, id) => sum + ringOf(id).byteLength, 0),
    );
    return Math.min(...ids.map((id) => readCounters(ringOf(id)).keyFrames));
  };
  await until('each has sent two GOPs', () => keyFrames() >= 3);
  // Besides, what comes in within a second.
  assert.ok(mostBytes < BUDGET_BYTES + 8.2 * MB * 1.25, `${mostBytes} bytes`);
  const { usedBytes, ceilingBytes } = engine.cameras.ringFigures;
  assert.ok(usedBytes <= BUDGET_BYTES && ceilingBytes < 8 * MB, `${usedBytes} bytes, ${ceilingBytes} each`);
  assert.ok(readCounters(ringOf('long-0')).cutGops > 0);
  assert.equal(readCounters(ringOf('short')).cutGops, 0, 'small rings have what they need');
  assert.ok(watched.video.length > 150);
  return watched.droppedFrames;
};

test('cameras with long GOPs stay within the budget of all rings, and who watches one sees every frame', async (t) => {
  // One that reads in the process of the cameras is overtaken where that stands still.
  await cleanTry(t, watchOne, (missed) => assert.equal(missed, 0));
});
