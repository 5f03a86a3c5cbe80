import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { writeClosed } from '../archive/recording-file.js';
import { tempFolder } from '../support/temp-folder.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

const FORWARDED = '203.0.113.9';
/** So that the address of a client is something to tell apart. */
const headers = { 'x-forwarded-for': FORWARDED };

let app: TestApp;
before(async () => {
  app = await startTestApp({ env: { TRUST_PROXY: 'loopback', LOG_LEVEL: 'error' } });
});
after(() => app.stop());

type AuditRecord = Readonly<Record<string, unknown>> & { readonly action: string };

const lines = (): string[] =>
  app
    .logText()
    .split('\n')
    .filter((line) => line.includes('"audit":true'));

/** What was audited while `work` ran, without what differs each time. */
const auditedBy = async (work: () => Promise<unknown>): Promise<AuditRecord[]> => {
  const count = lines().length;
  await work();
  return lines()
    .slice(count)
    .map((line) => {
      const { time, level: _level, msg: _msg, audit, request_id, ...rest } = JSON.parse(line);
      assert.ok(!Number.isNaN(Date.parse(time)));
      assert.equal(audit, true);
      assert.match(request_id, /^[0-9a-f-]{36}$/);
      return rest;
    });
};

const as = async (token: string, method: string, path: string, body?: unknown): Promise<number> =>
  (await app.call(method, path, { token, headers, ...(body === undefined ? {} : { body }) })).status;

const login = async (username: string, password: string, ip = FORWARDED): Promise<number> => {
  const from = { 'x-forwarded-for': ip };
  return (await app.call('POST', '/api/login', { body: { username, password }, headers: from })).status;
};

/** Each is another one: of one that is wrong only the first use is told. */
const guessKey = async (ip: string): Promise<number> => {
  const from = { 'x-forwarded-for': ip };
  const token = `framering_${randomBytes(32).toString('hex')}`;
  return (await app.call('GET', '/api/cameras', { token, headers: from })).status;
};

test('each login and each failed one says who, from where and why; never what was typed as a name in error', async () => {
  const from = { ip: FORWARDED };
  assert.deepEqual(await auditedBy(() => login('viewer', USER_PASSWORD)), [
    { action: 'login', ...from, user: 'viewer' },
  ]);
  assert.deepEqual(await auditedBy(() => login('viewer', 'my wrong secret')), [
    { action: 'login_failed', ...from, user: 'viewer', reason: 'bad_credentials' },
  ]);
  const nameless = await auditedBy(() => login('my-password-in-the-wrong-field', 'x'));
  assert.deepEqual(nameless, [{ action: 'login_failed', ...from, reason: 'bad_credentials' }]);
  const many = await auditedBy(async () => {
    for (let tries = 0; tries < 9; tries++) await login('viewer', 'my wrong secret');
  });
  assert.deepEqual(many.at(-1), {
    action: 'login_failed',
    ...from,
    user: 'viewer',
    reason: 'too_many_attempts',
  });
  assert.doesNotMatch(app.logText(), /my wrong secret|wrong-field/);
});

