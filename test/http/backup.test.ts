import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

const fill = async (target: TestApp): Promise<void> => {
  const made = [
    await target.asAdmin('POST', '/api/tags', { id: 'indoor', name: 'Indoor ☂', color: '#00ff7F' }),
    await target.asAdmin('POST', '/api/folders', { id: 'house', name: 'House', parent_id: '' }),
    await target.asAdmin('POST', '/api/folders', { id: 'attic', name: 'Attic', parent_id: 'house' }),
    await target.asAdmin('POST', '/api/cameras', {
      id: 'cam.1',
      url: 'rtsp://root:p%40ss@127.0.0.1:9/1?x=1&y=2',
      record: true,
      retention_days: 30,
      tags: ['indoor', 'not-there'],
      folder_id: 'attic',
      comment: 'line one\nline "two"',
      sim_phone: '+49 170 0000',
      sim_iccid: '8949',
      lazy_hls: false,
      transport: 'udp',
      token_auth: true,
      traffic_limit: 500,
      detect: true,
      quirks: { certificate: 'verify', user_agent: 'Mozilla/5.0', keepalive: 'set_parameter' },
      detection: {
        labels: ['person'],
        min_score: 0.6,
        zones: [
          {
            name: 'gate',
            kind: 'include',
            points: [
              [0, 0],
              [1, 0],
              [0.5, 1],
            ],
          },
        ],
      },
      sub_url: 'rtsp://user:p%40ss@127.0.0.1:554/sub',
      on_demand: true,
    }),
    await target.asAdmin('POST', '/api/cameras', { id: 'cam.2', url: 'rtsps://127.0.0.1/2', disabled: true }),
  ];
  assert.deepEqual(
    made.map(({ status }) => status),
    [201, 201, 201, 201, 201],
  );
};

const exported = async (target: TestApp, token = target.tokens.admin) => {
  const { body } = await target.call('GET', '/api/system/backup/export', { token });
  const { exported_at, version, ...lists } = body;
  assert.equal(version, 3);
  assert.ok(Math.abs(Date.parse(exported_at) - Date.now()) < 60_000);
  return lists;
};

test('backup, wipe, import: everything is as it was, and everybody can log in as before', async (t) => {
  await fill(app);
  const { body: snapshot } = await app.asAdmin('GET', '/api/system/backup/export');
  const other = await startTestApp({
    withUsers: false,
    env: { JWT_SECRET: 'another service, another secret.' },
  });
  t.after(() => other.stop());
  const login = await other.call('POST', '/api/login', {
    body: { username: 'admin', password: other.adminPassword },
  });
  const token = login.body.token;
  const imported = await other.call('POST', '/api/system/backup/import', { token, body: snapshot });
  assert.deepEqual([imported.status, imported.body], [200, { message: 'backup restored successfully' }]);
  const refused = await other.call('GET', '/api/tags', { token });
  assert.equal(refused.status, 401, 'the admin of the wiped service is another one now');
  const back = await other.call('POST', '/api/login', {
    body: { username: 'admin', password: app.adminPassword },
  });
  assert.deepEqual(await exported(other, back.body.token), await exported(app));
  const viewer = await other.call('POST', '/api/login', {
    body: { username: 'viewer', password: USER_PASSWORD },
  });
  assert.equal(viewer.status, 200);
});

test('an import that changes nothing of a user or a source keeps tokens and streams', async () => {
  const snapshot = await exported(app);
  app.told.length = 0;
  snapshot.cameras[0].comment = 'changed';
  const { status } = await app.asAdmin('POST', '/api/system/backup/import', snapshot);
  assert.equal(status, 200);
  assert.equal(app.told.length, 0);
  assert.equal((await app.asAdmin('GET', '/api/cameras')).body[0].comment, 'changed');
  assert.equal((await app.call('GET', '/api/tags', { token: app.tokens.viewer })).status, 200);
});

test('a changed user of an import loses the tokens', async () => {
  const snapshot = await exported(app);
  const operator = snapshot.users.find(({ role }: { role: string }) => role === 'operator');
  operator.role = 'viewer';
  await app.asAdmin('POST', '/api/system/backup/import', snapshot);
  const { status, body } = await app.call('GET', '/api/tags', { token: app.tokens.operator });
  assert.deepEqual([status, body.code], [401, 'token_revoked']);
});

test('a broken snapshot changes nothing, and all of its faults are told at once', async () => {
  const before = await exported(app);
  const broken = structuredClone(before);
  broken.surely = 1;
  broken.cameras[0].url = 'http://not.rtsp/';
  broken.cameras[1].fps = 25;
  broken.cameras.push({ ...before.cameras[1] });
  broken.tags[0].color = 'red';
  broken.folders[1].parent_id = 'attic';
  broken.folders.push({ id: 'lost', name: 'Lost', parent_id: 'nowhere' });
  broken.users = broken.users.filter(({ role }: { role: string }) => role !== 'admin');
  broken.users[0].password_hash = 'plain text';
  const { status, body } = await app.asAdmin('POST', '/api/system/backup/import', broken);
  assert.equal(status, 400);
  assert.deepEqual(body.errors.map(({ path }: { path: string }) => path).sort(), [
    'cameras[0].url',
    'cameras[1].fps',
    'cameras[2].id',
    'folders[0].parent_id',
    'folders[1].parent_id',
    'folders[2].parent_id',
    'surely',
    'tags[0].color',
    'users',
    'users[0].password_hash',
  ]);
  assert.deepEqual(await exported(app), before);
  for (const wrong of [{}, { cameras: 7, tags: null }, { ...before, version: 4 }, { ...before, users: [] }]) {
    assert.equal((await app.asAdmin('POST', '/api/system/backup/import', wrong)).status, 400);
  }
  assert.deepEqual(await exported(app), before);
});

test('a snapshot of thousands of cameras is taken in', async () => {
  const before = await exported(app);
  const cameras = Array.from({ length: 5_000 }, (_, index) => ({
    id: `many-${String(index).padStart(4, '0')}`,
    url: 'rtsp://root:x@127.0.0.1/1',
    comment: 'x'.repeat(500),
    disabled: true,
  }));
  const { status } = await app.asAdmin('POST', '/api/system/backup/import', { ...before, cameras });
  assert.equal(status, 200);
  assert.equal((await app.asAdmin('GET', '/api/cameras')).body.length, 5_000);
  await app.asAdmin('POST', '/api/system/backup/import', before);
  assert.deepEqual(await exported(app), before);
});
