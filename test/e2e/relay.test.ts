import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { spawnCameraWorker } from '../../src/camera/fleet/worker-thread.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { undisturbed } from '../support/undisturbed.js';
import { until } from '../support/until.js';
import { run } from './rtsp-out.js';

const CLUSTER_KEY = 'a secret that all boxes of the cluster have';

const startBox = async (
  t: TestContext,
  url: string,
  name: string,
  {
    isFirst,
    address = 'http://127.0.0.1:8080',
  }: {
    readonly isFirst: boolean;
    /** The others take the host of it alone; "": it tells none. */
    readonly address?: string;
  },
): Promise<TestApp> => {
  const app = await startTestApp({
    ...{ spawn: spawnCameraWorker, withUsers: isFirst },
    env: { CLUSTER_URL: url, CLUSTER_KEY, BOX_NAME: name, RTSP_PORT: '0', BOX_ADDRESS: address },
  });
  t.after(() => app.stop());
  return app;
};

/** What a player finds there: codecs, and whether pictures can be decoded. */
const playedAt = async (address: string): Promise<{ codecs: string[]; faults: string }> => {
  const shown = ['-v', 'error', '-show_entries', 'stream=codec_name', '-of', 'csv=p=0', address];
  const { out } = await run('ffprobe', shown);
  const { err } = await run('ffmpeg', ['-v', 'error', '-i', address, '-frames:v', '20', '-f', 'null', '-']);
  return { codecs: [...new Set(out.trim().split(/\s+/))].sort(), faults: err };
};

test('a box shows the camera of another by each output, under the same rights, and connects none itself', {
  skip: withoutNats,
  timeout: 540_000,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const camera = await FakeCamera.start({
    mounts: { '/main': { video: fixtures.h264High(), audio: fixtures.aac() } },
  });
  t.after(() => camera[Symbol.asyncDispose]());
  const owner = await startBox(t, servers.url, 'owner', { isFirst: true });
  const other = await startBox(t, servers.url, 'other', { isFirst: false });
  const { admin } = owner.tokens;
  const pinned = { box: 'owner' };
  const made = {
    ...pinned,
    id: 'gate',
    url: camera.url('/main'),
    on_demand: true,
    token_auth: true,
    lazy_hls: false,
  };
  assert.equal((await owner.asAdmin('POST', '/api/cameras', made)).status, 201);
  const tokenOf = () => other.call('GET', '/api/cameras/gate/stream-token', { token: admin });
  const token = await until('the other box knows it', async () => (await tokenOf()).body.token);
  await until('it is the first box that has it', async () => {
    const { body } = await other.call('GET', '/api/cameras/gate', { token: admin });
    return body.owner === 'owner';
  });
  assert.equal(camera.connectionsSeen, 0, 'nobody asks for it');
  const isPlayedAt = (address: string): Promise<void> =>
    undisturbed(t, async () =>
      assert.deepEqual(await playedAt(`${address}?token=${token}`), { codecs: ['aac', 'h264'], faults: '' }),
    );
  await isPlayedAt(`${other.rtspUrl}/gate`);
  await isPlayedAt(`${other.url}/stream/hls/gate/index.m3u8`);
  assert.equal((await fetch(`${other.url}/stream/hls/gate/index.m3u8`)).status, 401);
  await undisturbed(t, async () => {
    const picture = await other.call('GET', '/api/cameras/gate/snapshot.jpg', { token: admin });
    assert.equal(picture.status, 200);
  });
  assert.equal(camera.connectionsSeen, 1);
  const { body } = await other.call('GET', '/api/cameras/gate', { token: admin });
  assert.deepEqual([body.state, body.record_error], ['streaming', '']);
  assert.doesNotMatch(owner.logText() + other.logText(), new RegExp(CLUSTER_KEY));
});

test('where a box can not be asked for the pictures of its camera, others say so, and why', {
  skip: withoutNats,
  timeout: 180_000,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const camera = await FakeCamera.start({ mounts: { '/main': { video: fixtures.h264High() } } });
  t.after(() => camera[Symbol.asyncDispose]());
  const untold = await startBox(t, servers.url, 'untold', { isFirst: true, address: '' });
  const other = await startBox(t, servers.url, 'other', { isFirst: false });
  // Its relay is at 127.0.0.1.
  const elsewhere = await startBox(t, servers.url, 'elsewhere', {
    isFirst: false,
    address: 'http://127.0.0.2:8080',
  });
  assert.match(untold.logText(), /BOX_ADDRESS is not set.*other boxes can't show the cameras of this one/);
  assert.doesNotMatch(other.logText() + elsewhere.logText(), /other boxes can't show/);
  const { admin } = untold.tokens;
  for (const box of ['untold', 'elsewhere']) {
    const made = { id: `at-${box}`, box, url: camera.url('/main') };
    assert.equal((await untold.asAdmin('POST', '/api/cameras', made)).status, 201);
  }
  const shown = async (id: string) => (await other.call('GET', `/api/cameras/${id}`, { token: admin })).body;
  const hls = (id: string) => fetch(`${other.url}/stream/hls/${id}/index.m3u8`);
  for (const box of ['untold', 'elsewhere'])
    await until(`${box} has its camera`, async () => {
      const { owner, state } = await shown(`at-${box}`);
      return owner === box && state === 'streaming';
    });
  const refused = await until('it is refused', async () => {
    const answer = await hls('at-untold');
    return answer.status === 503 ? answer : null;
  });
  assert.match(await refused.text(), /box untold has the camera, and tells no BOX_ADDRESS/);
  assert.match((await shown('at-untold')).last_error, /box untold has the camera/);
  const viewer = hls('at-elsewhere');
  await until('it is told why', async () =>
    /elsewhere at 127\.0\.0\.2:\d+ can't be reached: ECONNREFUSED/.test(
      (await shown('at-elsewhere')).last_error,
    ),
  );
  assert.equal((await shown('at-elsewhere')).state, 'streaming', 'it is recorded, or shown there');
  assert.equal((await viewer).status, 503);
});
