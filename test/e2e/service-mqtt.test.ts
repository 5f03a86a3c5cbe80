import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { freePort, Mosquitto } from '../support/mosquitto.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

test('a broker that takes the connection and says nothing keeps the service neither from its start nor from its end', async (t) => {
  let asked = 0;
  const server = createServer((socket) => {
    asked++;
    socket.on('error', () => {}).resume();
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.after(() => server.close());
  const service = await startService({ DATA_DIR: tempFolder(t), MQTT_URL: `mqtt://127.0.0.1:${port}` });
  t.after(() => service.process.kill('SIGKILL'));
  await until('it asked', () => asked > 0);
  assert.equal(await service.stop(), 0);
});

test('a broker knows how the cameras are, and that the service is gone, be it killed', async (t) => {
  const broker = await Mosquitto.start(t);
  await using camera = await FakeCamera.start({ mounts: { '/gate': { video: fixtures.h264Large() } } });
  const env = { DATA_DIR: tempFolder(t), MQTT_URL: broker.url, MQTT_PREFIX: 'site/a' };
  const heard = await broker.listen(['site/#']);
  const first = await startService(env);
  t.after(() => first.process.kill('SIGKILL'));
  const token = await first.login('admin', first.adminPassword);
  const url = camera.url().replace('://', '://root:canary@');
  await first.call('POST', '/api/cameras', { token, body: { id: 'gate', url, record: true } });
  const lastOf = (topic: string): string | undefined => heard.findLast((one) => one.topic === topic)?.payload;
  const stateOf = () => JSON.parse(lastOf('site/a/cameras/gate/state') ?? '{}');
  await until('the camera is recorded', () => stateOf().recording === true, {
    describe: () => JSON.stringify(stateOf()),
  });
  assert.deepEqual([stateOf().state, stateOf().codec, stateOf().last_error], ['streaming', 'h264', '']);
  await until('it is there', () => lastOf('site/a/available') === 'online');
  await until('the storage is told', () => lastOf('site/a/storage') !== undefined);
  assert.equal(lastOf('site/a/storage'), '{"fault":""}');
  const settings = await first.call('GET', '/api/settings', { token });
  const { connected_since, waiting, ...mqtt } = settings.body.service.mqtt;
  assert.ok(Math.abs(Date.parse(connected_since) - Date.now()) < 120_000);
  const wanted = { broker: `127.0.0.1:${broker.port}`, prefix: 'site/a', last_error: '' };
  assert.deepEqual(mqtt, { ...wanted, dropped: 0 });
  assert.equal(typeof waiting, 'number');
  const metrics = await (await fetch(`${first.metricsUrl}/metrics`)).text();
  assert.match(metrics, /^svc_mqtt_connected 1$/m);
  assert.match(metrics, /^svc_mqtt_messages_total\{outcome="dropped"\} 0$/m);

  first.process.kill('SIGKILL');
  await once(first.process, 'exit');
  await until('the broker tells its will', () => lastOf('site/a/available') === 'offline');
  assert.equal((await broker.retained('site/a/available')).get('site/a/available'), 'offline');

  const second = await startService(env);
  t.after(() => second.process.kill('SIGKILL'));
  await until('it is there again', () => lastOf('site/a/available') === 'online');
  await camera[Symbol.asyncDispose]();
  const events = () =>
    heard.filter(({ topic }) => topic === 'site/a/events').map(({ payload }) => JSON.parse(payload));
  const lost = await until(
    'the camera is lost',
    () => events().find(({ event }) => event.type === 'camera_lost'),
    { deadlineMs: 60_000 },
  );
  // Whoever heard of an event finds it, whatever became of the service in that moment.
  second.process.kill('SIGKILL');
  await once(second.process, 'exit');
  assert.deepEqual([lost.type, lost.event.camera_id], ['new', 'gate']);
  const third = await startService(env);
  t.after(() => third.process.kill('SIGKILL'));
  const thirdToken = await third.login('admin', first.adminPassword);
  const found = await third.call('GET', '/api/events?type=camera_lost', { token: thirdToken });
  assert.ok(found.text.includes(lost.event.id), found.text);
  const stateOfLost = await until('its state says why', () => stateOf().last_error !== '' && stateOf());
  assert.match(stateOfLost.last_error, /its address/);
  assert.equal(await third.stop(), 0);
  await until('it took its leave', () => lastOf('site/a/available') === 'offline');
  const cameraPlace = new URL(camera.url()).host;
  assert.ok(!JSON.stringify(heard).includes(cameraPlace), 'nobody hears where cameras are');
  assert.doesNotMatch(JSON.stringify(heard) + first.out() + second.out() + third.out(), /canary/);
});
