import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WallMs } from '../../../src/base/clock.js';
import { type RingCounter, readCounters } from '../../../src/ring/counters.js';
import { BellListener } from '../../../src/ring/doorbell.js';
import { RingReader } from '../../../src/ring/reader.js';
import { FakeCamera } from '../../support/fake-camera/fake-camera.js';
import type { Faults } from '../../support/fake-camera/faults.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fixtures } from '../../support/fixtures.js';
import { until } from '../../support/until.js';
import { WorkerProbe } from './worker-probe.js';

/** One packet a picture, or two: of each of its slices one. */
const WHOLE_NALS = { maxPayloadBytes: 60_000 };

/** A session with a camera that sends when it is told to; time stands still but for what the test lets pass. */
const play = async (
  transport: 'tcp' | 'udp',
  { faults = {}, clock = new FakeClock() }: { faults?: Partial<Faults>; clock?: FakeClock } = {},
) => {
  const camera = await FakeCamera.start({
    mounts: {
      '/cam': { video: fixtures.h264Baseline(), audio: fixtures.pcmu(), pacing: { mode: 'step' } },
    },
    faults: { ...WHOLE_NALS, ...faults },
  });
  const probe = new WorkerProbe(clock);
  const count = (counter: RingCounter): number => readCounters(probe.ring)[counter];
  const said = (type: string) => probe.said.filter((message) => message.type === type);
  const connect = async (): Promise<void> => {
    const before = said('playing').length;
    probe.connect({ url: camera.url(), transport });
    await camera.until(({ playing }) => playing === 1);
    // Over UDP it plays when something came.
    if (transport === 'tcp') await until('PLAY was answered', () => said('playing').length > before);
  };
  await connect();
  /** Lets time pass; the turn of the loop that it began is over then, which would lend its time to what comes in it. */
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise(setImmediate);
  };
  /** Has the camera send something, of which the worker takes what comes in one turn at least. */
  const take = async (send: () => void): Promise<void> => {
    const { turns } = probe;
    send();
    await until('it came', () => probe.turns > turns);
  };
  /** Pictures that can be shown, with the sound between them; at first two at least: whether markers lie is open. */
  const show = async (pictures: number): Promise<void> => {
    const wanted = count('videoFrames') + pictures;
    camera.sendFrames(pictures);
    await until('they are in the ring', () => count('videoFrames') === wanted);
  };
  return {
    ...{ camera, clock, probe, count, said, connect, pass, take, show },
    [Symbol.asyncDispose]: async () => {
      await probe[Symbol.asyncDispose]();
      await camera.close();
    },
  };
};

test('a camera that sends nothing after PLAY is given up after 10 s', async () => {
  await using session = await play('tcp');
  const { pass, said } = session;
  await pass(10_000);
  assert.deepEqual(said('ended'), []);
  await pass(1_000);
  const fault = { code: 'stalled', message: 'no video frame for 10 s' };
  assert.deepEqual(said('ended'), [{ type: 'ended', cameraId: 'door', attempt: 1, fault }]);
});

test('each picture is life for 10 s more', async () => {
  await using session = await play('tcp');
  const { pass, said, show } = session;
  for (let round = 0; round < 3; round += 1) {
    await pass(10_000);
    await show(2);
    assert.deepEqual(said('ended'), []);
  }
  await pass(10_000);
  assert.deepEqual(said('ended'), []);
  await pass(1_000);
  assert.equal(said('ended').length, 1);
});

test('pictures before the first keyframe are life, too; they are counted, and it is told what is waited for', async () => {
  await using session = await play('tcp', { faults: { startMidGop: true } });
  const { camera, clock, probe, count, said, pass, take, show } = session;
  const playedMs = clock.monotonicMs();
  // The source begins with a keyframe: that one is lost.
  camera.faults.stall = true;
  camera.sendFrame();
  camera.faults.stall = false;
  for (let round = 0; round < 3; round += 1) {
    await take(() => camera.sendFrames(2));
    await pass(9_000);
  }
  assert.deepEqual(said('ended'), []);
  assert.deepEqual([count('videoFrames'), count('undecodableFrames')], [0, 6]);
  const waiting = { waitsFor: 'a keyframe', sinceMs: playedMs };
  assert.deepEqual(said('waiting'), [{ type: 'waiting', cameraId: 'door', attempt: 1, waiting }]);
  assert.ok(!probe.types.includes('streaming'));
  while (count('videoFrames') === 0) await take(() => camera.sendFrame());
  await show(2);
  assert.equal(said('streaming').length, 1);
  const pictures = camera.sent.filter(({ kind }) => kind === 'video');
  const nextKey = pictures.findIndex(({ isKey }, at) => at > 0 && isKey);
  await pass(1_000);
  assert.equal(count('undecodableFrames'), nextKey - 1);
});

