import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { type NapNeed, NapPolicy } from '../../../src/camera/ingest/nap.js';
import { readCounters } from '../../../src/ring/counters.js';
import { RingReader } from '../../../src/ring/reader.js';
import { FakeCamera } from '../../support/fake-camera/fake-camera.js';
import { StreamFeed } from '../../support/fake-camera/stream-feed.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fixtures } from '../../support/fixtures.js';
import { generateVideo } from '../../support/frame-generator.js';
import { until } from '../../support/until.js';
import { WorkerProbe } from './worker-probe.js';

/** The nap after a tenth of a second with so many packets a second. */
const napOf = (need: NapNeed, packetsPerSec: number): number => {
  const clock = new FakeClock();
  const policy = new NapPolicy({ clock, need: () => need });
  for (let packet = 0; packet < packetsPerSec / 10; packet += 1) policy.countPacket();
  clock.advance(100);
  return policy.napMs();
};

test('a thread naps for long where nobody watches, shortly beside many for the sake of few, else if it is busy', () => {
  const rest = { isConnecting: false, playing: 128, watched: 0 };
  assert.deepEqual(
    [10, 1_000, 50_000].map((rate) => napOf(rest, rate)),
    [10, 10, 10],
  );
  const few = { ...rest, watched: 1 };
  assert.deepEqual(
    [4_000, 6_000, 50_000].map((rate) => napOf(few, rate)),
    [0, 2, 2],
  );
  const many = { ...rest, watched: 100 };
  assert.deepEqual(
    [4_000, 6_000, 50_000].map((rate) => napOf(many, rate)),
    [0, 0, 1],
  );
  assert.equal(napOf({ ...rest, isConnecting: true }, 50_000), 0);
});

test('what to do is decided ten times a second, by the packets since', () => {
  const clock = new FakeClock();
  let need: NapNeed = { isConnecting: false, playing: 10, watched: 0 };
  const policy = new NapPolicy({ clock, need: () => need });
  assert.equal(policy.napMs(), 0, 'nothing is known yet');
  clock.advance(100);
  assert.equal(policy.napMs(), 10);
  need = { ...need, watched: 10 };
  clock.advance(99);
  assert.equal(policy.napMs(), 10);
  clock.advance(1);
  assert.equal(policy.napMs(), 0);
});

const patience = { deadlineMs: 30_000 };

const source = (url: string) => ({ url, transport: 'tcp' }) as const;

/** A frame comes at the end of a tenth of a second: the nap that follows. */
const napAfterFrame = async (probe: WorkerProbe, clock: FakeClock, camera: FakeCamera): Promise<number> => {
  clock.advance(100);
  const { turns } = probe;
  const naps = probe.naps.length;
  camera.sendFrame();
  await until('the frame came', () => probe.turns > turns, patience);
  return probe.naps[naps] ?? 0;
};

test('cameras that do not answer keep no other from its nap, whether their host takes connections or not', async (t) => {
  await using camera = await FakeCamera.start({
    mounts: { '/cam': { video: fixtures.h264Baseline(), pacing: { mode: 'step' } } },
  });
  const mute = createServer((socket) => socket.on('error', () => {}));
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  t.after(() => mute.close());
  const clock = new FakeClock();
  await using probe = new WorkerProbe(clock);
  probe.connect(source(camera.url()));
  await camera.until(({ playing }) => playing === 1);
  await until('it plays', () => probe.types.includes('playing'), patience);
  const accepted = once(mute, 'connection');
  probe.open('mute');
  probe.connect(source(`rtsp://127.0.0.1:${port}/1`), 'mute');
  // 192.0.2.0/24 is for documentation (RFC 5737): nobody is there.
  probe.open('dead');
  probe.connect(source('rtsp://192.0.2.1/1'), 'dead');
  await accepted;
  assert.equal(await napAfterFrame(probe, clock, camera), 10);
});

test('a camera that answers in its handshake keeps the others from their naps, but not when it takes its time', async () => {
  await using camera = await FakeCamera.start({
    mounts: { '/cam': { video: fixtures.h264Baseline(), pacing: { mode: 'step' } } },
  });
  await using slow = await FakeCamera.start({
    mounts: { '/cam': { video: fixtures.h264Baseline() } },
    faults: { neverAnswer: ['SETUP'] },
  });
  const clock = new FakeClock();
  await using probe = new WorkerProbe(clock);
  probe.connect(source(camera.url()));
  await until('it plays', () => probe.types.includes('playing'), patience);
  assert.equal(await napAfterFrame(probe, clock, camera), 10);
  probe.open('slow');
  probe.connect(source(slow.url()), 'slow');
  await until('it was described', () => slow.requests.some(({ method }) => method === 'SETUP'), patience);
  assert.equal(await napAfterFrame(probe, clock, camera), 0);
  assert.equal(await napAfterFrame(probe, clock, camera), 10);
});

test('a viewer of one camera leaves the thread of eight a short nap', async () => {
  const video = generateVideo({ kbps: 40_000, framesPerGop: 10, gops: 1 });
  const feed = new StreamFeed({ video, pacing: { mode: 'step' } });
  const ids = ['door', ...Array.from({ length: 7 }, (_, index) => `camera-${index}`)];
  await using camera = await FakeCamera.start({
    mounts: Object.fromEntries(ids.map((id) => [`/${id}`, feed])),
  });
  const clock = new FakeClock();
  await using probe = new WorkerProbe(clock);
  for (const id of ids) {
    if (id !== 'door') probe.open(id);
    probe.connect(source(camera.url(`/${id}`)), id);
  }
  await until('all play', () => probe.types.filter((type) => type === 'playing').length === 8, patience);
  await camera.until(({ playing }) => playing === 8);
  const reader = new RingReader(probe.ring, { start: 'next' });
  let frames = 0;
  /** A frame of each is some 700 packets; the nap goes by those of the one before. */
  const nap = async (): Promise<number> => {
    const napMs = await napAfterFrame(probe, clock, camera);
    frames += 1;
    // The first ones are kept back, until it is known what comes.
    const hasAll = (id: string): boolean => readCounters(probe.ringOf(id)).videoFrames === frames;
    if (frames > 4) await until('all have the frame', () => ids.every(hasAll), patience);
    return napMs;
  };
  for (let frame = 0; frame < 6; frame += 1) await nap();
  assert.equal(await nap(), 10);
  reader.subscribe();
  assert.equal(await nap(), 2);
  reader.unsubscribe();
  assert.equal(await nap(), 10);
});
