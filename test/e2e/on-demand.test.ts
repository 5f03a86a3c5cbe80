import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { spawnCameraWorker } from '../../src/camera/fleet/worker-thread.js';
import { factsOf } from '../pictures/likeness.js';
import { normaliseAccessUnit, splitNals } from '../support/access-units.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { GstServer, remux } from '../support/gst-server.js';
import { SkippingClock } from '../support/skipping-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { startTestApp } from '../support/test-app.js';
import { undisturbed } from '../support/undisturbed.js';
import { until } from '../support/until.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';
import { WhepClient } from '../support/whep-client.js';

/** How long a source is wanted after its last viewer, and how long HLS takes to find out that one has gone. */
const LINGER_MS = 30_000;
const HLS_GONE_MS = 10_500;

/** The service in this process, with real threads and a clock that can leave out waiting. */
const setUp = async (t: TestContext) => {
  const clock = new SkippingClock();
  const app = await startTestApp({
    clock,
    spawn: spawnCameraWorker,
    env: { WEBRTC_UDP_PORTS: '51200-51249' },
  });
  t.after(() => app.stop());
  const camera = await FakeCamera.start({
    mounts: {
      '/main': { video: fixtures.h264High() },
      '/sub': { video: fixtures.h264Baseline() },
      '/ws': { video: fixtures.h264High() },
      '/hls': { video: fixtures.h264High(), audio: fixtures.aac() },
      '/whep': { video: fixtures.h264High(), audio: fixtures.pcmu() },
    },
  });
  t.after(() => camera[Symbol.asyncDispose]());
  const cameraOf = async (id: string) => (await app.asAdmin('GET', `/api/cameras/${id}`)).body;
  const untilState = (id: string, state: string, stateOf = (view: { state: string }): string => view.state) =>
    until(`${id} is ${state}`, async () => stateOf(await cameraOf(id)) === state, {
      deadlineMs: 60_000,
      describe: () => app.logText().slice(-2_000),
    });
  const watch = (path: string): WebSocketViewer => {
    const viewer = new WebSocketViewer(`${app.url.replace(/^http/, 'ws')}/stream/ws/${path}`);
    t.after(() => viewer.webSocket.terminate());
    return viewer;
  };
  return { app, camera, clock, cameraOf, untilState, watch };
};

test('a snapshot wakes a camera on demand, that of its smaller stream alone', {
  timeout: 120_000,
}, async (t) => {
  const { app, camera, clock, untilState } = await setUp(t);
  await app.asAdmin('POST', '/api/cameras', {
    ...{ id: 'door', url: camera.url('/main'), sub_url: camera.url('/ws'), on_demand: true },
  });
  await untilState('door', 'standby');
  assert.equal(camera.connectionsSeen, 0);
  const snapshot = (query: string) => fetch(new URL(`/api/cameras/door/snapshot.jpg${query}`, app.url));
  const jpegOf = async (query: string): Promise<Buffer> => {
    const answer = await until('there is a picture', async () => {
      const response = await snapshot(query);
      return response.status === 200 && response;
    });
    return Buffer.from(await answer.arrayBuffer());
  };
  assert.equal(factsOf(await jpegOf('?stream=sub')), 'mjpeg,320,180,1:1');
  assert.ok(
    camera.requests.every(({ url }) => !url.includes('/main')),
    'the main stream is left alone',
  );
  await jpegOf('');
  assert.ok(camera.requests.some(({ url }) => url.includes('/main')));
  await until(
    'nobody wants it any more',
    () => {
      clock.skip(LINGER_MS);
      return camera.openSockets === 0;
    },
    { deadlineMs: 60_000 },
  );
  await untilState('door', 'standby');
});

