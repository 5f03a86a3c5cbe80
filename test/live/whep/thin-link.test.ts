import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs } from '../../../src/base/clock.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';
import { parsed } from './collect.js';
import { WhepHarness } from './harness.js';
import { LinkScene, type SceneOptions } from './link-model.js';

const SECONDS = 30;
const FRAMES = SECONDS * 25;

const run = (options: Partial<SceneOptions>, seconds = SECONDS): LinkScene => {
  const scene = new LinkScene(options);
  scene.run(seconds);
  return scene;
};

const sentKbps = ({ link, nowMs }: LinkScene): number => (link.sentBytes * 8) / (nowMs - 1_000);

test('a link with room is sent every frame once, when it is there', () => {
  const scene = run({}, 10);
  // All but what is on its way.
  assert.ok(scene.viewer.shown.length >= scene.framesDue - 2, `${scene.viewer.shown.length} pictures`);
  assert.deepEqual([scene.sender.droppedFrames, scene.framesSent], [0, scene.framesDue]);
  assert.deepEqual([scene.viewer.asked, scene.viewer.repeats], [0, 0]);
  assert.ok(scene.lagsMs(2_000).at(-1)! <= 65);
  assert.ok(scene.viewer.shown[0]!.atMs <= 1_030, 'the first picture comes at once');
});

test('what was there before the viewer comes at three times the stream’s rate, behind the first picture', () => {
  const scene = new LinkScene({ framesPerGop: 250, framesBefore: 200 });
  scene.run(0.5);
  assert.ok(scene.viewer.shown[0]!.atMs <= 1_030);
  const kbps = sentKbps(scene);
  assert.ok(kbps > 11_000 && kbps < 16_000, `${kbps}`);
});

for (const [kbps, queueMs, leastShown] of [
  [6_000, 200, 0.98],
  [4_500, 200, 0.9],
  [2_000, 200, 0.2],
  [2_000, 30, 0.2],
  [1_000, 200, 0.03],
] as const) {
  test(`a link of ${kbps} kbit/s with a queue of ${queueMs} ms gets what it takes, in time`, () => {
    const scene = run({ kbps, queueMs });
    const { viewer, sender, link } = scene;
    assert.equal(sender.endReason, null);
    assert.ok(viewer.shown.length > leastShown * FRAMES, `${viewer.shown.length} pictures`);
    const most = 1.3 * Math.min(kbps, 4_300);
    assert.ok(sentKbps(scene) < most, `${sentKbps(scene)} kbit/s`);
    // Behind the group of pictures that it began with, and the first guess at what it takes.
    assert.ok(scene.lagsMs(5_000).at(-1)! < 2_000);
    // Left out, then, are whole frames, which are counted, but for those that wait.
    const leftOut = scene.framesDue - scene.framesSent;
    const waiting = leftOut - sender.droppedFrames;
    assert.ok(waiting >= 0 && waiting <= 75, `${leftOut} left out, ${sender.droppedFrames} counted`);
    assert.ok(
      link.timestamps.every((timestamp) => timestamp % 3_600 === 0),
      'no picture comes again under a new time',
    );
  });
}

for (const loss of [0.01, 0.05, 0.2]) {
  test(`of ${100 * loss} % that is lost for no reason of ours, repeats make good`, () => {
    const scene = run({ loss });
    assert.ok(scene.viewer.shown.length >= 0.98 * FRAMES);
    assert.equal(scene.sender.droppedFrames, 0);
    assert.ok(sentKbps(scene) < (1.05 * 4_300) / (1 - loss), `${sentKbps(scene)} kbit/s`);
    assert.ok(scene.lagsMs(2_000).at(-1)! < 1_000);
  });
}

test('a link that heals gets all frames again, in time', () => {
  const scene = run({ kbps: 2_000 });
  scene.link.options.kbps = 20_000;
  scene.run(20);
  const before = scene.viewer.shown.length;
  const { droppedFrames } = scene.sender;
  scene.run(10);
  assert.deepEqual([scene.viewer.shown.length - before, scene.sender.droppedFrames], [250, droppedFrames]);
  assert.ok(scene.lagsMs(scene.nowMs - 10_000).at(-1)! < 250);
});

test('a link that gets worse under way is heeded within seconds', () => {
  const scene = run({ kbps: 20_000 }, 10);
  scene.link.options.kbps = 2_000;
  scene.run(5);
  const { sentBytes } = scene.link;
  scene.run(15);
  const kbps = ((scene.link.sentBytes - sentBytes) * 8) / 15_000;
  assert.ok(kbps < 1.3 * 2_000, `${kbps} kbit/s`);
  assert.ok(scene.lagsMs(scene.nowMs - 15_000).at(-1)! < 2_000);
});

