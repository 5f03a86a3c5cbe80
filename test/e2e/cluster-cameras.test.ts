import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { spawnCameraWorker } from '../../src/camera/fleet/worker-thread.js';
import { DEAD_MAN_MS } from '../../src/onvif/ptz/drive.js';
import { modern } from '../analytics/documents.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { FakeDevice } from '../support/onvif/fake-device.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { parseWebVtt } from '../support/webvtt.js';

const CLUSTER_KEY = 'a secret that all boxes of the cluster have';
const options = { skip: withoutNats, timeout: 180_000 };
/** Whoever says twice within this that a camera is to move surely says it again before the camera is stopped. */
const QUICK_MS = 400;

type TwoBoxes = { readonly owner: TestApp; readonly other: TestApp; readonly servers: NatsServers };

/** Two boxes, of which the first one is to have the cameras, and a person who knows both. */
const startBoxes = async (t: TestContext): Promise<TwoBoxes> => {
  const servers = await NatsServers.start(t, { count: 1 });
  const start = async (name: string, withUsers: boolean): Promise<TestApp> => {
    const env = {
      ...{ CLUSTER_URL: servers.url, CLUSTER_KEY, BOX_NAME: name },
      // The others take the host of it alone.
      BOX_ADDRESS: 'http://127.0.0.1:8080',
    };
    const app = await startTestApp({ spawn: spawnCameraWorker, withUsers, env });
    t.after(() => app.stop());
    return app;
  };
  return { servers, owner: await start('owner', true), other: await start('other', false) };
};

const addCamera = async ({ owner, other }: TwoBoxes, settings: Record<string, unknown>): Promise<void> => {
  const { status } = await owner.asAdmin('POST', '/api/cameras', { box: 'owner', ...settings });
  assert.equal(status, 201);
  const token = owner.tokens.admin;
  await until('the other box sees whose it is', async () => {
    const { body } = await other.call('GET', `/api/cameras/${settings['id']}`, { token });
    return body.owner === 'owner';
  });
};

test(
  'what a camera sees is in the subtitles at a box that has it of another, and its events are one box’s',
  options,
  async (t) => {
    const boxes = await startBoxes(t);
    const { owner, other } = boxes;
    const camera = await FakeCamera.start({
      mounts: { '/gate': { video: fixtures.h264Baseline(), hasMetadata: true } },
    });
    t.after(() => camera[Symbol.asyncDispose]());
    await addCamera(boxes, { id: 'gate', url: camera.url('/gate'), lazy_hls: false });
    await camera.until(({ playing }) => playing === 1);
    const walking = setInterval(() => {
      const atMs = Date.now() - 300;
      const objects = [{ id: '9', likelihood: 0.87, box: [0.25, 0.25, 0.125, 0.5] as const }];
      camera.sendMetadata(modern(0, objects), { wallMs: atMs, packetBytes: 300 });
    }, 100);
    t.after(() => clearInterval(walking));
    const token = owner.tokens.admin;
    const cues = async (app: TestApp): Promise<string[]> => {
      const { status, text: playlist } = await app.call('GET', '/stream/hls/gate/subs.m3u8', { token });
      if (status !== 200) return [];
      const names = playlist.split('\n').filter((line: string) => line.startsWith('subs_'));
      const files = await Promise.all(
        names.map((name: string) => app.call('GET', `/stream/hls/gate/${name}`, { token })),
      );
      return files.flatMap(({ text }) => parseWebVtt(text).cues.map((cue) => cue.text));
    };
    const [theirs, own] = await until(
      'both boxes have them',
      async () => {
        const both = [await cues(other), await cues(owner)] as const;
        return both[0].length > 10 && both;
      },
      { deadlineMs: 60_000 },
    );
    const known = new Set([...own, ...(await cues(owner))]);
    assert.ok(theirs.filter((cue) => known.has(cue)).length > 5, 'they are the same');
    const eventsAt = async (app: TestApp) =>
      (await app.call('GET', '/api/events?type=detection', { token })).body;
    assert.deepEqual([(await eventsAt(owner)).length, (await eventsAt(other)).length], [1, 0]);
    assert.equal(camera.connectionsSeen, 1);
  },
);

