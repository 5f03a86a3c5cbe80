import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

let app: TestApp;
before(async () => {
  app = await startTestApp({ withUsers: false, env: { CORS_ORIGINS: 'https://wall.example' } });
});
after(() => app.stop());

/** Sends raw bytes and collects what comes back. */
const raw = (bytes: string, url = app.url): Promise<{ socket: Socket; text: () => string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    let text = '';
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(bytes);
      resolve({ socket, text: () => text });
    });
    socket.once('error', reject).on('data', (chunk) => {
      text += chunk;
    });
  });

test('other methods are a 405 that lists the right ones; OPTIONS tells them; HEAD is GET without a body', async () => {
  const wrong = await app.call('PATCH', '/api/cameras');
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, HEAD, POST, OPTIONS']);
  assert.equal(wrong.body.code, 'method_not_allowed');
  const options = await app.call('OPTIONS', '/api/users/eve');
  assert.deepEqual([options.status, options.headers.get('allow')], [204, 'PUT, DELETE, OPTIONS']);
  const head = await app.call('HEAD', '/livez');
  assert.deepEqual([head.status, head.text, head.headers.get('content-length')], [200, '', '15']);
});

test('what is not there is a 404 in the shape of all errors', async () => {
  for (const path of [
    '/api',
    '/api/camera',
    '/API/cameras',
    '/api/cameras/a/b/c',
    '/constructor',
    '/..%2f',
  ]) {
    const { status, headers, body } = await app.call('GET', path);
    assert.deepEqual([status, body.code, body.status], [404, 'route_not_found', 404], path);
    assert.equal(headers.get('content-type'), 'application/problem+json; charset=utf-8');
  }
  const bad = await app.call('GET', '/api/cameras/%zz/stream-token');
  assert.deepEqual([bad.status, bad.body.code], [400, 'bad_request']);
});

test('a path is spelled in one way: a rule of a proxy for it can not be gone round', async () => {
  for (const path of ['/metrics/', '/readyz/', '/Metrics', '/%6detrics', '/api/cameras/']) {
    const { status, body } = await app.call('GET', path, { token: app.tokens.admin });
    assert.deepEqual([status, body.code], [404, 'route_not_found'], path);
  }
});

test('answers carry sane headers, and say nothing of what they are made with', async () => {
  const { headers } = await app.call('GET', '/livez', { headers: { 'x-request-id': 'proxy-7' } });
  assert.equal(headers.get('x-powered-by'), null);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.equal(headers.get('strict-transport-security'), null, 'not without TLS');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('x-request-id'), 'proxy-7');
  const odd = await app.call('GET', '/livez', { headers: { 'x-request-id': 'a b\tc' } });
  assert.match(odd.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
});

test('pages of a configured origin may call the interface, others may not; models are for all', async () => {
  const preflight = (path: string, origin: string) =>
    app.call('OPTIONS', path, { headers: { origin, 'access-control-request-method': 'POST' } });
  const known = await preflight('/api/cameras', 'https://wall.example');
  assert.equal(known.headers.get('access-control-allow-origin'), 'https://wall.example');
  assert.match(known.headers.get('access-control-allow-methods') ?? '', /POST/);
  assert.match(known.headers.get('access-control-allow-headers') ?? '', /Authorization/);
  assert.equal(known.headers.get('vary'), 'Origin');
  const stranger = await preflight('/api/cameras', 'https://evil.example');
  assert.equal(stranger.headers.get('access-control-allow-origin'), null);
  for (const path of ['/models/any.onnx', '/livez', '/metrics', '/api/openapi.json', '/nowhere']) {
    const { headers } = await preflight(path, 'https://evil.example');
    const isForAll = path.startsWith('/models/');
    assert.equal(headers.get('access-control-allow-origin'), isForAll ? '*' : null, path);
    assert.equal(
      headers.get('cross-origin-resource-policy'),
      isForAll ? 'cross-origin' : 'same-origin',
      path,
    );
  }
});

test('probes and metrics answer on both ports, the interface on one', async () => {
  for (const path of ['/livez', '/readyz', '/metrics']) {
    for (const base of [app.url, app.metricsUrl]) {
      assert.equal((await fetch(base + path)).status, 200, base + path);
    }
  }
  assert.equal((await fetch(`${app.metricsUrl}/api/openapi.json`)).status, 404);
});

test('the monitoring port has an address of its own, if it is given one', async (t) => {
  const other = await startTestApp({ withUsers: false, env: { METRICS_HOST: '127.0.0.2' } });
  t.after(() => other.stop());
  assert.equal(new URL(other.metricsUrl).hostname, '127.0.0.2');
  assert.equal((await fetch(`${other.metricsUrl}/metrics`)).status, 200);
});

test('bodies: compressed ones are read, their bombs are not, chunked ones are bounded', async () => {
  const { gzipSync } = await import('node:zlib');
  const send = (body: Buffer, headers: Record<string, string>) =>
    app.call('POST', '/api/login', { body, headers });
  const small = gzipSync(JSON.stringify({ username: 'admin', password: app.adminPassword }));
  assert.equal((await send(small, { 'content-encoding': 'gzip' })).status, 200);
  const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
  assert.equal((await send(bomb, { 'content-encoding': 'gzip' })).status, 413);
  assert.equal((await send(small, { 'content-encoding': 'compress' })).status, 415);
  for (const [encoding, damaged] of [
    ['gzip', Buffer.from('no gzip')],
    ['gzip', small.subarray(0, -9)],
    ['deflate', small],
    ['br', small],
  ] as const) {
    const { status, body } = await send(damaged, { 'content-encoding': encoding });
    assert.deepEqual([status, body.code], [400, 'bad_request'], encoding);
  }
  assert.equal(
    (await send(Buffer.from('{}'), { 'content-type': 'application/json; charset=koi8-r' })).status,
    415,
  );
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  const chunked = await raw(
    `POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`,
  );
  await until('the answer is there', () => /^HTTP\/1\.1 413/.test(chunked.text()));
  chunked.socket.destroy();
});

test('what is no HTTP, or too long, is told so and cut', async () => {
  const noise = await raw('\x16\x03\x01 hello\r\n\r\n');
  await until('noise is answered', () => noise.socket.readableEnded && /^HTTP\/1\.1 400/.test(noise.text()));
  assert.match(noise.text(), /"code":"bad_request"/);
  const long = await raw(`GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
  await until('it is answered', () => /^HTTP\/1\.1 431/.test(long.text()));
});

test('a stop ends open streams, idle connections and the log in a moment', async () => {
  const other = await startTestApp({ withUsers: false });
  const { body } = await other.call('POST', '/api/login', {
    body: { username: 'admin', password: other.adminPassword },
  });
  const events = await openEvents(other.url, '/api/logs/stream', body.token);
  const idle = await raw('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n', other.url);
  await until('the idle connection has its answer', () => /"ok"/.test(idle.text()));
  const silent = await raw('', other.url);
  const dawdler = await raw('POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{', other.url);
  for (const { socket } of [idle, silent, dawdler]) socket.on('error', () => {});
  const startMs = performance.now();
  await other.stop();
  assert.equal(await events.ended, true);
  // None of them would go by itself: the dawdler has 30 s for its body.
  assert.ok(performance.now() - startMs < 20_000);
  for (const { socket } of [idle, silent, dawdler])
    await until('it is closed', () => socket.destroyed || socket.readableEnded);
});
