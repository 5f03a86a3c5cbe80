import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import express from 'express';
import { createLogger } from '../../src/base/log.js';
import { createPages } from '../../src/http/pages.js';
import { tempFolder } from '../support/temp-folder.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp({ withUsers: false });
});
after(() => app.stop());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${app.url}${path}`, { method, headers, redirect: 'manual' });

/** Below it nothing is compressed. */
const SMALL_BYTES = 1_024;

test('each page is the one document, which takes nothing from elsewhere and is asked for anew', async () => {
  const texts = new Set<string>();
  for (const path of ['/', '/login', '/setup', '/wall/gate', '/camera/door', '/archive', '/events', '/me']) {
    const answer = await get(path);
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
    assert.equal(answer.headers.get('cache-control'), 'no-cache');
    const policy = answer.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    texts.add(await answer.text());
  }
  assert.equal(texts.size, 1);
  assert.doesNotMatch([...texts][0]!, /<script(?![^>]*src=)|style=|https?:\/\//);
});

test('what its name says never changes is kept for ever, and sent as Brotli to who takes it', async () => {
  const html = await (await get('/')).text();
  const names = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, name]) => name!);
  assert.ok(names.some((name) => name.endsWith('.js')) && names.some((name) => name.endsWith('.css')));
  for (const name of names) {
    const plain = await get(name, { 'accept-encoding': 'identity' });
    // What fits one packet anyway is sent as it is.
    if (Number(plain.headers.get('content-length')) < SMALL_BYTES) continue;
    const small = await get(name, { 'accept-encoding': 'br' });
    assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(small.headers.get('content-encoding'), 'br');
    assert.match(small.headers.get('vary') ?? '', /Accept-Encoding/);
    assert.equal(await small.text(), await plain.text());
    const tag = small.headers.get('etag')!;
    assert.notEqual(tag, plain.headers.get('etag'));
    const again = await get(name, { 'accept-encoding': 'br', 'if-none-match': tag });
    assert.equal(again.status, 304);
    const head = await get(name, { 'accept-encoding': 'identity' }, 'HEAD');
    assert.equal(head.headers.get('content-length'), plain.headers.get('content-length'));
  }
});

test('no path leads out of what was built, and what is no page stays a problem', async () => {
  for (const path of [
    '/../package.json',
    '/%2e%2e/package.json',
    '/assets/../../src/main.js',
    '/index.html.br',
    '/nothing',
    '/wall/a/b/c',
    '/api/nothing',
  ]) {
    const answer = await get(path);
    assert.equal(answer.status, 404, path);
    assert.match(answer.headers.get('content-type') ?? '', /problem\+json/);
  }
  assert.equal((await get('/login', {}, 'POST')).status, 404);
  assert.equal((await fetch(`${app.metricsUrl}/login`)).status, 404);
});

test('what runs models may start WebAssembly, and nothing else may', async () => {
  const names = readdirSync(join(import.meta.dirname, '../../web/assets'));
  const scripts = names.filter((name) => name.endsWith('.js'));
  const may: string[] = [];
  for (const name of scripts) {
    const { headers } = await get(`/assets/${name}`, {}, 'HEAD');
    if (/unsafe/.test(headers.get('content-security-policy') ?? '')) may.push(name);
  }
  assert.deepEqual(
    may.map((name) => name.replace(/-[^-]*\.js$/, '')),
    ['model-worker'],
  );
  const [runtime = ''] = names.filter((name) => name.endsWith('.wasm'));
  const { headers } = await get(`/assets/${runtime}`, { 'accept-encoding': 'br' }, 'HEAD');
  assert.deepEqual(
    [headers.get('content-type'), headers.get('content-encoding')],
    ['application/wasm', 'br'],
  );
  assert.ok(Number(headers.get('content-length')) < 3_200_000);
});

test('what is too large to be kept in memory comes whole, also to many at once and after a build took its place', async (t) => {
  const folder = join(tempFolder(t), 'web');
  mkdirSync(folder);
  const bytes = randomBytes(1_000_000);
  const compressed = randomBytes(300_000);
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(join(folder, 'large.wasm'), bytes);
  writeFileSync(join(folder, 'large.wasm.br'), compressed);
  const site = express().use(
    createPages(
      folder,
      createLogger(() => {}),
    ),
  );
  const server = site.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  rmSync(folder, { recursive: true });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/large.wasm`;
  const ask = async (encoding: string): Promise<Buffer> => {
    const request = httpRequest(url, { headers: { 'accept-encoding': encoding }, agent: false }).end();
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return buffer(answer);
  };
  const answers = await Promise.all(['identity', 'br', 'identity', 'br'].map(ask));
  assert.ok([bytes, compressed, bytes, compressed].every((whole, index) => whole.equals(answers[index]!)));
  // Who leaves amid it takes nothing from those who ask later.
  const left = httpRequest(url, { agent: false }).end();
  const [begun] = (await once(left, 'response')) as [IncomingMessage];
  begun.on('error', () => {}).destroy();
  assert.ok(bytes.equals(await ask('identity')));
});
