import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { route } from '../../src/http/route.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

const long = {
  items: Array.from({ length: 300 }, (_, index) => ({ id: `camera-${index}`, state: 'streaming' })),
};
const longText = Buffer.from(JSON.stringify(long));
let server: WebServer;

const answers = { 200: { description: 'Something', schema: z.unknown() } };
const get = (path: string, handle: Parameters<typeof route>[0]['handle']) =>
  route({ method: 'get', path, access: 'public', summary: 'x', answers, handle });

before(async () => {
  const playlist = 'application/vnd.apple.mpegurl';
  server = await startWebServer([
    get('/json', () => ({ status: 200, body: long })),
    get('/tagged', () => ({
      ...{ status: 200, text: longText, contentType: 'application/json; charset=utf-8' },
      headers: { ETag: '"abc"' },
    })),
    get('/small', () => ({ status: 200, body: { text: 'x'.repeat(900) } })),
    get('/media', () => ({ status: 200, text: Buffer.alloc(50_000), contentType: 'video/mp2t' })),
    get('/live', () => ({ status: 200, text: 'x'.repeat(9_000), contentType: playlist })),
    get('/recorded', () => ({ status: 200, text: 'x'.repeat(90_000), contentType: playlist })),
    get('/huge', () => ({ status: 200, text: 'x'.repeat(5_000_000), contentType: 'text/plain' })),
    get('/stream', () => ({
      write: (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.end(`data: ${'x'.repeat(9_000)}\n\n`);
      },
    })),
    route({
      ...{ method: 'put', path: '/tagged', access: 'public', summary: 'x', answers, audit: null },
      body: z.object({}),
      handle: () => ({ status: 200, body: {} }),
    }),
  ]);
});
after(() => server.stop());

/** As it comes over the wire: fetch would unpack it. */
const ask = (
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(new URL(path, server.url), { method, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    request.once('error', reject);
    request.end();
  });

test('what is long is compressed as the client likes it', async () => {
  const plain = await ask('/json');
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const [accepted, encoding, unpack] of [
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
    ['*', 'br', brotliDecompressSync],
  ] as const) {
    const { headers, body } = await ask('/json', { 'accept-encoding': accepted });
    assert.equal(headers['content-encoding'], encoding, accepted);
    assert.equal(Number(headers['content-length']), body.length);
    assert.ok(body.length < plain.body.length / 5);
    assert.deepEqual(unpack(body), plain.body);
    assert.match(headers.vary ?? '', /accept-encoding/i);
  }
  assert.match(plain.headers.vary ?? '', /accept-encoding/i, 'a cache must know that it could be otherwise');
  for (const accepted of ['identity', 'deflate', 'gzip;q=0', '', 'zstd', ';;;q=x,,'])
    assert.equal(
      (await ask('/json', { 'accept-encoding': accepted })).headers['content-encoding'],
      undefined,
    );
  const head = await ask('/json', { 'accept-encoding': 'br' }, 'HEAD');
  assert.deepEqual([head.headers['content-encoding'], head.body.length], ['br', 0]);
});

test('what is short, media, a stream, a live playlist, or a monster is sent as it is', async () => {
  const encodingOf = async (path: string) =>
    (await ask(path, { 'accept-encoding': 'br, gzip' })).headers['content-encoding'];
  for (const path of ['/small', '/media', '/stream', '/live', '/huge'])
    assert.equal(await encodingOf(path), undefined, path);
  assert.equal(await encodingOf('/recorded'), 'br');
});

test('each encoding has its own tag, and whoever has one of them has the content', async () => {
  const tags = new Map<string, string>();
  for (const accepted of ['br', 'gzip', 'identity'])
    tags.set(accepted, (await ask('/tagged', { 'accept-encoding': accepted })).headers.etag ?? '');
  assert.deepEqual([...tags.values()], ['"abc;br"', '"abc;gzip"', '"abc"']);
  for (const [accepted, tag] of tags) {
    const again = await ask('/tagged', { 'accept-encoding': accepted, 'if-none-match': `"other", ${tag}` });
    assert.deepEqual([again.status, again.headers.etag, again.body.length], [304, tag, 0]);
    assert.match(again.headers.vary ?? '', /accept-encoding/i);
  }
  assert.equal((await ask('/tagged', { 'if-none-match': '"abd;br"' })).status, 200);
});

test('many at once are answered all, compressed or not, and the same content is compressed once', async () => {
  const got = await Promise.all(
    Array.from({ length: 40 }, () => ask('/json', { 'accept-encoding': 'gzip' })),
  );
  const plain = longText.toString();
  for (const { headers, body } of got)
    assert.equal((headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString(), plain);
  const shared = await Promise.all(
    Array.from({ length: 40 }, () => ask('/tagged', { 'accept-encoding': 'gzip' })),
  );
  assert.ok(shared.every(({ headers }) => headers['content-encoding'] === 'gzip'));
});
