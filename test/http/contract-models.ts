import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CountingOrigin } from '../models/counting-origin.js';
import type { TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Asks for models in all ways that there are; the directory is gone afterwards. */
export const callModels = async (app: TestApp, origin: CountingOrigin): Promise<void> => {
  const path = '/models/net.onnx';
  assert.equal((await app.call('GET', path)).status, 404);
  writeFileSync(join(app.dataDir, 'models/net.onnx'), 'a model');
  const whole = await app.call('GET', path);
  assert.deepEqual([whole.status, whole.text], [200, 'a model']);
  assert.equal(whole.headers.get('access-control-allow-origin'), '*');
  const get = async (headers: Record<string, string>) => (await app.call('GET', path, { headers })).status;
  assert.equal(await get({ 'if-none-match': whole.headers.get('etag') ?? '' }), 304);
  assert.equal(await get({ range: 'bytes=2-3' }), 206);
  assert.equal(await get({ range: 'bytes=99-' }), 416);
  assert.equal(whole.headers.get('content-type'), 'application/octet-stream');
  assert.equal((await app.call('GET', '/models/net.json')).status, 404);
  for (const name of ['net', 'other'])
    writeFileSync(join(app.dataDir, `models/${name}.json`), '{"labels":["lamp"]}');
  const described = await app.call('GET', '/models/net.json');
  assert.deepEqual([described.status, described.text], [200, '{"labels":["lamp"]}']);
  assert.equal(described.headers.get('content-type'), 'application/json');
  assert.equal(described.headers.get('access-control-allow-origin'), '*');
  assert.equal((await app.call('GET', '/models/other.json')).status, 404, 'there is no such model');
  assert.equal((await app.call('GET', '/models/.net.json')).status, 404);
  const token = app.tokens.viewer;
  writeFileSync(join(app.dataDir, 'models/odd.onnx'), 'another');
  writeFileSync(join(app.dataDir, 'models/odd.json'), '{"labels":"lamp"}');
  mkdirSync(join(app.dataDir, 'models/folder.onnx'));
  const listed = await app.call('GET', '/api/models', { token });
  assert.deepEqual(
    listed.body.map(({ name, size_bytes: sizeBytes, description, problem }: Record<string, unknown>) => [
      ...[name, sizeBytes, (description as { labels?: unknown } | null)?.labels ?? null, problem],
    ]),
    [
      ['net.onnx', 7, ['lamp'], ''],
      [
        ...['odd.onnx', 7, null],
        'the description beside the model can\'t be used: "labels" must be an array of names',
      ],
    ],
  );
  const known = { 'if-none-match': listed.headers.get('etag') ?? '' };
  assert.equal((await app.call('GET', '/api/models', { token, headers: known })).status, 304);
  const statusOf = async (name: string) => (await app.call('GET', `/models/${name}.onnx`)).status;
  origin.answer = (_request, response) => response.writeHead(500).end();
  assert.equal(await statusOf('broken'), 502);
  const held: (() => void)[] = [];
  origin.answer = (_request, response) => held.push(() => response.end('a model'));
  const slow = Array.from({ length: 8 }, (_, index) => statusOf(`slow-${index}`));
  await until('all fetches run', () => held.length === 8);
  assert.equal(await statusOf('another'), 503);
  for (const end of held) end();
  assert.deepEqual(new Set(await Promise.all(slow)), new Set([200]));
  rmSync(join(app.dataDir, 'models'), { recursive: true });
  assert.equal((await app.call('GET', '/api/models', { token })).status, 503);
};
