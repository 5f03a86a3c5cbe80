import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { selfSignedCertificate } from '../support/fake-camera/certificate.js';
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
    ['DATA_DIR', '/dev/null/data'],
    // Where even root may write nothing; and where Node's own recursive mkdir never returns.
    ['DATA_DIR', '/proc'],
    ['DATA_DIR', '/proc/missing/data'],
    ['ARCHIVE_DIR', '/dev/null/recordings'],
    ['ARCHIVE_DIR', '/proc'],
    ['MODELS_DIR', '/dev/null/models'],
    ['MODELS_DIR', '/proc/missing'],
    ['TRUST_PROXY', '10.0.0.0/99'],
    ['HOST', '192.0.2.1'],
    ['METRICS_HOST', '192.0.2.1'],
  ] as const) {
    const service = runService({ DATA_DIR, [name]: value });
    t.after(() => service.process.kill('SIGKILL'));
    assert.equal(await service.exited, 2, name);
    assert.equal(service.out().includes('listening'), false);
    assert.equal(service.err().trim().split('\n').length, 1);
    assert.match(service.err(), new RegExp(name));
    assert.ok(name !== 'JWT_SECRET' || !service.err().includes('short'));
  }
});

test('a port that is taken is told in one line, and nothing is left running', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  for (const name of ['PORT', 'METRICS_PORT']) {
    const busy = runService({ DATA_DIR: tempFolder(t), [name]: String(port) });
    assert.equal(await busy.exited, 2);
    assert.match(busy.err(), new RegExp(`^[^\\n]* ${name}=${port} [^\\n]*EADDRINUSE[^\\n]*\\n$`));
  }
});

test('a signal during the start stops the service in order, too', async (t) => {
  const service = runService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  await until('the password is shown', () => service.out().includes('password:'));
  service.process.kill('SIGTERM');
  assert.equal(await service.exited, 0);
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

test('a second service with other data but the same recordings is refused, and not after kill -9', async (t) => {
  const ARCHIVE_DIR = tempFolder(t);
  const first = await started(t, { DATA_DIR: tempFolder(t), ARCHIVE_DIR });
  const second = runService({ DATA_DIR: tempFolder(t), ARCHIVE_DIR });
  t.after(() => second.process.kill('SIGKILL'));
  assert.equal(await second.exited, 2);
  assert.match(second.err(), /^[^\n]*ARCHIVE_DIR="[^"]*" [^\n]*another process uses it[^\n]*\n$/);
  assert.doesNotMatch(second.out(), /password/);
  assert.equal((await first.call('GET', '/livez')).status, 200);
  first.process.kill('SIGKILL');
  await first.exited;
  const third = await started(t, { DATA_DIR: tempFolder(t), ARCHIVE_DIR });
  assert.equal(await third.stop(), 0);
});

test('data and recordings may be in the same folder', async (t) => {
  const DATA_DIR = tempFolder(t);
  const service = await started(t, { DATA_DIR, ARCHIVE_DIR: DATA_DIR });
  assert.equal(await service.stop(), 0);
});

test('SIGTERM and SIGINT: open streams end, idle connections close, exit code 0 in time', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const service = await started(t, { DATA_DIR: tempFolder(t) });
    const token = await service.login('admin', service.adminPassword);
    await service.call('POST', '/api/cameras', { token, body: { id: 'a', url: 'rtsp://127.0.0.1:9/1' } });
    const events = await openEvents(service.url, '/api/logs/stream', token);
    await until('the stream is open', () => events.text() !== '');
    service.process.kill(signal);
    service.process.kill(signal);
    // After 9.5 s it would give up, with another code.
    assert.equal(await service.exited, 0);
    assert.equal(await events.ended, true);
    assert.match(events.text(), /"msg":"stopping"/);
    assert.equal(recordsOf(service.out()).at(-1)?.['msg'], 'stopped');
    assert.equal(service.err(), '');
  }
});

test('SIGTERM to npm start reaches the service: it stops in order, and none is left behind', async (t) => {
  const env = { ...process.env, DATA_DIR: tempFolder(t), HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0' };
  const npm = spawn('npm', ['start'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  // The whole group: if the test fails, the service is no child of npm's any more.
  const { pid } = npm;
  assert.ok(pid !== undefined);
  t.after(() => npm.exitCode === 0 || process.kill(-pid, 'SIGKILL'));
  let out = '';
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const urlOf = () => recordsOf(out).find(({ msg }) => msg === 'listening')?.['url'];
  await until('the service listens', () => urlOf() !== undefined, { deadlineMs: 60_000 });
  npm.kill('SIGTERM');
  assert.deepEqual(await once(npm, 'exit'), [0, null]);
  await assert.rejects(fetch(`${String(urlOf())}/livez`));
});

test('whoever reads the log may stall or go away: the service goes on, and ends in order', async (t) => {
  for (const fate of ['gone', 'stalled'] as const) {
    const service = await started(t, { DATA_DIR: tempFolder(t), LOG_LEVEL: 'debug' });
    const { stdout } = service.process;
    if (fate === 'gone') stdout?.destroy();
    else stdout?.pause();
    const ask = async (): Promise<void> => {
      for (let times = 0; times < 500; times++) {
        assert.equal((await service.call('GET', '/livez')).status, 200);
      }
    };
    await Promise.all([ask(), ask(), ask(), ask()]);
    service.process.kill('SIGTERM');
    const [code] = (await once(service.process, 'exit')) as [number | null];
    assert.equal(code, 0, fate);
    stdout?.resume();
  }
});

test('TLS: with a certificate and its key the main port speaks HTTPS, with HSTS', async (t) => {
  const folder = tempFolder(t);
  const [cert, key] = [`${folder}/cert.pem`, `${folder}/key.pem`];
  const made = selfSignedCertificate();
  writeFileSync(cert, made.cert);
  writeFileSync(key, made.key);
  const service = await started(t, { DATA_DIR: folder, TLS_CERT: cert, TLS_KEY: key });
  assert.match(service.url, /^https:/);
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
