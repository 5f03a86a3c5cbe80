import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { makeCertificate } from '../../src/http/tls/certificate.js';
import { encodeVideo } from '../e2e/recording-service.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { type RunningService, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WhepClient } from '../support/whep-client.js';

export const PROXIED_HOST = 'cameras.example';

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

/** What the guide has people write, with names and ports of here. */
export const guideBlock = (language: string, changes: Readonly<Record<string, string>>): string => {
  const page = readFileSync('src/docs/guide/network.md', 'utf8');
  let text = new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``).exec(page)![1]!;
  for (const [from, to] of Object.entries(changes)) {
    assert.ok(text.includes(from), from);
    text = text.replaceAll(from, to);
  }
  return text;
};

/** A service as the guide starts it, and what a proxy in front of it needs. */
export type Setting = {
  readonly service: RunningService;
  readonly folder: string;
  readonly port: number;
  readonly cert: string;
  readonly key: string;
};

export const proxySetting = async (t: TestContext): Promise<Setting> => {
  const folder = tempFolder(t);
  const service = await startService({ DATA_DIR: join(folder, 'data'), TRUST_PROXY: 'loopback' });
  t.after(() => service.process.kill('SIGKILL'));
  const nowMs = Date.now();
  const validity = { fromMs: nowMs - 60_000, toMs: nowMs + 86_400_000 };
  const made = makeCertificate('proxy', { hosts: [PROXIED_HOST], addresses: [] }, validity);
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(cert, made.cert);
  writeFileSync(key, made.key);
  mkdirSync(join(folder, 'logs'));
  return { service, folder, cert, key, port: await freePort() };
};

type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
};
type Asked = { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown };

/** Judges a proxy: all kinds of answers come through it, and whose request it was stays known. */
export const judgeProxy = async (
  t: TestContext,
  { service, folder, port }: Setting,
  proxy: ChildProcess,
): Promise<void> => {
  t.after(() => proxy.kill('SIGKILL'));
  let complaints = '';
  proxy.stderr!.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const address = { port, host: '127.0.0.1', servername: PROXIED_HOST, rejectUnauthorized: false };
  const begin = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
    request({ ...address, method, path, agent: false, headers: { host: PROXIED_HOST, ...headers } });
  const ask = (method: string, path: string, { headers = {}, body }: Asked = {}) =>
    new Promise<Answered>((resolve, reject) => {
      const isText = typeof body === 'string';
      const type = isText ? 'application/sdp' : 'application/json';
      const call = begin(method, path, { ...(body !== undefined && { 'content-type': type }), ...headers });
      call.once('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
      });
      call.once('error', reject).end(body === undefined || isText ? body : JSON.stringify(body));
    });
  const isUp = () =>
    ask('GET', '/livez').then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('the proxy answers', isUp, { describe: () => complaints });
  for (const path of ['/metrics', '/metrics/', '/metrics?x=1', '//metrics', '/%6detrics', '/x/../metrics'])
    assert.equal((await ask('GET', path)).status, 404, `figures are not for strangers: ${path}`);
  assert.equal((await ask('GET', '/docs')).status, 200);

  // Signing in: by HTTPS, from the page's own origin.
  const origin = { origin: `https://${PROXIED_HOST}` };
  const login = await ask('POST', '/api/login', {
    headers: origin,
    body: { username: 'admin', password: service.adminPassword, remember: true },
  });
  assert.equal(login.status, 200, login.text);
  const cookie = String(login.headers['set-cookie']);
  assert.match(cookie, /Secure/, 'that the browser came by HTTPS is known');
  const session = await ask('POST', '/api/session', {
    headers: { ...origin, cookie: cookie.split(';')[0]!, 'sec-fetch-site': 'same-origin' },
  });
  assert.equal(session.status, 200, session.text);
  const authorization = `Bearer ${JSON.parse(login.text).token as string}`;

  // Nobody says of himself where he comes from.
  const wrong = await ask('POST', '/api/login', {
    headers: { 'x-forwarded-for': '203.0.113.9' },
    body: { username: 'admin', password: 'wrong' },
  });
  assert.equal(wrong.status, 401);
  const failures = await ask('GET', '/api/audit?action=login_failed', { headers: { authorization } });
  assert.match(failures.text, /"ip":"127\.0\.0\.1"/);
  assert.doesNotMatch(failures.text, /203\.0\.113\.9/);

  const video = encodeVideo(folder, 1, 10);
  const camera = await FakeCamera.start({ mounts: { '/live': { video } } });
  t.after(() => camera[Symbol.asyncDispose]());
  const door = { id: 'door', url: camera.url('/live') };
  assert.equal((await ask('POST', '/api/cameras', { headers: { authorization }, body: door })).status, 201);

  const playlist = await until('HLS plays', async () => {
    const { status, text } = await ask('GET', '/stream/hls/door/stream.m3u8');
    return status === 200 && text.includes('#EXTINF') ? text : null;
  });
  assert.match(playlist, /^#EXTM3U/);

  const socket = new WebSocket(`wss://127.0.0.1:${port}/stream/ws/door`, {
    ...{ servername: PROXIED_HOST, rejectUnauthorized: false, headers: { host: PROXIED_HOST } },
  });
  let frames = 0;
  let fault = '';
  socket.on('message', (_data, isBinary) => {
    if (isBinary) frames += 1;
  });
  socket.once('unexpected-response', (_request, { statusCode }) => {
    fault = `refused: ${statusCode}`;
  });
  socket.once('error', (thrown) => {
    fault ||= thrown.message;
  });
  await until('pictures come by the WebSocket', () => fault !== '' || frames > 10);
  assert.equal(fault, '');
  socket.terminate();

  const whep = await WhepClient.create({ countOnly: true });
  t.after(() => whep.close());
  const offered = await ask('POST', '/stream/webrtc/whep/door', { body: whep.offer });
  assert.equal(offered.status, 201, offered.text);
  whep.start(offered.text);
  await until('pictures come beside the proxy', () => whep.packets > 10);
  const location = new URL(String(offered.headers['location']), `https://${PROXIED_HOST}`);
  assert.equal(location.host, PROXIED_HOST, 'the session is where the browser can reach it');
  assert.equal((await ask('DELETE', `${location.pathname}${location.search}`)).status, 200);

  // Events come one by one, not when some buffer is full.
  const first = await new Promise<string>((resolve, reject) => {
    const call = begin('GET', '/api/events/stream', { authorization });
    call.once('response', (answer) =>
      answer.setEncoding('utf8').once('data', (text: string) => {
        resolve(`${answer.statusCode} ${text}`);
        call.destroy();
      }),
    );
    call.once('error', reject).end();
  });
  assert.match(first, /^200 /);
  assert.equal(await service.stop(), 0);
};
