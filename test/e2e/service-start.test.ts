import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { recordsOf, runService, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const started = async (t: TestContext, env: Record<string, string>) => {
  const service = await startService(env);
  t.after(() => service.process.kill('SIGKILL'));
  return service;
};

test('first start: an admin is shown once, who can log in; the second start shows none', async (t) => {
  const DATA_DIR = tempFolder(t);
  const first = await started(t, { DATA_DIR });
  assert.match(first.out(), /^username: admin\npassword: [A-Za-z0-9]{16}\n/m);
  const token = await first.login('admin', first.adminPassword);
  assert.equal((await first.call('GET', '/api/users', { token })).status, 200);
  for (const path of ['/livez', '/readyz', '/metrics']) {
    assert.equal((await fetch(first.metricsUrl + path)).status, 200);
  }
  assert.equal(await first.stop(), 0);
  const second = await started(t, { DATA_DIR, LOG_LEVEL: 'error' });
  assert.equal(second.adminPassword, '');
  assert.equal((await second.call('GET', '/api/users', { token })).status, 200, 'the secret was kept');
  assert.equal(await second.stop(), 0);
  for (const line of second.out().trim().split('\n')) assert.ok(JSON.parse(line), 'nothing but JSON');
});

test('a value that can not be used stops the start: one line that names it, exit code 2', async (t) => {
  const DATA_DIR = tempFolder(t);
  for (const [name, value] of [
    ['PORT', '99999'],
    ['JWT_SECRET', 'short'],
    ['LOG_LEVEL', 'loud'],
    ['TLS_CERT', '/does/not/exist.pem'],
  ] as const) {
    const service = runService({ DATA_DIR, [name]: value });
    assert.equal(await service.exited, 2, name);
    assert.equal(service.out(), '');
    assert.equal(service.err().trim().split('\n').length, 1);
    assert.match(service.err(), new RegExp(name));
    assert.ok(name !== 'JWT_SECRET' || !service.err().includes('short'));
  }
});

test('a port that is taken and a data directory that is no directory are told in one line', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const busy = runService({ DATA_DIR: tempFolder(t), PORT: String(port) });
  assert.equal(await busy.exited, 1);
  assert.match(busy.err(), new RegExp(`^[^\\n]*127\\.0\\.0\\.1:${port}[^\\n]*\\n$`));
  const wrong = runService({ DATA_DIR: '/dev/null/data' });
  assert.equal(await wrong.exited, 1);
  assert.match(wrong.err(), /^[^\n]*\/dev\/null\/data[^\n]*\n$/);
});

test('a second process on the same data is refused while the first one lives, and not after kill -9', async (t) => {
  const DATA_DIR = tempFolder(t);
  const first = await started(t, { DATA_DIR });
  const second = runService({ DATA_DIR });
  assert.equal(await second.exited, 1);
  assert.match(second.err(), /another process uses .*DATA_DIR/);
  assert.equal((await first.call('GET', '/livez')).status, 200);
  first.process.kill('SIGKILL');
  await first.exited;
  const third = await started(t, { DATA_DIR });
  assert.equal(await third.stop(), 0);
});

test('SIGTERM and SIGINT: open streams end, idle connections close, exit code 0 in time', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const service = await started(t, { DATA_DIR: tempFolder(t) });
    const token = await service.login('admin', service.adminPassword);
    await service.call('POST', '/api/cameras', { token, body: { id: 'a', url: 'rtsp://127.0.0.1:9/1' } });
    const events = await openEvents(service.url, '/api/logs/stream', token);
    await until('the stream is open', () => events.text() !== '');
    const startMs = performance.now();
    service.process.kill(signal);
    service.process.kill(signal);
    assert.equal(await service.exited, 0);
    assert.ok(performance.now() - startMs < 10_000);
    await events.ended;
    assert.match(events.text(), /"msg":"stopping"/);
    assert.equal(recordsOf(service.out()).at(-1)?.['msg'], 'stopped');
    assert.equal(service.err(), '');
  }
});

test('TLS: with a certificate and its key the main port speaks HTTPS, with HSTS', async (t) => {
  const { execFileSync } = await import('node:child_process');
  const folder = tempFolder(t);
  const [cert, key] = [`${folder}/cert.pem`, `${folder}/key.pem`];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
    ].concat(['-subj', '/CN=localhost', '-keyout', key, '-out', cert]),
    { stdio: 'ignore' },
  );
  const service = await started(t, { DATA_DIR: folder, TLS_CERT: cert, TLS_KEY: key });
  assert.match(service.url, /^https:/);
  const { get } = await import('node:https');
  const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
    get(`${service.url}/livez`, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.headers);
    }).once('error', reject);
  });
  assert.match(String(headers['strict-transport-security']), /max-age/);
  assert.equal(await service.stop(), 0);
  const swapped = runService({ DATA_DIR: folder, TLS_CERT: key, TLS_KEY: cert });
  assert.equal(await swapped.exited, 2);
  assert.match(swapped.err(), /TLS_CERT/);
});
