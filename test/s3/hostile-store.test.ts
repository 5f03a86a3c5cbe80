import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { AppError } from '../../src/base/errors.js';
import { s3AddressOf } from '../../src/base/s3-address.js';
import { S3Client } from '../../src/s3/s3-client.js';
import { FakeClock } from '../support/fake-clock.js';

/** A store that answers what no honest one would. */
const hostile = async (
  t: TestContext,
  listener: RequestListener,
  key = 'key',
): Promise<{ client: S3Client; clock: FakeClock }> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const clock = new FakeClock();
  const client = new S3Client(s3AddressOf(`http://${key}:secret@127.0.0.1:${port}/bucket`)!, { clock });
  t.after(() => client.close());
  return { client, clock };
};

const saying = (t: TestContext, text: string, status = 200, headers: Record<string, string> = {}) =>
  hostile(t, (request, response) => {
    request.resume();
    response.writeHead(status, headers).end(text);
  });

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (value) => assert.fail(`it went well: ${String(value)}`),
    (fault: unknown) => (fault instanceof AppError ? fault.code : String(fault)),
  );

test('XML that is none, or an attack, is refused', async (t) => {
  const bomb = `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><ListBucketResult>&b;</ListBucketResult>`;
  const deep = '<a>'.repeat(10_000) + '</a>'.repeat(10_000);
  const many = `<ListBucketResult>${'<Contents/>'.repeat(100_000)}</ListBucketResult>`;
  const noName = '<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>';
  const badSize = '<ListBucketResult><Contents><Key>a</Key><Size>1e9</Size></Contents></ListBucketResult>';
  const badName =
    '<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%zz</Key><Size>1</Size></Contents></ListBucketResult>';
  for (const text of [
    bomb,
    deep,
    many,
    noName,
    badSize.replace('1e9', '-1'),
    badName,
    '',
    'no xml',
    '<A/><B/>',
  ]) {
    const { client } = await saying(t, text);
    assert.equal(await codeOf(client.list('')), 's3_bad_answer', text.slice(0, 80));
  }
});

test('answers are bounded, and lists have an end', async (t) => {
  const { client } = await saying(t, 'x'.repeat(5 << 20));
  assert.equal(await codeOf(client.list('')), 's3_bad_answer');
  assert.equal(await codeOf(client.read('a', 0, 100)), 's3_bad_answer');
  const endless =
    '<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>7</NextPartNumberMarker></ListPartsResult>';
  assert.equal(await codeOf((await saying(t, endless)).client.listParts('a', 'id')), 's3_bad_answer');
  const again =
    '<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>';
  assert.equal(await codeOf((await saying(t, again)).client.list('', { after: 't' })), 's3_bad_answer');
});

test('words that nobody says are refused: they would be written down again and again', async (t) => {
  const long = 'e'.repeat(5_000);
  const listener: RequestListener = (request, response) => {
    request.resume();
    response.writeHead(200, { etag: `"${long}"`, 'content-length': '0' }).end();
  };
  const { client } = await hostile(t, listener);
  assert.equal(await codeOf(client.put('a', { bytes: Buffer.from('x') })), 's3_bad_answer');
  assert.equal(await codeOf(client.head('a')), 's3_bad_answer');
  const begun = `<InitiateMultipartUploadResult><UploadId>${long}</UploadId></InitiateMultipartUploadResult>`;
  assert.equal(await codeOf((await saying(t, begun)).client.createUpload('a')), 's3_bad_answer');
  const joined = `<CompleteMultipartUploadResult><ETag>${long}</ETag></CompleteMultipartUploadResult>`;
  assert.equal(await codeOf((await saying(t, joined)).client.completeUpload('a', 'id', [])), 's3_bad_answer');
});

test('an answer that goes on for ever, a little at a time, has an end', async (t) => {
  const { client, clock } = await hostile(t, (_, response) => {
    response.writeHead(200).write('<ListBucketResult>');
    const more = setInterval(() => response.write(' '), 2);
    response.on('close', () => clearInterval(more));
  });
  const code = codeOf(client.list(''));
  const timer = setInterval(() => clock.advance(20_000), 20);
  assert.equal(await code, 's3_unavailable');
  clearInterval(timer);
  assert.ok(clock.monotonicMs() < 1_800_000, String(clock.monotonicMs()));
});

test('ranges that are none, and too short ones, are refused', async (t) => {
  assert.equal(await codeOf((await saying(t, 'abcd')).client.read('a', 4, 8)), 's3_bad_answer');
  assert.equal(await codeOf((await saying(t, 'ab', 206)).client.read('a', 4, 8)), 's3_bad_answer');
});

