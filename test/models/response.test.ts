import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import { type ModelErrorCode, modelErrorStatus } from '../../src/models/errors.js';
import { Models } from '../../src/models/models.js';
import { sendModel } from '../../src/models/response.js';
import { CountingOrigin } from './counting-origin.js';

const content = randomBytes(100_000);

const serve = async (
  t: TestContext,
  origin: URL | null = null,
): Promise<{ directory: string; port: number }> => {
  const directory = mkdtempSync(join(tmpdir(), 'models-'));
  const models = new Models({ directory, origin }, { clock: systemClock, log: createLogger(() => {}) });
  const server: Server = createServer((request, response) => {
    sendModel(models, decodeURIComponent((request.url ?? '').slice(1)), request, response).catch((fault) => {
      response.statusCode = fault instanceof AppError ? modelErrorStatus[fault.code as ModelErrorCode] : 500;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    await models.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, port: (server.address() as AddressInfo).port };
};

type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer };

const ask = async (
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> => {
  const sent = httpRequest({ host: '127.0.0.1', port, path, headers, method, agent: false });
  sent.end();
  const [response] = await once(sent, 'response');
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) };
};

test('the whole file, its head, and not modified', async (t) => {
  const { directory, port } = await serve(t);
  writeFileSync(join(directory, 'net.onnx'), content);
  const get = await ask(port, '/net.onnx');
  assert.equal(get.status, 200);
  assert.ok(get.body.equals(content));
  const { etag, 'cache-control': cacheControl, 'accept-ranges': acceptRanges } = get.headers;
  assert.match(etag ?? '', /^"[0-9a-z-]+"$/);
  assert.equal(cacheControl, 'public, no-cache');
  assert.equal(acceptRanges, 'bytes');
  assert.equal(get.headers['content-type'], 'application/octet-stream');
  assert.equal(get.headers['content-length'], '100000');

  const head = await ask(port, '/net.onnx', { range: 'bytes=0-9' }, 'HEAD');
  assert.deepEqual([head.status, head.body.length, head.headers['content-length']], [200, 0, '100000']);
  assert.equal(head.headers.etag, etag);

  const same = await ask(port, '/net.onnx', { 'if-none-match': `"x", ${etag}`, range: 'bytes=200000-' });
  assert.deepEqual([same.status, same.body.length, same.headers.etag], [304, 0, etag]);

  writeFileSync(join(directory, '.new'), content);
  renameSync(join(directory, '.new'), join(directory, 'net.onnx'));
  const replaced = await ask(port, '/net.onnx', { 'if-none-match': etag ?? '' });
  assert.equal(replaced.status, 200);
  assert.notEqual(replaced.headers.etag, etag);
});

test('ranges: single, open, suffix, several, beyond the end, conditional', async (t) => {
  const { directory, port } = await serve(t);
  writeFileSync(join(directory, 'net.onnx'), content);
  const { etag = '' } = (await ask(port, '/net.onnx', {}, 'HEAD')).headers;
  const cases: [string, number, number, string][] = [
    ['bytes=0-9', 0, 10, 'bytes 0-9/100000'],
    ['bytes=99990-', 99_990, 100_000, 'bytes 99990-99999/100000'],
    ['bytes=-5', 99_995, 100_000, 'bytes 99995-99999/100000'],
  ];
  for (const [range, start, end, contentRange] of cases) {
    const { status, headers, body } = await ask(port, '/net.onnx', { range, 'if-range': etag });
    assert.equal(status, 206, range);
    assert.equal(headers['content-range'], contentRange);
    assert.equal(headers['content-length'], String(end - start));
    assert.ok(body.equals(content.subarray(start, end)), range);
  }
  const others: Record<string, string>[] = [
    { range: 'bytes=0-1,5-6' },
    { range: 'bytes=0-9', 'if-range': '"another"' },
    { range: 'bytes=0-9', 'if-range': `W/${etag}` },
    { range: 'bytes=0-9', 'if-range': new Date().toUTCString() },
  ];
  for (const headers of others) {
    const { status, body } = await ask(port, '/net.onnx', headers);
    assert.deepEqual([status, body.length], [200, 100_000], JSON.stringify(headers));
  }
  const beyond = await ask(port, '/net.onnx', { range: 'bytes=100000-' });
  assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, 'bytes */100000']);
});