test('what comes and is none of the stream is counted', async () => {
  const faults: Partial<Faults> = {
    unknownChannel: true,
    garbageBytes: 30,
    foreignPayloadType: 'in-sequence',
  };
  await using session = await play('tcp', { faults });
  const { count, pass, show } = session;
  await show(2);
  await pass(1_000);
  assert.ok(count('garbageBytes') >= 30, `${count('garbageBytes')} bytes`);
  // One on another channel, one of another payload type.
  assert.ok(count('packetsForeign') >= 2, `${count('packetsForeign')} packets`);
  assert.deepEqual([count('packetsDuplicate'), count('unsentPackets')], [0, 0]);
});

test('a clock of the host that is set shows as a step of wall time, once, and in its own session alone', async () => {
  await using session = await play('tcp');
  const { clock, connect, count, pass, probe, show } = session;
  await show(3);
  clock.setWall(clock.wallMs() + 3_600_000);
  await pass(40);
  await show(3);
  await pass(1_000);
  assert.equal(count('wallSteps'), 1);
  probe.disconnect();
  await connect();
  await show(2);
  await pass(1_000);
  assert.equal(count('wallSteps'), 1);
});

test('sound alone is no life', async () => {
  await using session = await play('udp');
  const { camera, count, said, pass, take } = session;
  await take(() => camera.sendFrames(2));
  await pass(1_000);
  camera.faults.udpBlocked = ['video'];
  const pictures = count('videoFrames');
  for (let second = 0; second < 10; second += 1) {
    const before = count('audioFrames');
    camera.sendFrames(2);
    await until('sound came', () => count('audioFrames') > before);
    assert.deepEqual(said('ended'), []);
    await pass(1_000);
  }
  assert.equal(count('videoFrames'), pictures);
  assert.equal(said('ended').length, 1);
});

test('what came is counted each second, and for good when a session ends: over all sessions, nothing twice', async () => {
  let sent = 0;
  const onPacket = (): boolean => {
    sent += 1;
    return false;
  };
  await using session = await play('tcp', { faults: { loss: onPacket } });
  const { camera, count, said, connect, pass, probe, show } = session;
  await show(5);
  assert.equal(count('packets'), 0, 'not with each packet');
  await pass(1_000);
  assert.ok(sent > 5);
  assert.equal(count('packets'), sent);
  await pass(3_000);
  assert.equal(count('packets'), sent);
  await show(5);
  probe.disconnect();
  assert.equal(said('ended').length, 1);
  assert.equal(count('packets'), sent);
  await camera.until(({ openSockets }) => openSockets === 0);
  await connect();
  await show(5);
  await pass(1_000);
  assert.equal(count('packets'), sent);
});

for (const transport of ['tcp', 'udp'] as const) {
  test(`${transport}: each track is reported on every 5 s, and nothing else is`, async () => {
    await using session = await play(transport);
    const { camera, pass, take } = session;
    await pass(3_000);
    await take(() => camera.sendFrames(2));
    // What opens the way for UDP looks like a report.
    const { receiverReports: before } = camera.sessions[0]!;
    const reports = (): number => camera.sessions[0]!.receiverReports - before;
    await pass(1_000);
    assert.equal(reports(), 0);
    await pass(1_000);
    await until('both are reported on', () => reports() >= 2);
    await pass(4_000);
    await take(() => camera.sendFrames(2));
    await pass(1_000);
    await until('both are reported on again', () => reports() >= 4);
    await pass(4_000);
    await take(() => camera.sendFrames(2));
    assert.equal(reports(), 4);
  });
}

test('a session that has ended writes nothing more, neither half a picture nor what waits for a lost packet', async () => {
  await using half = await play('tcp');
  await half.show(2);
  half.camera.faults.marker = 'missing';
  await half.take(() => half.camera.sendFrame());
  half.probe.disconnect();
  await half.pass(5_000);
  assert.deepEqual([half.count('videoFrames'), half.said('ended').length], [2, 1]);

  await using gap = await play('udp');
  await gap.take(() => gap.camera.sendFrames(2));
  assert.equal(gap.count('videoFrames'), 0, 'the first packets wait for those that they may have overtaken');
  gap.probe.disconnect();
  await gap.pass(5_000);
  assert.deepEqual([gap.count('videoFrames'), gap.said('ended').length], [0, 1]);
});