test('redirects are not followed, and name the region', async (t) => {
  const { client } = await saying(t, '', 301, {
    location: 'http://127.0.0.1:1/bucket',
    'x-amz-bucket-region': 'eu-central-1',
  });
  const fault = await client.list('').catch((thrown: AppError) => thrown);
  assert.ok(fault instanceof AppError);
  assert.equal(fault.code, 's3_refused');
  assert.match(fault.message, /region=eu-central-1/);
});

test('a store that knows no conditions is asked before whether it has one of that name, and that is told once', async (t) => {
  const objects = new Set<string>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    asked.push(method);
    request.resume();
    if (headers['if-none-match'] !== undefined)
      return response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
    if (method === 'HEAD')
      return response.writeHead(objects.has(url) ? 200 : 404, { etag: '"e"', 'content-length': '1' }).end();
    objects.add(url);
    return response.writeHead(200, { etag: '"e"' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const warned: string[] = [];
  const client = new S3Client(s3AddressOf(`http://key:secret@127.0.0.1:${port}/bucket`)!, {
    clock: new FakeClock(),
    log: { warn: (message) => void warned.push(message) },
  });
  t.after(() => client.close());
  const put = (name: string) => client.put(name, { bytes: Buffer.from('x') });
  assert.equal(await put('a'), 'e');
  assert.equal(await put('b'), 'e');
  assert.deepEqual(asked, ['PUT', 'HEAD', 'PUT', 'HEAD', 'PUT']);
  assert.deepEqual(warned.length, 1);
  objects.add('/bucket/c');
  assert.equal(await codeOf(put('c')), 's3_taken');
  assert.equal(await client.put('c', { bytes: Buffer.from('x') }, { mayReplace: true }), 'e');
});

test('trouble of the store is no refusal', async (t) => {
  const slowDown = '<Error><Code>SlowDown</Code><Message>Reduce\nyour\u0007 rate.</Message></Error>';
  const { client } = await saying(t, slowDown, 503);
  const fault = await client.list('').catch((thrown: AppError) => thrown);
  assert.ok(fault instanceof AppError);
  assert.deepEqual(
    [fault.code, fault.message],
    ['s3_unavailable', 'the store answered 503 SlowDown: Reduce your rate.'],
  );
  assert.equal(await codeOf((await saying(t, '', 429)).client.list('')), 's3_unavailable');
  const late = '<Error><Code>InternalError</Code></Error>';
  assert.equal(await codeOf((await saying(t, late)).client.completeUpload('a', 'id', [])), 's3_unavailable');
  const wrong = '<Error><Code>InvalidPart</Code></Error>';
  assert.equal(await codeOf((await saying(t, wrong)).client.completeUpload('a', 'id', [])), 's3_refused');
  const digest = '<Error><Code>BadDigest</Code></Error>';
  assert.equal(
    await codeOf((await saying(t, digest, 400)).client.put('a', { bytes: Buffer.from('x') })),
    's3_damaged',
  );
});

test('a store that falls silent is given up, be it before, in or behind its answer', async (t) => {
  const silences: RequestListener[] = [
    () => {},
    (_, response) => void response.writeHead(200, { 'content-length': '10' }).write('abc'),
  ];
  for (const listener of silences) {
    let asked: () => void = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { client, clock } = await hostile(t, (request, response) => {
      listener(request, response);
      asked();
    });
    const code = codeOf(client.read('a', 0, 10));
    await isAsked;
    await new Promise((resolve) => setImmediate(resolve));
    // Progress sets the time anew: it is over once it was over since the last of it.
    const timer = setInterval(() => clock.advance(40_000), 10);
    assert.equal(await code, 's3_unavailable');
    clearInterval(timer);
  }
});

test('an answer that breaks off is none, and neither is a connection that is closed', async (t) => {
  const cut: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('abc', () => response.destroy());
  };
  assert.equal(await codeOf((await hostile(t, cut)).client.read('a', 0, 10)), 's3_unavailable');
  const closed: RequestListener = (request) => request.destroy();
  assert.equal(await codeOf((await hostile(t, closed)).client.read('a', 0, 10)), 's3_unavailable');
});

test('a connection that was closed while it lay idle costs nothing', async (t) => {
  let asked = 0;
  const { client } = await hostile(t, (request, response) => {
    asked += 1;
    request.resume();
    response.end('<ListBucketResult/>');
    // Closed without a word, as routers do: the next request on it finds that.
    response.on('finish', () => setImmediate(() => request.socket.resetAndDestroy()));
  });
  for (let at = 0; at < 5; at += 1) await client.list('');
  assert.equal(asked, 5);
});

test('a 404 that does not say what is not there deletes nothing, and is no word of an object', async (t) => {
  // As of a proxy whose store is being replaced.
  for (const text of [
    '',
    '<html><body>404 page not found</body></html>',
    '<Error><Code>Gone</Code></Error>',
  ]) {
    const { client } = await saying(t, text, 404);
    assert.equal(await codeOf(client.delete('a')), 's3_unavailable', text);
    assert.equal(await codeOf(client.abortUpload('a', 'id')), 's3_unavailable', text);
    assert.equal(await codeOf(client.read('a', 0, 10)), 's3_unavailable', text);
  }
  const { client } = await saying(t, '<Error><Code>NoSuchKey</Code></Error>', 404);
  await client.delete('a');
  assert.equal(await codeOf(client.read('a', 0, 10)), 's3_not_found');
  // An answer to HEAD has no body to say it in.
  assert.equal(await client.head('a'), null);
});

test('that the clock is wrong is heard though a HEAD is refused without a word', async (t) => {
  const skewed = '<Error><Code>RequestTimeTooSkewed</Code></Error>';
  const wrong = await saying(t, skewed, 403);
  assert.equal(await codeOf(wrong.client.head('a')), 's3_clock');
  const asked: string[] = [];
  const { client } = await hostile(t, (request, response) => {
    asked.push(request.method ?? '');
    request.resume();
    if (request.method === 'HEAD') response.writeHead(403).end();
    else response.end('<ListBucketResult/>');
  });
  assert.equal(await codeOf(client.head('a')), 's3_refused');
  assert.deepEqual(asked, ['HEAD', 'GET']);
});

/** Takes all that it is asked, and says that it did; it never answers. */
const swallowing = async (t: TestContext) => {
  let taken: () => void = () => {};
  const isTaken = new Promise<void>((resolve) => {
    taken = resolve;
  });
  const { client, clock } = await hostile(t, (request) => void request.resume().on('end', () => taken()));
  return { client, clock, isTaken };
};

test('a store behind a proxy that takes all at once has its time to take it itself, which has an end', async (t) => {
  const { client, clock, isTaken } = await swallowing(t);
  let code: string | null = null;
  const put = codeOf(client.uploadPart('a', 'id', 1, { bytes: Buffer.alloc(300_000) }));
  void put.then((said) => {
    code = said;
  });
  await isTaken;
  clock.advance(120_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(code, null);
  clock.advance(120_000);
  assert.equal(await put, 's3_unavailable');
});

test('a page with 200 is no word of a deletion', async (t) => {
  const page = '<html><body>We are back soon</body></html>';
  const { client } = await saying(t, page);
  assert.equal(await codeOf(client.delete('a')), 's3_bad_answer');
  assert.equal(await codeOf(client.abortUpload('a', 'id')), 's3_bad_answer');
  const other = (await saying(t, '', 202)).client;
  assert.equal(await codeOf(other.delete('a')), 's3_bad_answer');
  for (const status of [200, 204]) await (await saying(t, '', status)).client.delete('a');
});

test('only who says that it knows no conditions is asked without them', async (t) => {
  const asked: unknown[] = [];
  const { client } = await hostile(t, (request, response) => {
    asked.push(request.headers['if-none-match']);
    request.resume();
    response.writeHead(501).end('<html>not now</html>');
  });
  assert.equal(await codeOf(client.put('a', { bytes: Buffer.from('x') })), 's3_unavailable');
  assert.deepEqual(asked, ['*']);
});

test('what a store repeats of who asks, and of the signature, is in no error', async (t) => {
  const said =
    'no user key0; Authorization: Credential=key0/x, Signature=0123abcd of key0 &amp; X-Amz-Signature=77ff';
  const listener: RequestListener = (request, response) => {
    request.resume();
    response.writeHead(403).end(`<Error><Code>Denied-key0</Code><Message>${said}</Message></Error>`);
  };
  const { client } = await hostile(t, listener, 'key0');
  const fault = await client.list('').catch((thrown: AppError) => thrown);
  assert.ok(fault instanceof AppError);
  assert.match(fault.message, /no user/);
  assert.doesNotMatch(JSON.stringify([fault.message, fault.details]), /key0|0123abcd|77ff/);
});