test('each change says who made it, of what, and which fields', async () => {
  const { admin, operator } = app.tokens;
  const url = 'rtsp://root:s3cret@127.0.0.1/1';
  const expected: AuditRecord[] = [];
  const happened = (user: string, action: string, about: object): void =>
    void expected.push({ action, ip: FORWARDED, user, ...about });
  const seen = await auditedBy(async () => {
    await as(operator, 'POST', '/api/cameras', { id: 'door', url, disabled: true });
    happened('operator', 'create_camera', { camera_id: 'door' });
    const whole = (await app.asAdmin('GET', '/api/cameras')).body[0];
    await as(admin, 'PUT', '/api/cameras/door', { ...whole, comment: 'x', url: 'rtsp://a:b2@127.0.0.1/2' });
    happened('admin', 'update_camera', { camera_id: 'door', fields: ['comment', 'url'] });
    await as(admin, 'DELETE', '/api/cameras/door');
    happened('admin', 'delete_camera', { camera_id: 'door' });
    await as(admin, 'POST', '/api/tags', { id: 't', name: 'Tag', color: '#aAbB09' });
    happened('admin', 'create_tag', { target: 't' });
    await as(admin, 'PUT', '/api/tags/t', { id: 't', name: 'Tag', color: '#000000' });
    happened('admin', 'update_tag', { target: 't', fields: ['color'] });
    await as(admin, 'DELETE', '/api/tags/t');
    happened('admin', 'delete_tag', { target: 't' });
    await as(admin, 'POST', '/api/folders', { id: 'f', name: 'Folder' });
    happened('admin', 'create_folder', { target: 'f' });
    await as(admin, 'DELETE', '/api/folders/f');
    happened('admin', 'delete_folder', { target: 'f' });
    await as(admin, 'POST', '/api/users', { username: 'eve', password: 'typed once', role: 'viewer' });
    happened('admin', 'create_user', { target: 'eve', role: 'viewer' });
    await as(admin, 'PUT', '/api/users/eve', { password: 'typed twice', role: 'operator' });
    happened('admin', 'update_user', { target: 'eve', fields: ['password', 'role'], role: 'operator' });
    await as(admin, 'DELETE', '/api/users/eve');
    happened('admin', 'delete_user', { target: 'eve' });
    const layout = await app.call('POST', '/api/layouts', { token: admin, headers, body: { name: 'wall' } });
    const { id } = layout.body;
    happened('admin', 'create_layout', { target: id });
    const known = { token: admin, headers: { ...headers, 'if-match': '*' } };
    await app.call('PUT', `/api/layouts/${id}`, { ...known, body: { name: 'a wall', grid: '2x2' } });
    happened('admin', 'update_layout', { target: id, fields: ['name'] });
    await as(admin, 'DELETE', `/api/layouts/${id}`);
    happened('admin', 'delete_layout', { target: id });
    await as(admin, 'PUT', '/api/settings', { time_zone: 'UTC' });
    happened('admin', 'update_settings', { fields: ['time_zone'] });
    const hook = { name: 'office', url: 'https://u:hookpass@192.0.2.1/' };
    const made = await app.call('POST', '/api/webhooks', { token: admin, headers, body: hook });
    const target = made.body.id;
    happened('admin', 'create_webhook', { target });
    await as(admin, 'PUT', `/api/webhooks/${target}`, { ...hook, name: 'home' });
    happened('admin', 'update_webhook', { target, fields: ['name'] });
    const renewed = await app.call('POST', `/api/webhooks/${target}/secret`, { token: admin, headers });
    happened('admin', 'renew_webhook_secret', { target });
    await as(admin, 'DELETE', `/api/webhooks/${target}`);
    happened('admin', 'delete_webhook', { target });
    for (const { secret } of [made.body, renewed.body]) assert.ok(!app.logText().includes(secret));
    const { body: snapshot } = await app.call('GET', '/api/system/backup/export', { token: admin, headers });
    happened('admin', 'export_backup', {});
    await as(admin, 'POST', '/api/system/backup/import', snapshot);
    happened('admin', 'restore_backup', {
      cameras: 0,
      tags: 0,
      folders: 0,
      users: 4,
      layouts: 0,
      keys: 0,
      webhooks: 0,
    });
  });
  assert.deepEqual(seen, expected);
  assert.doesNotMatch(app.logText(), /s3cret|hookpass|b2@|typed (once|twice)|scrypt/);
});

test('an export says of which camera and what; to look at its head is none', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'film', url: 'rtsp://127.0.0.1/1', disabled: true });
  const fileName = writeClosed(join(app.dataDir, 'recordings/film'), { startMs: Date.now() - 60_000 });
  const path = `/api/cameras/film/export?file=${fileName}`;
  const seen = await auditedBy(async () => {
    assert.equal(await as(app.tokens.service, 'HEAD', path), 200);
    assert.equal(await as(app.tokens.service, 'GET', path), 200);
    assert.equal(await as(app.tokens.viewer, 'GET', `${path}&start_seq=0&end_seq=1`), 200);
    assert.equal(await as(app.tokens.viewer, 'GET', '/api/cameras/film/export?file=none'), 400);
  });
  const about = { ip: FORWARDED, camera_id: 'film', file: fileName };
  assert.deepEqual(seen, [
    { action: 'export_recording', user: 'service', ...about },
    { action: 'export_recording', user: 'viewer', ...about, start_seq: 0, end_seq: 1 },
  ]);
});

