import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { type RunningService, recordsOf, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const login = { user: 'root', password: 'canary@pass/word' };
const auth = { ...login, schemes: ['digest-md5' as const] };

const setUp = async (t: TestContext) => {
  const camera = await FakeCamera.start({
    mounts: { '/main': { video: fixtures.h264High() }, '/sub': { video: fixtures.h264High() } },
    auth,
  });
  t.after(() => camera[Symbol.asyncDispose]());
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  return { camera, service, call };
};

type Call = Awaited<ReturnType<typeof setUp>>['call'];

const untilState = (call: Call, id: string, state: string) =>
  until(`${id} is ${state}`, async () => {
    const { body } = await call('GET', '/api/cameras');
    const found = body.find((camera: { id: string }) => camera.id === id);
    return found.state === state && found;
  });

const stopsCleanly = async (service: RunningService): Promise<void> => {
  assert.equal(await service.stop(), 0);
  assert.equal(service.err(), '');
  assert.doesNotMatch(service.out(), /canary/);
};

test('a camera that is added streams, with live figures in list, statistics and metrics', async (t) => {
  const { camera, service, call } = await setUp(t);
  await call('POST', '/api/cameras', { id: 'door', url: camera.url('/main', login) });
  await untilState(call, 'door', 'streaming');
  const live = await until('the figures are there', async () => {
    const [door] = (await call('GET', '/api/cameras')).body;
    return Math.abs(door.fps - 15) < 2 && door.uptime_sec >= 2 && door;
  });
  assert.deepEqual([live.codec, live.resolution, live.width, live.height], ['h264', '320x180', 320, 180]);
  assert.ok(live.bitrate > 0 && live.traffic_used_mb > 0 && live.last_error === '');
  const { body: stats } = await call('GET', '/api/stats');
  assert.deepEqual([stats.active_streams, stats.total_cameras], [1, 1]);
  assert.ok(stats.goroutines >= 2, "the main thread and the camera's, besides those of the archive");
  assert.ok(stats.total_fps > 0 && stats.total_bitrate_kbps > 0);
  const { text } = await call('GET', '/metrics');
  assert.match(text, /^svc_stream_online\{camera_id="door"\} 1$/m);
  assert.match(text, /^svc_stream_packets_lost_total\{camera_id="door"\} 0$/m);
  await stopsCleanly(service);
  await camera.until((one) => one.sessionsTornDown === 1 && one.openSockets === 0);
});

test('a change restarts just that camera, and only if it must', async (t) => {
  const { camera, service, call } = await setUp(t);
  await call('POST', '/api/cameras', { id: 'a', url: camera.url('/main', login) });
  await call('POST', '/api/cameras', { id: 'b', url: camera.url('/sub', login) });
  await untilState(call, 'a', 'streaming');
  await untilState(call, 'b', 'streaming');
  const connections = camera.connectionsSeen;
  await call('PUT', '/api/cameras/a', { comment: 'x', tags: ['t'], retention_days: 1, token_auth: true });
  await call('PUT', '/api/cameras/b', { url: camera.url('/main', login) });
  await untilState(call, 'b', 'streaming');
  assert.equal(camera.connectionsSeen, connections + 1);
  await call('DELETE', '/api/cameras/b');
  await camera.until((one) => one.playing === 1 && one.sessionsTornDown === 2);
  const { body } = await call('GET', '/api/cameras');
  assert.deepEqual([body.length, body[0].state], [1, 'streaming']);
  const { body: snapshot } = await call('GET', '/api/system/backup/export');
  snapshot.cameras[0].comment = 'imported';
  snapshot.cameras.push({ ...snapshot.cameras[0], id: 'c' });
  await call('POST', '/api/system/backup/import', snapshot);
  await untilState(call, 'c', 'streaming');
  assert.equal(camera.connectionsSeen, connections + 2, 'an import restarts nothing that is the same');
  await stopsCleanly(service);
});

test('a wrong password is an error that says so, and shows no password', async (t) => {
  const { camera, service, call } = await setUp(t);
  const wrong = { user: 'root', password: 'canary-wrong' };
  const token = await service.login('admin', service.adminPassword);
  const events = await openEvents(service.url, '/api/logs/stream?camera_id=a&level=warn', token);
  await call('POST', '/api/cameras', { id: 'b', url: camera.url('/main', login) });
  await call('POST', '/api/cameras', { id: 'a', url: camera.url('/main', wrong) });
  const refused = await untilState(call, 'a', 'error');
  assert.notEqual(refused.last_error, '');
  assert.doesNotMatch(refused.last_error, /canary/);
  // The log comes through a pipe: it may be behind the answer.
  const away = await until('the log tells it', () =>
    recordsOf(service.out()).find(({ msg }) => msg === 'camera is away'),
  );
  assert.deepEqual([away['camera_id'], away['code']], ['a', 'unauthorized']);
  await call('PUT', '/api/cameras/a', { url: camera.url('/main', login) });
  await untilState(call, 'a', 'streaming');
  assert.match(events.text(), /"camera_id":"a".*"msg":"camera is away"/);
  assert.doesNotMatch(events.text(), /"camera_id":"b"|"level":"info"|canary/);
  events.close();
  await stopsCleanly(service);
});
