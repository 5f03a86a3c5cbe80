import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.js';
import type { AnalyticsNews } from '../../../src/camera/messages.js';
import { readCounters } from '../../../src/ring/counters.js';
import { hostile, modern, notification, pixels, several } from '../../analytics/documents.js';
import { FakeCamera } from '../../support/fake-camera/fake-camera.js';
import type { Faults } from '../../support/fake-camera/faults.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fixtures } from '../../support/fixtures.js';
import { until } from '../../support/until.js';
import { WorkerProbe } from './worker-probe.js';

const BOX = [0.25, 0.5, 0.125, 0.25] as const;

type Setting = {
  readonly transport?: 'tcp' | 'udp';
  readonly faults?: Partial<Faults>;
  readonly clock?: Clock;
  readonly mode?: 'live' | 'step';
};

/** A camera with a metadata track, and the worker that it is connected to. */
const setUp = async ({ transport = 'tcp', faults = {}, clock = systemClock, mode = 'live' }: Setting) => {
  const camera = await FakeCamera.start({
    mounts: { '/cam': { video: fixtures.h264Baseline(), pacing: { mode }, hasMetadata: true } },
    faults,
  });
  const probe = new WorkerProbe(clock);
  const connect = (): void => probe.connect({ url: camera.url(), transport, wantsMetadata: true });
  connect();
  const news = (): AnalyticsNews[] =>
    probe.said.flatMap((message) => (message.type === 'analytics' ? [message.news] : []));
  return {
    ...{ camera, probe, news, connect },
    scenes: () => news().flatMap(({ scenes }) => scenes),
    counters: () => readCounters(probe.ring),
    [Symbol.asyncDispose]: async () => {
      await probe[Symbol.asyncDispose]();
      await camera.close();
    },
  };
};

const streaming = async (
  { probe, counters }: Awaited<ReturnType<typeof setUp>>,
  frames = 5,
): Promise<void> => {
  await until(
    'the camera streams',
    () => probe.types.includes('streaming') && counters().videoFrames > frames,
    {
      describe: () => JSON.stringify(probe.said.at(-1)),
    },
  );
};

/** On a busy machine the first frame comes late, and wall time makes up for it by half the time that passes. */
const SETTLED_FRAMES = 40;
/** Analytics are late: documents come so long after their pictures. */
const LATE_MS = 300;
/** What a busy machine may add on each side. */
const MOST_MS = 150;

for (const transport of ['tcp', 'udp'] as const)
  test(`${transport}: what a camera sees lies beside its pictures, by the reports of both tracks`, async () => {
    await using play = await setUp({ transport });
    const { camera, scenes, counters } = play;
    await streaming(play, SETTLED_FRAMES);
    camera.sendMetadata(modern(Date.now(), []));
    await until('the track was reported on', () => counters().metadataDocuments === 1);
    const atMs = Date.now() - LATE_MS;
    // Its own time is wrong: the reports count.
    const xml = modern(atMs - 3_000, [{ id: '4', box: BOX }]);
    camera.sendMetadata(xml, { wallMs: atMs, packetBytes: 100 });
    await until('it was seen', () => scenes().length === 1);
    const [{ wallMs, objects } = { wallMs: 0, objects: [] }] = scenes();
    assert.ok(Math.abs(wallMs - atMs) < MOST_MS, `${wallMs - atMs} ms apart`);
    assert.deepEqual([objects[0]?.label, objects[0]?.trackId], ['person', '4']);
    await until('it was counted', () => counters().metadataObjects === 1);
  });

test('a camera whose clock is decades wrong: its reports agree with each other', async () => {
  await using play = await setUp({ faults: { senderReports: 'insane-ntp' } });
  const { camera, scenes, counters } = play;
  await streaming(play, SETTLED_FRAMES);
  camera.sendMetadata(modern(0, []));
  await until('the track was reported on', () => counters().metadataDocuments === 1);
  const atMs = Date.now() - LATE_MS;
  camera.sendMetadata(modern(0, [{ box: BOX }]), { wallMs: atMs });
  await until('it was seen', () => scenes().length === 1);
  assert.ok(Math.abs(scenes()[0]!.wallMs - atMs) < MOST_MS, `${scenes()[0]!.wallMs - atMs} ms apart`);
});

test('without reports the times in the documents count, and if those are wrong when they came', async () => {
  await using play = await setUp({ faults: { senderReports: 'off' } });
  const { camera, scenes } = play;
  await streaming(play, SETTLED_FRAMES);
  const atMs = Date.now() - LATE_MS;
  camera.sendMetadata(pixels(atMs, { box: BOX }));
  await until('it was seen', () => scenes().length === 1);
  assert.ok(Math.abs(scenes()[0]!.wallMs - atMs) < MOST_MS, `${scenes()[0]!.wallMs - atMs} ms apart`);
  // Two that are told are a fifth of a second apart.
  await until('some time passed', () => Date.now() - atMs > LATE_MS + 400);
  const sentMs = Date.now();
  camera.sendMetadata(modern(0, [{ box: BOX }]));
  await until('the next one was seen', () => scenes().length === 2);
  const apartMs = scenes()[1]!.wallMs - sentMs;
  assert.ok(apartMs > -MOST_MS && apartMs < Date.now() - sentMs + MOST_MS, `${apartMs} ms apart`);
});

