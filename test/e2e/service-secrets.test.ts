import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** Planted where cameras and people put secrets, with the characters that break careless parsers. */
const canaries = ['canary-plain', 'canary@at/sl#sh', 'canary-query'] as const;
const PASSWORD = 'canary-of-a-user';
const needle = /canary/;

test('no output shows a planted password, token or hash: log, errors, metrics, events, lists for viewers', async (t) => {
  const DATA_DIR = tempFolder(t);
  const service = await startService({
    DATA_DIR,
    LOG_LEVEL: 'trace',
    MODELS_ORIGIN: 'http://user:canary-origin@127.0.0.1:9/',
    MQTT_URL: 'mqtt://canary-user:canary-broker@127.0.0.1:9',
  });
  t.after(() => service.process.kill('SIGKILL'));
  const admin = await service.login('admin', service.adminPassword);
  const asAdmin = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { token: admin, ...(body === undefined ? {} : { body }) });
  const events = await openEvents(service.url, '/api/logs/stream?level=trace', admin);
  const shown: string[] = [];
  const keep = ({ text, headers }: { text: string; headers: Headers }): void => {
    shown.push(text, JSON.stringify([...headers]));
  };

  keep(await asAdmin('POST', '/api/users', { username: 'eve', password: PASSWORD, role: 'viewer' }));
  keep(await asAdmin('POST', '/api/users', { username: 'eve', password: PASSWORD, role: 'viewer' }));
  keep(await asAdmin('PUT', '/api/users/eve', { password: `${PASSWORD}!`, role: 'no such role' }));
  const viewer = await service.login('eve', PASSWORD);
  const urls = [
    `rtsp://root:${canaries[0]}@127.0.0.1:9/1`,
    `rtsp://root:${canaries[1]}@127.0.0.1:9/1`,
    `rtsp://127.0.0.1:9/live?user=root&password=${canaries[2]}`,
  ];
  for (const [index, url] of urls.entries()) {
    const { status } = await asAdmin('POST', '/api/cameras', { id: `camera-${index}`, url, sub_url: url });
    assert.equal(status, 201);
    keep(await asAdmin('POST', '/api/cameras', { id: `camera-${index}`, url }));
    keep(await asAdmin('POST', '/api/cameras', { id: 'bad', url: url.replace('rtsp:', 'http:') }));
    keep(await asAdmin('POST', '/api/cameras', `{"id":"bad","url":"${url}`));
  }
  const hook = await asAdmin('POST', '/api/webhooks', {
    ...{ name: 'office', url: 'http://root:canary-hook@127.0.0.2.nip.invalid:9/' },
    secret: `whsec_${Buffer.from('canary-of-a-webhook-secret').toString('base64')}`,
  });
  assert.equal(hook.status, 201);
  const hookPath = `/api/webhooks/${hook.body.id}`;
  keep(await asAdmin('GET', '/api/webhooks'));
  keep(await asAdmin('PUT', hookPath, { url: 'http://root:canary-hook@' }));
  keep(await asAdmin('PUT', hookPath, { url: 'http://root:canary-hook@127.0.0.1:9/' }));
  keep(await asAdmin('POST', `${hookPath}/test`));
  const stream = await service.call('GET', '/api/cameras/camera-0/stream-token', { token: viewer });
  const made = await asAdmin('POST', '/api/keys', { name: 'robot', role: 'operator' });
  const key: string = made.body.key;
  const wrongKey = `framering_${'c0ffee'.repeat(10)}0000`;
  for (const token of [key, wrongKey]) {
    for (const path of [
      '/api/cameras',
      '/api/me',
      '/api/events',
      `/stream/hls/camera-0/index.m3u8?token=${token}`,
    ]) {
      const answer = await service.call('GET', path, { token });
      // Whoever may change a camera's address sees it.
      if (path !== '/api/cameras' || token === wrongKey) keep(answer);
    }
    keep(await asAdmin('POST', '/api/keys', { name: 'robot', role: 'operator', key: token }));
  }
  keep(await asAdmin('GET', '/api/keys'));
  keep(await asAdmin('POST', '/api/keys', { name: 'robot', role: 'operator' }));
  await until('the cameras were tried', async () => {
    const { body } = await asAdmin('GET', '/api/cameras');
    return body.every(({ last_error }: { last_error: string }) => last_error !== '');
  });
  for (const path of [
    '/api/cameras',
    '/api/tags',
    '/api/stats',
    '/api/users',
    `/stream/ws/camera-0?token=${viewer}`,
  ]) {
    keep(await service.call('GET', path, { token: viewer }));
    keep(await service.call('GET', path, { token: stream.body.token }));
  }
  keep(await service.call('POST', '/api/login', { body: { username: 'eve', password: `${PASSWORD}?` } }));
  keep(await service.call('GET', '/models/any.onnx'));
  keep(await service.call('GET', '/metrics'));
  keep(await service.call('GET', '/readyz'));
  keep(await asAdmin('GET', '/api/audit'));
  keep(await asAdmin('GET', '/api/settings'));
  const { body: users } = await asAdmin('GET', '/api/system/backup/export').then(({ body }) => ({
    body: body.users,
  }));
  events.close();
  assert.equal(await service.stop(), 0);

  const { password_hash } = (users as { username: string; password_hash: string }[]).find(
    ({ username }) => username === 'eve',
  )!;
  const secret = readFileSync(`${DATA_DIR}/jwt-secret`, 'utf8').trim();
  const log = service.out().replace(`password: ${service.adminPassword}`, '');
  const outputs = { log, errors: service.err(), events: events.text(), answers: shown.join('\n') };
  for (const [name, text] of Object.entries(outputs)) {
    assert.doesNotMatch(text, needle, name);
    const tokens = [hook.body.secret, admin, viewer, stream.body.token, key, wrongKey];
    for (const hidden of [...tokens, password_hash, secret, service.adminPassword]) {
      assert.ok(!text.includes(hidden), `${name} shows a secret`);
    }
  }
  assert.match(log, /camera is away/);
  assert.match(log, /the MQTT broker is away/);
});
