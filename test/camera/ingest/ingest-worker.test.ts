import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCounters } from '../../../src/ring/counters.js';
import { accessUnitHash } from '../../support/access-units.js';
import { FakeCamera } from '../../support/fake-camera/fake-camera.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fixtures } from '../../support/fixtures.js';
import { until } from '../../support/until.js';
import { WorkerProbe } from './worker-probe.js';

/** A camera that sends when it is told to, and a session with it. */
const playing = async (transport: 'tcp' | 'udp', maxPayloadBytes = 60_000) => {
  const camera = await FakeCamera.start({
    mounts: { '/cam': { video: fixtures.h264Baseline(), pacing: { mode: 'step' } } },
    faults: { maxPayloadBytes, packetizationMode: 1 },
  });
  const clock = new FakeClock();
  const probe = new WorkerProbe(clock);
  probe.connect({ url: camera.url(), transport });
  await camera.until(({ playing }) => playing === 1);
  const packets = (): number => readCounters(probe.ring).packets;
  const frames = (): number => readCounters(probe.ring).videoFrames;
  return {
    camera,
    clock,
    probe,
    packets,
    frames,
    [Symbol.asyncDispose]: async () => {
      await probe[Symbol.asyncDispose]();
      await camera.close();
    },
  };
};

test('UDP: frames that waited for a lost packet are announced by the bell although no packet follows', async () => {
  await using play = await playing('udp');
  const { camera, clock, probe, frames } = play;
  camera.sendFrames(3);
  await until('the session streams', () => probe.types.includes('playing'));
  // What came first has been waited for.
  clock.advance(1_000);
  await until('they are there', () => frames() === 3);
  probe.listen();
  await until('the newest keyframe was read', () => probe.heard.length > 0);
  const turns = probe.turns;
  camera.faults.loss = 1;
  camera.sendFrame();
  camera.faults.loss = 0;
  camera.sendFrame();
  await until('the packet behind the gap came', () => probe.turns > turns);
  const heard = probe.heard.length;
  assert.equal(frames(), 3);
  clock.advance(1_000);
  await until('the frame behind the gap was heard', () => frames() === 4 && probe.heard.length > heard);
});

test('UDP: the first packets are handed out 20 ms after the first of them, without another', async () => {
  await using play = await playing('udp');
  const { camera, clock, probe, frames } = play;
  camera.sendFrames(2);
  await until('the session streams', () => probe.types.includes('playing'));
  assert.equal(frames(), 0);
  clock.advance(20);
  assert.equal(frames(), 2);
  await until('the camera streams', () => probe.types.includes('streaming'));
});

test('UDP with a blocked video beside its sound: the session begins anew over TCP, every frame whole', async () => {
  await using camera = await FakeCamera.start({
    mounts: { '/cam': { video: fixtures.h264Baseline(), audio: fixtures.pcmu(), pacing: { mode: 'live' } } },
    faults: { udpBlocked: ['video'] },
  });
  const clock = new FakeClock();
  await using probe = new WorkerProbe(clock);
  probe.connect({ url: camera.url(), transport: 'udp' });
  probe.listen();
  await camera.until(({ playing }) => playing === 1);
  const turns = probe.turns;
  await until('the sound came', () => probe.turns > turns);
  clock.advance(4_000);
  await camera.until(({ openSockets }) => openSockets === 0);
  // The rest before the next connection.
  await until('it plays again', () => {
    clock.advance(10);
    return camera.playing === 1;
  });
  await until('it streams', () => probe.types.includes('streaming'));
  await until('frames come', () => probe.heard.length > 20);
  clock.advance(1_000);
  const sent = camera.sent.flatMap(({ kind, bytes }) =>
    kind === 'video' ? [accessUnitHash('h264', bytes)] : [],
  );
  const from = sent.indexOf(probe.heard[0] ?? '');
  assert.deepEqual(probe.heard, sent.slice(from, from + probe.heard.length));
  const { packetsLost, damagedFrames, audioFrames } = readCounters(probe.ring);
  assert.deepEqual([packetsLost, damagedFrames], [0, 0]);
  assert.ok(audioFrames > 0);
});

test('a worker that is stopped waits for the TEARDOWN of a camera that has just left it', async () => {
  const { camera, probe, clock } = await playing('tcp');
  camera.faults.neverAnswer = ['TEARDOWN'];
  camera.sendFrames(2);
  await until('the session streams', () => probe.types.includes('playing'));
  probe.release();
  const stopped = probe.worker.stop();
  await camera.until(({ methods }) => methods.includes('TEARDOWN'));
  assert.ok(!probe.types.includes('released'));
  assert.equal(camera.openSockets, 1);
  clock.advance(1_000);
  await stopped;
  assert.ok(probe.types.includes('released'));
  await camera.until(({ openSockets }) => openSockets === 0);
  await camera.close();
});