test('pictures of one document keep their distances; a fifth of a second lies between two that are told', async () => {
  await using play = await setUp({});
  const { camera, scenes } = play;
  await streaming(play, SETTLED_FRAMES);
  const atMs = Date.now() - 1_000;
  const frames = Array.from({ length: 25 }, (_, i) => [atMs + i * 40, [{ box: BOX }]] as const);
  camera.sendMetadata(several(frames), { wallMs: atMs });
  await until('they were seen', () => scenes().length >= 5);
  const times = scenes().map(({ wallMs }) => wallMs);
  assert.deepEqual(
    times.map((wallMs) => Math.round((wallMs - times[0]!) / 40)),
    [0, 5, 10, 15, 20],
  );
  assert.ok(Math.abs(times[0]! - atMs) < MOST_MS);
});

test('a lost packet costs its document and no other, and the picture nothing', async () => {
  await using play = await setUp({});
  const { camera, scenes, counters } = play;
  await streaming(play);
  camera.sendMetadata(modern(Date.now(), [{ box: BOX, type: 'First' }]), { packetBytes: 100 });
  let packet = 0;
  camera.faults.loss = () => packet++ === 1;
  camera.sendMetadata(modern(Date.now(), [{ box: BOX, type: 'Second' }]), { packetBytes: 100 });
  camera.faults.loss = 0;
  const sentMs = Date.now();
  await until('two may be told', () => Date.now() - sentMs > 250);
  camera.sendMetadata(modern(Date.now(), [{ box: BOX, type: 'Third' }]), { packetBytes: 100 });
  await until('those around it were seen', () => scenes().length === 2);
  assert.deepEqual(
    scenes().map(({ objects }) => objects[0]?.label),
    ['first', 'third'],
  );
  await until('it was counted', () => counters().metadataRefused === 1);
  assert.deepEqual([counters().damagedFrames, counters().metadataDocuments], [0, 3]);
});

test('hostile documents, garbage and half a document without end leave the picture alone', async () => {
  await using play = await setUp({});
  const { camera, probe, scenes, counters } = play;
  await streaming(play);
  for (const xml of Object.values(hostile)) camera.sendMetadata(xml);
  camera.sendMetadata(Buffer.alloc(5_000, 0xff));
  await until('they were refused', () => counters().metadataRefused >= Object.keys(hostile).length - 1);
  const frames = counters().videoFrames;
  await until('frames come', () => counters().videoFrames > frames + 10);
  camera.sendMetadata(modern(Date.now(), [{ box: BOX }]));
  await until('the next one is seen', () => scenes().length === 1);
  assert.ok(!probe.types.includes('ended'));
  assert.deepEqual([counters().damagedFrames, counters().discontinuities], [0, 0]);
});

test('what it notices is told', async () => {
  await using play = await setUp({});
  const { camera, news } = play;
  await streaming(play);
  const topic = 'tns1:VideoSource/MotionAlarm';
  camera.sendMetadata(notification(0, { topic, data: { State: 'true' } }));
  await until('it was told', () => news().length > 0);
  const [notice] = news()[0]!.notices;
  assert.deepEqual([notice?.kind, notice?.state, notice?.topic], ['motion', 'on', 'VideoSource/MotionAlarm']);
  assert.ok(Math.abs((notice?.wallMs ?? 0) - Date.now()) < 2_000, 'a time that is no time is the present');
});

const isOfMetadata = (url: string): boolean => url.includes('trackID=1');

test('a camera that refuses the track gives its picture, and is known to have none', async () => {
  const answer: Faults['answer'] = ({ method, url }) =>
    method === 'SETUP' && isOfMetadata(url) ? 454 : null;
  await using play = await setUp({ faults: { answer } });
  await streaming(play);
  assert.deepEqual(
    play.probe.said.filter(({ type }) => type === 'metadata'),
    [{ type: 'metadata', cameraId: 'door', attempt: 1, isThere: false }],
  );
});

test('a camera that never answers for the track is asked twice, and then gives its picture', async () => {
  const clock = new FakeClock();
  const editAnswer: Faults['editAnswer'] = (text, { method, url }) =>
    method === 'SETUP' && isOfMetadata(url) ? '' : text;
  await using play = await setUp({ faults: { editAnswer }, clock, mode: 'step' });
  const { camera, probe, connect } = play;
  const asked = (): number =>
    camera.requests.filter(({ method, url }) => method === 'SETUP' && isOfMetadata(url)).length;
  for (const times of [1, 2]) {
    await camera.until(() => asked() === times);
    clock.advance(10_000);
    await until('the session ended', () => probe.types.filter((type) => type === 'ended').length === times);
    connect();
  }
  await camera.until(({ playing }) => playing === 1);
  camera.sendFrames(3);
  await until('the camera streams', () => probe.types.includes('streaming'));
  assert.equal(asked(), 2);
  assert.deepEqual(
    probe.said.filter(({ type }) => type.startsWith('metadata')),
    [{ type: 'metadata_held_off', cameraId: 'door', attempt: 3 }],
  );
});

test('UDP: a track that stays silent is no reason for TCP', async () => {
  await using play = await setUp({ transport: 'udp', faults: { udpBlocked: ['metadata'] } });
  await streaming(play);
  await until('it plays', () => play.probe.types.includes('playing'));
  assert.ok(!play.probe.types.includes('quirks'));
  assert.equal(play.camera.connectionsSeen, 1);
});
