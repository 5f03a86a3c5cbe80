import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { closedName } from '../../src/archive/files/file-name.js';
import { film } from '../archive/filmed.js';
import { generateVideo } from '../support/frame-generator.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';
import { until } from '../support/until.js';

const startMs = Date.now() - 600_000;
const when = `from=${new Date(startMs).toISOString()}&to=${new Date(startMs + 60_000).toISOString()}`;
let app: TestApp;
let fileName: string;
let fileBytes: number;

before(async () => {
  app = await startTestApp({ env: { TRUST_PROXY: 'loopback' } });
  // More than sockets hold.
  const made = film({ video: generateVideo({ kbps: 60_000, gops: 6 }), startMs });
  fileName = closedName(made.startMs, made.endMs);
  fileBytes = made.bytes.length;
  for (const [id, token_auth] of [
    ['locked', true],
    ['open', false],
  ] as const) {
    await app.asAdmin('POST', '/api/cameras', { id, url: 'rtsp://127.0.0.1/1', disabled: true, token_auth });
    const folder = join(app.dataDir, 'recordings', id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, fileName), made.bytes);
  }
});
after(() => app.stop());

/** A download whose bytes nobody takes yet. */
const begin = (
  t: TestContext,
  path: string,
  { token = '', from = '192.0.2.1' }: { token?: string; from?: string } = {},
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = {
      'x-forwarded-for': from,
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    };
    const request = httpRequest(new URL(path, app.url), { agent: false, headers }, (response) => {
      response.on('error', () => {});
      resolve(response);
    });
    request.once('error', reject).end();
    t.after(() => request.destroy());
  });

/** Takes what there still is: how much that was. */
const restOf = async (response: IncomingMessage): Promise<number> => {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await until('it is over', () => response.destroyed);
  return bytes;
};

test('whose rights end is sent nothing more of a recording or an export that was begun', async (t) => {
  const account = { username: 'olga', password: USER_PASSWORD };
  await app.asAdmin('POST', '/api/users', { ...account, role: 'viewer' });
  const { token } = (await app.call('POST', '/api/login', { body: account })).body;
  const downloads = await Promise.all([
    begin(t, `/hls/locked/recording.mp4?file=${fileName}`, { token }),
    begin(t, `/api/cameras/locked/export?${when}`, { token }),
  ]);
  assert.deepEqual(
    downloads.map(({ statusCode }) => statusCode),
    [200, 200],
  );
  await app.asAdmin('DELETE', '/api/users/olga');
  for (const download of downloads) assert.ok((await restOf(download)) < fileBytes / 2);
});

test('one user takes no more than a share of the exports that there can be at once', async (t) => {
  const { viewer, service } = app.tokens;
  const path = `/api/cameras/locked/export?${when}`;
  const statusOf = async (token: string) => (await begin(t, path, { token })).statusCode;
  const statuses = await Promise.all(Array.from({ length: 12 }, () => statusOf(viewer)));
  assert.deepEqual(statuses.toSorted(), [...Array(8).fill(200), ...Array(4).fill(503)]);
  assert.equal(await statusOf(service), 200);
});

test('the addresses of one network share what one viewer may read at once', async (t) => {
  const path = `/stream/archive/open/frames?${when}`;
  const readings = await Promise.all(
    Array.from({ length: 24 }, (_, at) => begin(t, path, { from: `2001:db8:0:7::${at + 1}` })),
  );
  assert.ok(readings.every(({ statusCode }) => statusCode === 200));
  assert.equal((await begin(t, path, { from: '2001:db8:0:7::ffff' })).statusCode, 503);
  assert.equal((await begin(t, path, { from: '2001:db8:0:8::1' })).statusCode, 200);
  readings[0]!.destroy();
  await until('there is room again', async () => {
    const reading = await begin(t, path, { from: '2001:db8:0:7::ffff' });
    return reading.statusCode === 200;
  });
});

test('slow players of one network hold no more memory by segments than their share', async (t) => {
  const path = (at: number): string => `/hls/open/segment.ts?file=${fileName}&seq=${at % 5}`;
  const headers = { 'x-forwarded-for': '2001:db8:0:9::1' };
  for (let at = 0; at < 30; at += 1) {
    const leaving = httpRequest(new URL(path(at), app.url), { agent: false, headers });
    leaving.on('error', () => {}).end();
    await new Promise((resolve) => setTimeout(resolve, at));
    leaving.destroy();
  }
  const first = await begin(t, path(0), { from: '2001:db8:0:9::1' });
  const segmentBytes = Number(first.headers['content-length']);
  assert.ok(segmentBytes > 5e6, `${segmentBytes} bytes`);
  const statuses = [first.statusCode];
  for (let at = 1; at < 24; at += 1)
    statuses.push((await begin(t, path(at), { from: `2001:db8:0:9::${at + 1}` })).statusCode);
  assert.equal(statuses.filter((status) => status === 200).length, Math.floor(128e6 / segmentBytes));
  assert.deepEqual(new Set(statuses), new Set([200, 503]));
  const other = await begin(t, path(0), { from: '2001:db8:0:a::1' });
  assert.equal(other.statusCode, 200);
  assert.equal(await restOf(other), segmentBytes);
});

test('whoever asked for many segments at once and left, with none of them sent, holds none', async (t) => {
  const from = '192.0.2.33';
  const path = (at: number): string => `/hls/open/segment.ts?file=${fileName}&seq=${at % 5}`;
  const probe = async (): Promise<number | undefined> => {
    const response = await begin(t, path(0), { from });
    response.destroy();
    return response.statusCode;
  };
  const { hostname, port } = new URL(app.url);
  const socket = connect({ host: hostname, port: Number(port) }).pause();
  t.after(() => socket.destroy());
  const paths = [
    `/hls/open/recording.mp4?file=${fileName}`,
    ...Array.from({ length: 24 }, (_, at) => path(at)),
  ];
  const head = `Host: x\r\nX-Forwarded-For: ${from}\r\n\r\n`;
  socket.write(paths.map((each) => `GET ${each} HTTP/1.1\r\n${head}`).join(''));
  await until('they are held', async () => (await probe()) === 503);
  socket.destroy();
  await until('none is held', async () => (await probe()) === 200);
});

test('a camera that is switched off is recorded no more, but its recordings go on to be sent', async (t) => {
  await app.asAdmin('PUT', '/api/cameras/open', { disabled: false });
  const from = '192.0.2.77';
  const downloads = [
    await begin(t, `/hls/open/recording.mp4?file=${fileName}`, { from }),
    await begin(t, `/stream/archive/open/frames?${when}`, { from }),
  ];
  await app.asAdmin('PUT', '/api/cameras/open', { disabled: true });
  for (const download of downloads) {
    assert.ok((await restOf(download)) > fileBytes * 0.9);
    assert.ok(download.complete);
  }
});
