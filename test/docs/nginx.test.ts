import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { makeCertificate } from '../../src/http/tls/certificate.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

/** What the guide has people write, with names and ports of here. */
const serverBlock = (changes: Readonly<Record<string, string>>): string => {
  let text = /```nginx\n([\s\S]+?)```/.exec(readFileSync('src/docs/guide/network.md', 'utf8'))![1]!;
  for (const [from, to] of Object.entries(changes)) {
    assert.ok(text.includes(from), from);
    text = text.replaceAll(from, to);
  }
  return text;
};

test('behind nginx, as the guide has it, all goes through, and whose it is stays known', async (t) => {
  const folder = tempFolder(t);
  const service = await startService({ DATA_DIR: join(folder, 'data'), TRUST_PROXY: 'loopback' });
  t.after(() => service.process.kill('SIGKILL'));
  const nowMs = Date.now();
  const validity = { fromMs: nowMs - 60_000, toMs: nowMs + 86_400_000 };
  const { cert, key } = makeCertificate('proxy', { hosts: ['cameras.example'], addresses: [] }, validity);
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  const port = await freePort();
  const block = serverBlock({
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    '/etc/ssl/cameras.crt': join(folder, 'cert.pem'),
    '/etc/ssl/cameras.key': join(folder, 'key.pem'),
    'http://127.0.0.1:8080': service.url,
  });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  mkdirSync(join(folder, 'logs'));
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr warn;\nevents {}\nhttp { access_log off; ${temporary}\n${block} }\n`,
  );
  const nginx = spawn('/usr/sbin/nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => nginx.kill('SIGKILL'));
  let complaints = '';
  nginx.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const ask = (
    method: string,
    path: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
  ) =>
    new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
      const options = {
        port,
        host: '127.0.0.1',
        method,
        path,
        rejectUnauthorized: false,
        agent: false as const,
      };
      const all = {
        host: 'cameras.example',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      };
      const call = request({ ...options, headers: all }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
      });
      call.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  await until(
    'nginx answers',
    () =>
      ask('GET', '/livez').then(
        ({ status }) => status === 200,
        () => false,
      ),
    {
      describe: () => complaints,
    },
  );
  assert.equal((await ask('GET', '/metrics')).status, 404, 'figures are not for strangers');
  assert.equal((await ask('GET', '/docs')).status, 200);
  const origin = { origin: 'https://cameras.example' };
  const login = await ask('POST', '/api/login', {
    headers: origin,
    body: { username: 'admin', password: service.adminPassword, remember: true },
  });
  assert.equal(login.status, 200, login.text);
  const cookie = String(login.headers['set-cookie']);
  assert.match(cookie, /Secure/, 'that the browser came by HTTPS is known');
  const token = JSON.parse(login.text).token as string;
  const session = await ask('POST', '/api/session', {
    headers: { ...origin, cookie: cookie.split(';')[0]!, 'sec-fetch-site': 'same-origin' },
  });
  assert.equal(session.status, 200, session.text);
  const authorization = `Bearer ${token}`;
  const bad = await ask('POST', '/api/login', {
    headers: { 'x-forwarded-for': '203.0.113.9' },
    body: { username: 'admin', password: 'wrong' },
  });
  assert.equal(bad.status, 401);
  assert.doesNotMatch(service.out(), /203\.0\.113\.9/, 'nobody says of himself where he comes from');
  assert.equal(
    (
      await ask('POST', '/api/cameras', {
        headers: { authorization },
        body: { id: 'door', url: 'rtsp://127.0.0.1:9/x', disabled: true },
      })
    ).status,
    201,
  );
  // A WebSocket gets through to the service, which has the word on it.
  const closed = await new Promise<string>((resolve) => {
    const socket = new WebSocket(`wss://127.0.0.1:${port}/stream/ws/door`, {
      rejectUnauthorized: false,
      headers: { host: 'cameras.example' },
    });
    socket.once('close', (code) => resolve(`closed ${code}`));
    socket.once('unexpected-response', (_request, answer) => resolve(`refused ${answer.statusCode}`));
    socket.once('error', () => {});
  });
  assert.match(closed, /^closed 1013|^refused (?:404|503)/);
  // Events come one by one, not when some buffer is full.
  const first = await new Promise<string>((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      path: '/api/events/stream',
      rejectUnauthorized: false,
      agent: false as const,
    };
    const call = request({ ...options, headers: { host: 'cameras.example', authorization } }, (answer) => {
      answer.setEncoding('utf8').once('data', (text: string) => {
        resolve(`${answer.statusCode} ${text}`);
        call.destroy();
      });
    });
    call.once('error', reject).end();
  });
  assert.match(first, /^200 /);
  assert.equal(await service.stop(), 0);
});