test('the next session goes on in the same ring, by the time that passed', async () => {
  await using session = await play('tcp');
  const { camera, connect, pass, probe, show } = session;
  const reader = new RingReader(probe.ring, { start: 'next' });
  const read = () => {
    const frames: { ptsMs: number; discontinuity: boolean }[] = [];
    while (reader.next()) {
      if (reader.isVideo) frames.push({ ptsMs: reader.ptsTicks / 90, discontinuity: reader.discontinuity });
    }
    return frames;
  };
  await show(3);
  const before = read();
  assert.deepEqual(
    before.map(({ discontinuity }) => discontinuity),
    [false, false, false],
  );
  probe.disconnect();
  await camera.until(({ openSockets }) => openSockets === 0);
  await pass(7_000);
  await connect();
  await show(3);
  const after = read();
  assert.deepEqual(
    after.map(({ discontinuity }) => discontinuity),
    [true, false, false],
  );
  // The three were sent at once, which is ahead of when they came.
  assert.equal(Math.round(after[0]!.ptsMs - before[0]!.ptsMs), 7_000);
});

test('UDP on which nothing comes for 4 s: the same session goes on over TCP, and says that it does', async () => {
  await using session = await play('udp', { faults: { udpBlocked: ['video', 'audio'] } });
  const { camera, clock, pass, said, show } = session;
  const sinceMs = clock.monotonicMs();
  camera.sendFrames(3);
  await camera.until(({ connectionsSeen }) => {
    if (connectionsSeen === 1) clock.advance(10);
    return connectionsSeen === 2;
  });
  assert.ok(clock.monotonicMs() - sinceMs >= 4_000);
  await camera.until(({ playing }) => playing === 1);
  await show(3);
  assert.ok(camera.requests.some(({ headers }) => /interleaved/.test(headers.get('transport') ?? '')));
  assert.deepEqual([said('ended').length, said('playing').length, said('streaming').length], [0, 1, 1]);
  await pass(1_000);
  const names = ['silent_udp'];
  assert.deepEqual(said('quirks').at(-1), { type: 'quirks', cameraId: 'door', attempt: 1, names });
});

test('the bell rings once for all that a turn brought, and not at all while nobody waits', async () => {
  await using session = await play('tcp');
  const { camera, count, probe, show } = session;
  let rings = 0;
  const listener = new BellListener(probe.bell, () => {
    rings += 1;
  });
  listener.start();
  await until('it listens', () => rings === 1);
  await show(30);
  await new Promise(setImmediate);
  assert.equal(rings, 1, 'nobody waits');
  const reader = new RingReader(probe.ring, { start: 'next' });
  reader.subscribe();
  const { turns } = probe;
  camera.sendFrames(30);
  await until('they came', () => count('videoFrames') === 60 && rings > 1);
  assert.ok(rings - 1 <= probe.turns - turns, `${rings - 1} rings in ${probe.turns - turns} turns`);
  assert.ok(rings - 1 < 30, `${rings - 1} rings`);
  reader.unsubscribe();
  listener.stop();
});

/** Its wall clock fails when it is told to: in the midst of a frame that is written. */
class FailingClock extends FakeClock {
  fails = false;

  override wallMs(): WallMs {
    if (this.fails) throw new Error('the clock is broken');
    return super.wallMs();
  }
}

test('a fault of our own ends the session in which it happens, and no other', async () => {
  const clock = new FailingClock();
  await using session = await play('tcp', { clock });
  const { camera, probe, said, show } = session;
  await using beside = await FakeCamera.start({
    mounts: { '/cam': { video: fixtures.h264Baseline(), pacing: { mode: 'step' } } },
  });
  probe.open('gate');
  probe.connect({ url: beside.url(), transport: 'tcp' }, 'gate');
  await until('both play', () => said('playing').length === 2);
  await show(2);
  clock.fails = true;
  camera.sendFrame();
  await until('one has ended', () => said('ended').length === 1);
  clock.fails = false;
  const fault = { code: 'internal_error', message: 'the clock is broken' };
  assert.deepEqual(said('ended'), [{ type: 'ended', cameraId: 'door', attempt: 1, fault }]);
  beside.sendFrames(5);
  await until('the other one goes on', () => readCounters(probe.ringOf('gate')).videoFrames === 5);
  await camera.until(({ openSockets }) => openSockets === 0);
  assert.equal(said('ended').length, 1);
});