test(
  'any box moves a camera, which the one moves that has it, and stops it when nobody says so any more',
  options,
  async (t) => {
    const boxes = await startBoxes(t);
    const { owner, other, servers } = boxes;
    const stream = {
      token: 'main',
      codec: 'H264',
      width: 1280,
      height: 720,
      uri: 'rtsp://x/1',
      hasPtz: true,
    };
    const device = await FakeDevice.start({
      ...{ prefix: 's', auth: 'token', media: ['media'], faultStatus: 400, hasPtz: true, streams: [stream] },
    });
    const onvif = { address: device.address, profile: 'main' };
    await addCamera(boxes, { id: 'dome', url: 'rtsp://admin:secret@127.0.0.1:1/1', onvif });
    const token = owner.tokens.admin;
    const atOther = (method: string, path: string, body?: unknown) =>
      other.call(method, `/api/cameras/dome${path}`, { token, ...(body === undefined ? {} : { body }) });
    await until('it can be moved there', async () => (await atOther('GET', '')).body.ptz === true);
    const requestsOf = (operation: string): number =>
      device.asked.filter(({ operation: name }) => name === operation).length;
    const movementsKept = async (): Promise<number> =>
      (await other.call('GET', '/api/audit?action=move_camera', { token })).body.length;
    const before = await until('it is told twice in time', async () => {
      const kept = await movementsKept();
      const atFirst = { kept, moves: requestsOf('ContinuousMove'), stops: requestsOf('Stop') };
      const beganMs = performance.now();
      const moved = await atOther('POST', '/ptz', { pan: 0.5 });
      const again = await atOther('POST', '/ptz', { pan: 0.5 });
      const endedMs = performance.now();
      assert.deepEqual([moved.status, again.status], [200, 200]);
      if (endedMs - beganMs < QUICK_MS) {
        assert.deepEqual(moved.body, { moving: true });
        return atFirst;
      }
      // It was stopped in between, perhaps, and moved anew. No box takes that for the same movement any more.
      const hasStopped = () => requestsOf('Stop') === requestsOf('ContinuousMove');
      await until('it stands', () => hasStopped() && performance.now() - endedMs > DEAD_MAN_MS);
      return null;
    });
    assert.equal(requestsOf('ContinuousMove') - before.moves, 1);
    await until('it was stopped', () => requestsOf('Stop') - before.stops === 1);
    assert.equal(requestsOf('GetProfiles'), 1, 'one box alone knows the camera');
    const kept = await atOther('POST', '/ptz/presets', { name: 'Door' });
    assert.deepEqual([kept.status, kept.body.name], [201, 'Door']);
    const { body: presets } = await atOther('GET', '/ptz/presets');
    assert.deepEqual(presets, (await owner.call('GET', '/api/cameras/dome/ptz/presets', { token })).body);
    assert.equal((await atOther('POST', '/ptz', { preset: kept.body.token })).status, 200);
    assert.equal((await atOther('DELETE', `/ptz/presets/${kept.body.token}`)).status, 200);
    const moreKept = (await movementsKept()) - before.kept;
    assert.equal(moreKept, 2, 'one movement is one record, at the box that was asked');
    await device.stop();
    const refused = await atOther('GET', '/ptz/presets');
    assert.deepEqual([refused.status, refused.body.code], [502, 'camera_unreachable']);
    await servers.kill();
    const lost = await until('nobody can be asked', async () => {
      const answer = await atOther('GET', '/ptz/presets');
      return answer.body.code === 'box_unreachable' && answer;
    });
    assert.deepEqual([lost.status, /owner/.test(lost.body.detail)], [502, true]);
  },
);