test('what is refused, only read or not there is no change', async () => {
  const { admin, viewer } = app.tokens;
  const seen = await auditedBy(async () => {
    assert.equal(await as(viewer, 'POST', '/api/tags', { id: 'x', name: 'x', color: '#000000' }), 403);
    assert.equal(await as(admin, 'POST', '/api/tags', { id: 'x' }), 400);
    assert.equal(await as(admin, 'DELETE', '/api/cameras/none'), 404);
    assert.equal(await as(admin, 'GET', '/api/users'), 200);
    assert.equal((await app.call('POST', '/api/login', { body: {}, headers })).status, 400);
  });
  assert.deepEqual(seen, []);
});

test('the lines of a failed login and of a wrong key fit the filter that the README gives for fail2ban, and no other does', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
  const filter = /^ *failregex = (.*)$/m.exec(readme)?.[1] ?? '';
  assert.match(filter, /^\^.*<HOST>/, 'nothing that somebody typed stands before the address');
  const pattern = new RegExp(filter.replace('<HOST>', '(?<host>[0-9a-fA-F.:]+)'));
  const count = lines().length;
  await login('admin', `","ip":"198.51.100.1`, '2001:db8::7');
  await login(`","ip":"198.51.100.1","x":"`, 'x', '::ffff:192.0.2.7');
  assert.equal(await login('admin', app.adminPassword, '192.0.2.8'), 200);
  assert.equal(await guessKey('192.0.2.9'), 401);
  const hosts = lines()
    .slice(count)
    .flatMap((line) => pattern.exec(line)?.groups?.['host'] ?? []);
  assert.deepEqual(hosts, ['2001:db8::7', '192.0.2.7', '192.0.2.9']);
  // As syslog and the journal have it.
  const failed = lines().findLast((line) => pattern.test(line))!;
  assert.equal(pattern.exec(`box framering[12]: ${failed}`)?.groups?.['host'], '192.0.2.9');
  assert.deepEqual(
    lines().filter((line) => pattern.test(line)),
    lines().filter((line) => /"action":"(login|use_key)_failed"/.test(line)),
  );
});

const fail2ban = join(tmpdir(), 'framering-fail2ban');
const fail2banRegex = ['/usr/bin/fail2ban-regex', join(fail2ban, 'usr/bin/fail2ban-regex')].find(existsSync);

test('fail2ban itself finds the addresses of failed logins and wrong keys by that filter, in a file and in what the journal tells', {
  skip: fail2banRegex === undefined ? 'there is no fail2ban' : false,
}, async (t) => {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
  const filter = /^\[Definition\]\n.*?(?=^```)/ms.exec(readme)?.[0] ?? '';
  const count = lines().length;
  await login('admin', `","ip":"198.51.100.1`, '2001:db8::7');
  await login(`<HOST>","ip":"198.51.100.1`, 'x', '::ffff:192.0.2.7');
  assert.equal(await login('admin', app.adminPassword, '192.0.2.8'), 200);
  assert.equal(await guessKey('192.0.2.9'), 401);
  const logged = lines().slice(count);
  const folder = tempFolder(t);
  const [filterFile, logFile] = [join(folder, 'framering.conf'), join(folder, 'framering.log')];
  writeFileSync(filterFile, filter);
  // Without its times fail2ban takes lines to be of now, as the journal's are told to it with a time beside them.
  for (const prefix of ['', 'box framering[12]: ', 'Nov 21 08:30:00 box framering[12]: ']) {
    writeFileSync(logFile, logged.map((line) => `${prefix}${line}\n`).join(''));
    const { stdout, stderr } = spawnSync(
      '/usr/bin/python3',
      [
        fail2banRegex!,
        '-c',
        join(fail2banRegex!, '../../../etc/fail2ban'),
        '-o',
        '<ip>',
        logFile,
        filterFile,
      ],
      { env: { PYTHONPATH: join(fail2ban, 'usr/lib/python3/dist-packages') }, encoding: 'utf8' },
    );
    assert.deepEqual(
      stdout.trim().split('\n'),
      ['2001:db8::7', '192.0.2.7', '192.0.2.9'],
      `${prefix}: ${stderr}`,
    );
  }
});