test('the first viewer by each output wakes a camera on demand and gets its picture; a while after the last it sleeps, unbilled', async (t) => {
  const { app, camera, clock, cameraOf, untilState, watch } = await setUp(t);
  const ids = ['ws', 'hls', 'whep'];
  for (const id of ids)
    await app.asAdmin('POST', '/api/cameras', {
      ...{ id, url: camera.url(`/${id}`), on_demand: true, lazy_hls: false },
      ...{ traffic_limit: 100, sim_phone: '+49170' },
    });
  for (const id of ids) await untilState(id, 'standby');
  const { text: asleep } = await app.call('GET', '/metrics');
  assert.doesNotMatch(asleep, /^svc_stream_online\{/m);
  assert.equal((await app.call('GET', '/readyz')).status, 200);
  assert.deepEqual([camera.connectionsSeen, camera.requests.length], [0, 0], 'nobody was asked for anything');

  const viewer = watch('ws');
  const client = await WhepClient.create({ audio: [{ payloadType: 0, map: 'PCMU/8000' }] });
  t.after(() => client.close());
  // Whoever wakes a camera is let wait for ten seconds at most, and a segment is there for about as long.
  const play = () =>
    undisturbed(t, async () => {
      const playlist = await app.call('GET', '/stream/hls/hls/stream.m3u8');
      assert.equal(playlist.status, 200);
      const [segment] = /^segment_\d+\.ts$/m.exec(playlist.text)!;
      assert.equal((await app.call('GET', `/stream/hls/hls/${segment}`)).status, 200);
    });
  const offer = () =>
    undisturbed(t, async () => {
      const answer = await app.call('POST', '/stream/webrtc/whep/whep', {
        body: client.offer,
        headers: { 'content-type': 'application/sdp' },
      });
      assert.equal(answer.status, 201);
      client.start(answer.text);
      return answer;
    });
  const [offered] = await Promise.all([offer(), play(), viewer.untilFrames(5)]);
  await until(
    'pictures and sound come by WHEP',
    () => client.answer.ssrcs.length >= 2 && client.rtp.length > 60,
  );
  assert.deepEqual([viewer.faults, viewer.closedWith], [[], null]);
  assert.equal(camera.playing, 3);

  viewer.webSocket.terminate();
  await app.call('DELETE', offered.headers.get('location') ?? '');
  for (const id of ['ws', 'whep'])
    await until('they have left', async () => (await cameraOf(id)).viewers === 0);
  clock.skip(HLS_GONE_MS);
  await until('the player has left', async () => (await cameraOf('hls')).viewers === 0);
  assert.equal((await cameraOf('ws')).state, 'streaming', 'who comes back finds it');
  await until(
    'all sessions are over',
    () => {
      clock.skip(LINGER_MS);
      return camera.openSockets === 0;
    },
    { deadlineMs: 60_000 },
  );
  for (const id of ids) await untilState(id, 'standby');
  assert.equal(camera.sessionsTornDown, 3);
  const asked = camera.requests.length;
  clock.skip(3_600_000);
  for (const id of ids)
    assert.deepEqual([(await cameraOf(id)).state, (await cameraOf(id)).last_error], ['standby', '']);
  assert.deepEqual(
    [camera.connectionsSeen, camera.requests.length],
    [3, asked],
    'nobody asks it for anything',
  );
});

/** What a WebSocket sends of each of the source's frames. */
const messagesOf = (): string[] =>
  fixtures
    .h264High()
    .frames.map(({ bytes }) =>
      Buffer.concat(
        splitNals(normaliseAccessUnit('h264', bytes)).flatMap((nal) => [Buffer.of(0, 0, 0, 1), nal]),
      ).toString('latin1'),
    );

test('a sub-stream of a foreign server comes and goes, and changes, beside a main stream of which no frame is missed', async (t) => {
  const { app, camera, clock, cameraOf, untilState, watch } = await setUp(t);
  const folder = tempFolder(t);
  remux([{ path: fixturePath('h265-main.265'), frameRateHz: 15 }], join(folder, 'sub.mp4'));
  const pay = 'h265parse ! rtph265pay name=pay0 pt=96 config-interval=-1';
  const foreign = await GstServer.start({
    mounts: { '/sub': `( filesrc location=${join(folder, 'sub.mp4')} ! qtdemux ! ${pay} )` },
  });
  t.after(() => foreign[Symbol.asyncDispose]());
  await app.asAdmin('POST', '/api/cameras', {
    ...{ id: 'door', url: camera.url('/main'), sub_url: `rtsp://127.0.0.1:${foreign.port}/sub` },
  });
  await untilState('door', 'streaming');
  const main = watch('door');
  await main.untilFrames(2);
  assert.equal((await cameraOf('door')).sub.state, 'standby');
  const sub = watch('door?stream=sub');
  await sub.untilFrames(15);
  await until('the size of both is told', async () => {
    const { codec, sub: shown, viewers } = await cameraOf('door');
    return codec === 'h264' && shown.codec === 'h265' && shown.fps > 5 && viewers === 2;
  });

  await app.asAdmin('PUT', '/api/cameras/door', { sub_url: camera.url('/sub') });
  const framesBefore = sub.frames.length;
  await until(
    'the other sub-stream is shown',
    () => sub.configs.length === 2 && sub.frames.length > framesBefore + 15,
  );
  await app.asAdmin('PUT', '/api/cameras/door', { sub_url: '' });
  await until('the main stream takes its place', () => sub.configs.length === 3);
  assert.equal((await cameraOf('door')).sub, null);
  await app.asAdmin('PUT', '/api/cameras/door', { sub_url: camera.url('/sub') });
  await until('the sub-stream is back', () => sub.configs.length === 4);
  assert.deepEqual([sub.faults, sub.closedWith], [[], null]);

  sub.webSocket.terminate();
  await until('it has left', async () => (await cameraOf('door')).viewers === 1);
  clock.skip(LINGER_MS);
  await untilState('door', 'standby', (view) => (view as unknown as { sub: { state: string } }).sub.state);
  await camera.until((one) => one.playing === 1 && one.openSockets === 1);
  // More than the source has before it begins again, however quickly all that went.
  await main.untilFrames(Math.max(main.frames.length + 15, 75));
  const source = messagesOf();
  const order = main.frames.map(({ bytes }) => source.indexOf(bytes.toString('latin1')));
  for (const [at, index] of order.entries()) {
    assert.notEqual(index, -1, `frame ${at} is none of the source's`);
    if (at > 0) assert.equal(index, (order[at - 1]! + 1) % source.length, `frame ${at}`);
  }
});