test('20 requests at once for an uncached file: one fetch at the origin, 20 whole answers', async (t) => {
  const origin = await CountingOrigin.start();
  t.after(() => origin.stop());
  origin.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, 10));
    setTimeout(() => response.end(content.subarray(10)), 50);
  };
  const { port } = await serve(t, new URL(`http://${origin.host}`));
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port, '/net.onnx')));
  assert.equal(origin.requests.length, 1);
  for (const { status, body } of answers) assert.ok(status === 200 && body.equals(content));
  assert.equal(new Set(answers.map(({ headers }) => headers.etag)).size, 1);
});

test('a fetch goes on when all who asked for it have gone', async (t) => {
  const origin = await CountingOrigin.start();
  t.after(() => origin.stop());
  let finish = (): void => {};
  const asked = new Promise<void>((resolve) => {
    origin.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': content.length });
      finish = () => response.end(content);
      resolve();
    };
  });
  const { directory, port } = await serve(t, new URL(`http://${origin.host}`));
  const gone = httpRequest({ host: '127.0.0.1', port, path: '/net.onnx', agent: false });
  gone.on('error', () => {});
  gone.end();
  await asked;
  gone.destroy();
  finish();
  assert.ok((await ask(port, '/net.onnx')).body.equals(content));
  assert.equal(origin.requests.length, 1);
  assert.deepEqual(
    readdirSync(directory).filter((name) => !name.endsWith('.fetched')),
    ['net.onnx'],
  );
});

test('faults have the statuses that they should', async (t) => {
  const origin = await CountingOrigin.start();
  t.after(() => origin.stop());
  const { port } = await serve(t, new URL(`http://${origin.host}`));
  assert.equal((await ask(port, '/none.onnx')).status, 404);
  assert.equal((await ask(port, '/..%2Fnone.onnx')).status, 400);
  origin.answer = (_request, response) => response.writeHead(500).end();
  assert.equal((await ask(port, '/broken.onnx')).status, 502);
});

const linkOf = (fd: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
};

/** Waits until so many files of a directory are open; how long is the test's own limit. */
const untilOpen = async (directory: string, count: number): Promise<void> => {
  if (process.platform !== 'linux') return;
  const isOpen = (fd: string): boolean => linkOf(fd).startsWith(directory);
  while (readdirSync('/proc/self/fd').filter(isOpen).length !== count)
    await new Promise((resolve) => setTimeout(resolve, 5));
};

test('a client that goes away, and a file that shrinks, leave no open file and no answer that seems whole', {
  timeout: 120_000,
}, async (t) => {
  const { directory, port } = await serve(t);
  // Node closes a forgotten file at some collection of garbage, and warns.
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): number => warnings.push(message);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  const path = join(directory, 'big.onnx');
  writeFileSync(path, '');
  truncateSync(path, 64_000_000);
  const headers = {
    range: 'bytes=64000000-',
    'if-range': (await ask(port, '/big.onnx', {}, 'HEAD')).headers.etag!,
  };
  assert.equal((await ask(port, '/big.onnx', headers)).status, 416);
  assert.equal((await ask(port, '/big.onnx', { 'if-none-match': '*' })).status, 304);
  const gone = httpRequest({ host: '127.0.0.1', port, path: '/big.onnx', agent: false });
  gone.on('error', () => {});
  gone.end();
  const [response] = await once(gone, 'response');
  response.on('error', () => {});
  await once(response, 'readable');
  await untilOpen(directory, 1);
  gone.destroy();

  // On a connection that stays, nothing but the count of bytes tells the client that some are missing.
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const shrinking = httpRequest({ host: '127.0.0.1', port, path: '/big.onnx', agent });
  shrinking.end();
  const [half] = await once(shrinking, 'response');
  await once(half, 'readable');
  truncateSync(path, 1_000);
  // Nothing else would end it, on a connection that stays.
  await assert.rejects(async () => {
    for await (const _piece of half);
  });
  await untilOpen(directory, 0);
  assert.deepEqual(warnings, []);
});