test('a link that loses a third is sent keyframes alone, and goes on', () => {
  const scene = run({ loss: 0.35 });
  assert.equal(scene.sender.endReason, null);
  assert.ok(sentKbps(scene) < 0.5 * 4_300, `${sentKbps(scene)} kbit/s`);
  const late = scene.link.timestamps.slice(-200);
  assert.ok(late.every((timestamp) => scene.isKey(timestamp)));
  scene.link.options.loss = 0;
  scene.run(30);
  const before = scene.viewer.shown.length;
  scene.run(4);
  assert.equal(scene.viewer.shown.length - before, 100);
});

for (const [what, options, reason] of [
  ['loses more than half', { loss: 0.6 }, /loses too many packets/],
  ['is too thin for a picture', { kbps: 100 }, /too thin|too many/],
] as const) {
  test(`a link that ${what} is given up, with the reason`, () => {
    const scene = run(options, 60);
    assert.match(scene.sender.endReason ?? '', reason);
    assert.ok(scene.nowMs < 40_000, `after ${scene.nowMs} ms`);
    assert.ok(sentKbps(scene) < 0.5 * 4_300, `${sentKbps(scene)} kbit/s`);
  });
}

test('a camera that sends little but for large keyframes far apart is shown in time where some packets are lost', () => {
  const scene = run({ streamKbps: 150, framesPerGop: 500, keyRatio: 300, framesBefore: 600, loss: 0.05 }, 60);
  assert.equal(scene.sender.endReason, null);
  const { shown } = scene.viewer;
  assert.ok(shown.length >= 0.98 * 60 * 25, `${shown.length} pictures`);
  assert.ok(scene.lagsMs(2_000).at(-1)! < 2_000, `${scene.lagsMs(2_000).at(-1)} ms`);
});

test('a viewer that nothing reaches any more, though it says so, is given up', () => {
  const scene = run({}, 5);
  scene.link.options.loss = 1;
  scene.run(30);
  assert.match(scene.sender.endReason ?? '', /nothing of what is sent arrives/);
  assert.ok(scene.nowMs < 20_000);
});

test('a camera that comes back after a while ends nobody’s view, however long the way to them is', () => {
  for (let lateMs = 0; lateMs < 1_000; lateMs += 50) {
    const scene = run({ delayMs: 200 }, 5);
    scene.isAway = true;
    scene.run(20 + lateMs / 1_000);
    scene.isAway = false;
    scene.run(3);
    assert.equal(scene.sender.endReason, null, `${lateMs} ms`);
  }
});

test('whatever a viewer says, it is sent to, no faster than before, or its view ends', () => {
  const word = fc.integer({ min: 0, max: 0xffffffff });
  const report = fc.record({
    ssrc: fc.constant(1),
    fractionLost: fc.integer({ min: 0, max: 255 }),
    cumulativeLost: fc.integer({ min: -0x800000, max: 0x7fffff }),
    extendedHighest: fc.oneof(word, fc.integer({ min: 90, max: 2_000 })),
    jitterTicks: word,
    lastSenderReport: word,
    delaySinceLastSenderReport: word,
  });
  const lost = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 });
  fc.assert(
    fc.property(fc.array(fc.tuple(report, lost, fc.boolean()), { maxLength: 12 }), (said) => {
      const scene = new LinkScene({ streamKbps: 1_000 });
      for (const [block, sequences, wantsKey] of said) {
        const nowMs = scene.nowMs as MonotonicMs;
        scene.sender.hear(block, nowMs);
        for (const sequence of sequences) scene.sender.repeat(sequence, nowMs);
        if (wantsKey) scene.sender.restart(nowMs);
        scene.run(0.5);
      }
      const { packets } = scene.sender;
      scene.run(10);
      assert.ok(scene.sender.endReason !== null || scene.sender.packets > packets);
      assert.ok(sentKbps(scene) < 14_000);
    }),
    { numRuns: 25 },
  );
});

test('a session whose viewer reports lasting loss is ended, and the viewer told', async () => {
  const clock = new FakeClock();
  using whep = await WhepHarness.start(clock);
  const camera = whep.addCamera();
  const write = (): void => {
    const number = camera.slices.length;
    camera.write(number % 10 === 0, number % 10 === 0 ? 60_000 : 12_000, number * 18_000);
  };
  write();
  const { id, client } = await whep.watch();
  const ssrc = client.answer.ssrcs[0]!;
  await until('the first picture is there', () => {
    clock.advance(1);
    return client.packets >= 50;
  });
  const first = parsed(client.rtp[0]!).sequence;
  for (let frame = 0; frame < 300 && whep.endOf(id) === null; frame += 1) {
    write();
    clock.advance(200);
    await client.settle();
    if (frame % 5 !== 0) continue;
    const extendedHighest = parsed(client.rtp.at(-1)!).sequence;
    const cumulativeLost = Math.floor(0.7 * (extendedHighest - first));
    client.report({ ssrc, extendedHighest, cumulativeLost, fractionLost: 180 });
  }
  assert.match(whep.endOf(id) ?? '', /too thin|too many/);
  await until('the viewer is told', () => client.isClosedByServer);
  clock.advance(1_000);
  await until('what it missed is counted', () => whep.messages.some(({ type }) => type === 'dropped'));
});
