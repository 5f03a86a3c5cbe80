import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { launchChromium } from '../support/browser/chromium.js';
import { playWebSocket } from '../support/browser/websocket-player.js';
import type { VideoStream } from '../support/elementary-stream.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { assertOfSource, picturesOf, sources } from '../support/source-pictures.js';
import { tempFolder } from '../support/temp-folder.js';
import { undisturbed } from '../support/undisturbed.js';
import { until } from '../support/until.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';

/** The service with a camera for each stream, all of them streaming. */
const setUp = async (t: TestContext, streams: Readonly<Record<string, VideoStream>>) => {
  const mounts = Object.entries(streams).map(([id, video]) => [`/${id}`, { video }]);
  const camera = await FakeCamera.start({ mounts: Object.fromEntries(mounts) });
  t.after(() => camera[Symbol.asyncDispose]());
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  for (const id of Object.keys(streams)) {
    await call('POST', '/api/cameras', { id, url: camera.url(`/${id}`) });
  }
  const list = async (): Promise<{ id: string; state: string; viewers: number }[]> =>
    (await call('GET', '/api/cameras')).body;
  await until('all cameras stream', async () => (await list()).every(({ state }) => state === 'streaming'));
  const watch = (id: string, query = ''): WebSocketViewer => {
    const viewer = new WebSocketViewer(`${service.url.replace(/^http/, 'ws')}/stream/ws/${id}${query}`);
    t.after(() => viewer.webSocket.terminate());
    return viewer;
  };
  const drops = async (): Promise<number> => {
    const { text } = await call('GET', '/metrics');
    return Number(/^svc_buffer_drops_total\{camera_id="door"\} (\d+)$/m.exec(text)?.[1]);
  };
  const end = async (): Promise<void> => {
    service.process.kill('SIGKILL');
    await camera[Symbol.asyncDispose]();
  };
  return { camera, service, call, list, watch, drops, end };
};

test('what ffmpeg decodes of a WebSocket are the pictures of the source', async (t) => {
  const cases = sources();
  const { watch } = await setUp(t, Object.fromEntries(cases.map(([id, , , stream]) => [id, stream])));
  const all: WebSocketViewer[] = [];
  await undisturbed(t, async () => {
    const viewers = cases.map(([id]) => watch(id));
    all.push(...viewers);
    await Promise.all(viewers.map((viewer) => viewer.untilFrames(65)));
    for (const [index, source] of cases.entries()) {
      const viewer = viewers[index]!;
      const path = join(tempFolder(t), source[0]);
      writeFileSync(path, viewer.dump);
      await assertOfSource(path, source);
    }
  });
  for (const { faults } of all) assert.deepEqual(faults, []);
});

test('Chromium shows a camera, and finds nothing wrong with what comes', async (t) => {
  const { service } = await setUp(t, { door: fixtures.h264High() });
  const browser = await launchChromium();
  t.after(() => browser.close());
  await using player = await playWebSocket(browser, `${service.url.replace(/^http/, 'ws')}/stream/ws/door`);
  const { faults, keyFrames, width } = await player.until(
    'it shows pictures',
    (stats) => stats.framesDecoded > 40 || stats.faults.length > 0,
  );
  assert.deepEqual([faults, width], [[], 320]);
  assert.ok(keyFrames >= 2);
  assert.equal(await service.stop(), 0);
  const { closeCode } = await player.until('it is told of the end', (stats) => stats.closeCode !== null);
  assert.equal(closeCode, 1001);
});

const stallOne = async (
  t: TestContext,
  { watch, drops }: Awaited<ReturnType<typeof setUp>>,
): Promise<void> => {
  const [healthy, stalled] = [watch('door'), watch('door')];
  await Promise.all([healthy.untilFrames(15), stalled.untilFrames(15)]);
  stalled.webSocket.pause();
  const atStall = healthy.frames.length;
  await healthy.untilFrames(atStall + 150);
  const atResume = healthy.frames.length;
  stalled.webSocket.resume();
  await until('it sees what the other one sees', () => {
    const now = stalled.frames.at(-1)?.timestampUs ?? 0;
    return now >= (healthy.frames[atResume + 20]?.timestampUs ?? Number.POSITIVE_INFINITY);
  });
  const lost = (): number => {
    const [first, last] = [stalled.frames[0]!.timestampUs, stalled.frames.at(-1)!.timestampUs];
    const shown = healthy.frames.filter(({ timestampUs }) => timestampUs >= first && timestampUs <= last);
    return shown.length - stalled.frames.length;
  };
  // What is lost just now is counted before the next frame shows it, and told within a second.
  let counted = 0;
  await until(
    'what was counted is what it lost',
    async () => {
      counted = await drops();
      return counted === lost();
    },
    { describe: () => `${counted} counted, ${lost()} lost` },
  );
  assert.ok(lost() > 40, 'it lost most of what it did not read');
  const steps = healthy.frames.slice(1).map((frame, n) => frame.timestampUs - healthy.frames[n]!.timestampUs);
  assert.ok(Math.max(...steps) < 100_000, 'the other viewer lost nothing');
  const path = join(tempFolder(t), 'stalled');
  const got = stalled.frames.length;
  writeFileSync(path, stalled.dump);
  assert.equal((await picturesOf('h264', path)).length, got, 'every frame it got can be decoded');
  assert.deepEqual([...healthy.faults, ...stalled.faults], []);
};

test('a viewer that reads nothing for 10 s is back at the live edge, its losses counted exactly', (t) =>
  undisturbed(t, async () => {
    const scene = await setUp(t, { door: fixtures.h264Large() });
    await stallOne(t, scene).finally(() => scene.end());
  }));

test('viewers are counted, let in by token, kept while the camera is away, and told why they must go', async (t) => {
  const { camera, service, call, list, watch } = await setUp(t, { door: fixtures.h264High() });
  const open = watch('door');
  await open.untilFrames(1);
  assert.deepEqual(
    (await list()).map(({ viewers }) => viewers),
    [1],
  );
  camera.resetConnections();
  const before = open.frames.length;
  await open.untilFrames(before + 30);
  assert.deepEqual(open.faults, [], 'after the camera came back time goes on');

  await call('PUT', '/api/cameras/door', { token_auth: true });
  assert.equal(await open.untilClosed(), 4403);
  const stranger = watch('door');
  await until('it is refused', () => stranger.faults.length > 0);
  assert.match(stranger.faults[0]!, /401/);
  const { token } = (await call('GET', '/api/cameras/door/stream-token')).body;
  const invited = watch('door', `?token=${token}`);
  await invited.untilFrames(1);
  assert.equal(invited.configs.length, 1);
  await call('DELETE', '/api/cameras/door');
  assert.equal(await invited.untilClosed(), 4404);

  await call('POST', '/api/cameras', { id: 'door', url: camera.url('/door') });
  await until('it streams again', async () => (await list())[0]?.state === 'streaming');
  const last = watch('door');
  await last.untilFrames(1);
  const [code, exit] = await Promise.all([last.untilClosed(), service.stop()]);
  assert.deepEqual([code, exit, service.err()], [1001, 0, '']);
});
