import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
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
