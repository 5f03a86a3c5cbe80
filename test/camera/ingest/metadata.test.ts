import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.js';
import type { AnalyticsNews, TimedScene } from '../../../src/camera/messages.js';
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

/** Analytics are late: documents come so long after their pictures. */
const LATE_MS = 300;
/** What a busy machine may add on each side. */
const MOST_MS = 150;
/** Two that are told are a fifth of a second apart, also by a wall time that still makes up for a late first frame. */
const APART_MS = 600;

type Sent = { readonly id: string; readonly atMs: number };
type SettledOptions = { readonly lateMs?: number; readonly apartMs?: number; readonly scenesEach?: number };

/**
 * Sends documents of pictures, each with an id of its own, until two in a row are told where their pictures are: on a
 * busy machine the first frame comes late, and wall time makes up for it by half the time that passes. Answers what the
 * last one told.
 */
const settled = async (
  { camera, scenes }: Awaited<ReturnType<typeof setUp>>,
  xmlOf: (atMs: number, id: string) => string,
  { lateMs = LATE_MS, apartMs = APART_MS, scenesEach = 1 }: SettledOptions = {},
): Promise<TimedScene[]> => {
  const sent: Sent[] = [];
  const toldOf = (id: string): TimedScene[] => scenes().filter(({ objects }) => objects[0]?.trackId === id);
  const apartOf = ({ id, atMs }: Sent): number => (toldOf(id)[0]?.wallMs ?? Number.NaN) - atMs;
  const isRight = (document: Sent): boolean =>
    toldOf(document.id).length === scenesEach && Math.abs(apartOf(document)) < MOST_MS;
  let sentMs = Number.NEGATIVE_INFINITY;
  return await until(
    'two in a row lie where they belong',
    () => {
      if (Date.now() - sentMs >= apartMs) {
        sentMs = Date.now();
        const [id, atMs] = [randomUUID(), sentMs - lateMs];
        camera.sendMetadata(xmlOf(atMs, id), { wallMs: atMs, packetBytes: 100 });
        sent.push({ id, atMs });
      }
      const [before, last] = sent.slice(-2);
      return before && last && isRight(before) && isRight(last) && toldOf(last.id);
    },
    { describe: () => `${sent.map(apartOf)} ms apart` },
  );
};

for (const transport of ['tcp', 'udp'] as const)
  test(`${transport}: what a camera sees lies beside its pictures, by the reports of both tracks`, async () => {
    await using play = await setUp({ transport });
    await streaming(play);
    // Its own time is wrong: the reports count.
    const [scene] = await settled(play, (atMs, id) => modern(atMs - 3_000, [{ id, box: BOX }]));
    assert.equal(scene?.objects[0]?.label, 'person');
    await until('all were counted', () => play.counters().metadataObjects >= play.scenes().length);
  });

test('a camera whose clock is decades wrong: its reports agree with each other', async () => {
  await using play = await setUp({ faults: { senderReports: 'insane-ntp' } });
  await streaming(play);
  await settled(play, (_atMs, id) => modern(0, [{ id, box: BOX }]));
});

test('without reports the times in the documents count, and if those are wrong when they came', async () => {
  await using play = await setUp({ faults: { senderReports: 'off' } });
  await streaming(play);
  await settled(play, (atMs, id) => pixels(atMs, { id, box: BOX }));
  await settled(play, (_atMs, id) => modern(0, [{ id, box: BOX }]), { lateMs: 0 });
});

test('pictures of one document keep their distances; a fifth of a second lies between two that are told', async () => {
  await using play = await setUp({});
  await streaming(play);
  const framesOf = (atMs: number, id: string) =>
    several(Array.from({ length: 25 }, (_, i) => [atMs + i * 40, [{ id, box: BOX }]] as const));
  const told = await settled(play, framesOf, { lateMs: 1_000, apartMs: 1_600, scenesEach: 5 });
  const times = told.map(({ wallMs }) => wallMs);
  assert.deepEqual(
    times.map((wallMs) => Math.round((wallMs - times[0]!) / 40)),
    [0, 5, 10, 15, 20],
  );
});

test('a lost packet costs its document and no other, and the picture nothing', async () => {
  await using play = await setUp({});
  const { camera, scenes, counters } = play;
  await streaming(play);
  camera.sendMetadata(modern(Date.now(), [{ box: BOX, type: 'First' }]), { packetBytes: 100 });
  await until('the first one was seen', () => scenes().length === 1);
  let packet = 0;
  camera.faults.loss = () => packet++ === 1;
  camera.sendMetadata(modern(Date.now(), [{ box: BOX, type: 'Second' }]), { packetBytes: 100 });
  camera.faults.loss = 0;
  const sentMs = Date.now();
  await until('two may be told', () => Date.now() - sentMs > APART_MS);
  camera.sendMetadata(modern(Date.now(), [{ box: BOX, type: 'Third' }]), { packetBytes: 100 });
  await until('those around it were seen', () => scenes().length === 2);
  assert.deepEqual(
    scenes().map(({ objects }) => objects[0]?.label),
    ['first', 'third'],
  );
  await until('all were counted', () => counters().metadataDocuments === 3);
  assert.deepEqual([counters().damagedFrames, counters().metadataRefused], [0, 1]);
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
  assert.ok(Math.abs((notice?.wallMs ?? 0) - Date.now()) < 60_000, 'a time that is no time is the present');
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
