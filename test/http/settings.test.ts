import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { JWT_SECRET, startTestApp, type TestApp } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp({
    env: {
      RECORD_FILE_SECONDS: '600',
      WEBRTC_PUBLIC_IPS: '192.0.2.1',
      MODELS_ORIGIN: 'http://u:s3cret@127.0.0.1/',
    },
  });
});
after(() => app.stop());

const machineZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const zoneOf = async (role: 'viewer' | 'admin'): Promise<string> =>
  (await app.call('GET', '/api/me', { token: app.tokens[role] })).body.time_zone;

test('the zone of the site is set by an admin, kept, and told to everybody', async () => {
  assert.equal(await zoneOf('viewer'), machineZone);
  const { body } = await app.asAdmin('PUT', '/api/settings', { time_zone: 'Europe/Berlin' });
  assert.deepEqual([body.time_zone, body.service.time_zone], ['Europe/Berlin', 'Europe/Berlin']);
  assert.equal(await zoneOf('viewer'), 'Europe/Berlin');
  assert.deepEqual((await app.asAdmin('GET', '/api/settings')).body, body);
  assert.equal((await app.asAdmin('PUT', '/api/settings', { ...body, time_zone: '' })).status, 200);
  assert.equal(await zoneOf('admin'), machineZone);
});

test('what is no zone is refused, and changes nothing', async () => {
  await app.asAdmin('PUT', '/api/settings', { time_zone: 'America/Sao_Paulo' });
  for (const time_zone of ['Berlin', '+01:00', 'x'.repeat(65), 'Europe/Berlin\n', 7]) {
    const { status, body } = await app.asAdmin('PUT', '/api/settings', { time_zone });
    assert.deepEqual([status, body.errors[0].path], [400, 'time_zone'], String(time_zone));
  }
  assert.equal((await app.asAdmin('PUT', '/api/settings', { log_level: 'debug' })).status, 400);
  assert.equal(await zoneOf('viewer'), 'America/Sao_Paulo');
});

test('how the service was started can be read, without secrets and paths', async () => {
  const { body, text } = await app.asAdmin('GET', '/api/settings');
  const { version, https, record_file_seconds, webrtc_public_ips, trust_proxy, mqtt } = body.service;
  assert.equal(mqtt, null);
  assert.deepEqual(
    { version, https, record_file_seconds, webrtc_public_ips, trust_proxy },
    {
      version: '1.2.3-test',
      https: null,
      record_file_seconds: 600,
      webrtc_public_ips: ['192.0.2.1'],
      trust_proxy: false,
    },
  );
  for (const secret of [JWT_SECRET, 's3cret', app.dataDir]) assert.ok(!text.includes(secret));
});

test('settings and layouts are part of a backup; one of former days leaves both as they are', async () => {
  await app.asAdmin('PUT', '/api/settings', { time_zone: 'Asia/Tokyo' });
  const { body: layout } = await app.asAdmin('POST', '/api/layouts', { name: 'kept', grid: '3x3' });
  const { body: snapshot } = await app.asAdmin('GET', '/api/system/backup/export');
  assert.equal(snapshot.version, 3);
  const restore = async (body: object): Promise<void> => {
    const { status, text } = await app.asAdmin('POST', '/api/system/backup/import', body);
    assert.equal(status, 200, text);
  };
  const now = async () => [
    await zoneOf('admin'),
    (await app.asAdmin('GET', '/api/layouts')).body.map(({ name }: { name: string }) => name),
  ];
  await app.asAdmin('PUT', '/api/settings', { time_zone: 'UTC' });
  await app.asAdmin('DELETE', `/api/layouts/${layout.id}`);
  await app.asAdmin('POST', '/api/layouts', { name: 'later' });
  const { layouts: _, settings: __, ...lists } = snapshot;
  await restore({ ...lists, version: 1 });
  assert.deepEqual(await now(), ['UTC', ['later']]);
  await restore(snapshot);
  assert.deepEqual(await now(), ['Asia/Tokyo', ['kept']]);
  assert.deepEqual((await app.asAdmin('GET', `/api/layouts/${layout.id}`)).body, layout);
});

test('a backup whose layouts can not be is refused with every fault', async () => {
  const { body: snapshot } = await app.asAdmin('GET', '/api/system/backup/export');
  const [layout] = snapshot.layouts;
  const layouts = [
    layout,
    layout,
    { ...layout, id: 'b', owner: 'nobody' },
    { ...layout, id: 'c', owner: '', shared: true },
    { ...layout, id: 'd', owner: '' },
    { ...layout, id: 'e', grid: '9x9' },
  ];
  const { status, body } = await app.asAdmin('POST', '/api/system/backup/import', {
    ...snapshot,
    layouts,
    settings: { time_zone: 'Mars' },
    version: 4,
  });
  assert.equal(status, 400);
  assert.deepEqual(body.errors.map(({ path }: { path: string }) => path).sort(), [
    'layouts[1].id',
    'layouts[2].owner',
    'layouts[4].owner',
    'layouts[5].grid',
    'settings.time_zone',
    'version',
  ]);
  assert.deepEqual((await app.asAdmin('GET', '/api/system/backup/export')).body.layouts, snapshot.layouts);
});
