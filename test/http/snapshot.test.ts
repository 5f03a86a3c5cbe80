import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLogger } from '../../src/base/log.js';
import { type PictureSource, snapshotRoutes } from '../../src/http/routes/snapshot.js';
import type { StreamName } from '../../src/http/schemas.js';
import { Pictures } from '../../src/pictures/pictures.js';
import { sourceKey } from '../../src/ring/source-key.js';
import { feedsOf, HlsCamera } from '../live/hls/hls-camera.js';
import { FakeKeyframes } from '../pictures/fake-keyframes.js';
import { HeldDecoder } from '../pictures/held-decoder.js';
import { fixtures } from '../support/fixtures.js';
import { until } from '../support/until.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

const decoder = new HeldDecoder();
const archive = new FakeKeyframes();
const cameras = new Map<string, HlsCamera>();
let server: WebServer;
let pictures: Pictures;

/** Routes are declared before the server's clock is there. */
const source: PictureSource = {
  live: (...asked) => pictures.live(...asked),
  archived: (...asked) => pictures.archived(...asked),
};

before(async () => {
  const sources = {
    sourceOf: (id: string, stream: StreamName) => sourceKey(id, id === 'open' ? stream : 'main'),
  };
  server = await startWebServer(snapshotRoutes({ pictures: source, sources }));
  const { clock } = server;
  cameras.set('open/sub', new HlsCamera(clock, fixtures.h265Main()));
  for (const id of ['open', 'locked', 'dark', 'off'])
    cameras.set(id, new HlsCamera(clock, fixtures.h264High()));
  server.cameras.set('dark', { tokenAuth: false, isDisabled: false });
  pictures = new Pictures(
    { atOnce: 1 },
    { clock, log: createLogger(() => {}), feeds: feedsOf(cameras), archive, decoder },
  );
});
after(() => server.stop());

const path = (id: string, query = ''): string => `/api/cameras/${id}/snapshot.jpg${query}`;

/** Asks, and lets the decoder make the picture if it is asked to. */
const picture = async (id: string, query = '', headers: Record<string, string> = {}) => {
  cameras.get(id)?.play(2);
  const asked = server.call('GET', path(id, query), { headers });
  let isAnswered = false;
  void asked.finally(() => (isAnswered = true));
  await until('there is an answer', () => {
    if (decoder.running > 0) decoder.end({ jpeg: Buffer.from('a picture') });
    return isAnswered;
  });
  return await asked;
};

test('a picture is sent with its time and a tag, which a client that has it may show', async () => {
  const { status, headers, text } = await picture('open');
  assert.deepEqual([status, text], [200, 'a picture']);
  assert.equal(headers.get('content-type'), 'image/jpeg');
  assert.equal(headers.get('cache-control'), 'private, max-age=1');
  const takenMs = Date.parse(headers.get('picture-time') ?? '');
  assert.ok(server.clock.wallMs() - takenMs < 2_000);
  const again = await picture('open', '', { 'if-none-match': headers.get('etag') ?? '' });
  assert.deepEqual([again.status, again.text], [304, '']);
  const head = await server.call('HEAD', path('open'));
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '9']);
});

test('a width goes to the decoder, and nothing that is none', async () => {
  assert.equal((await picture('open', '?width=640')).status, 200);
  assert.equal(decoder.jobs.at(-1)?.maxWidth, 640);
  for (const width of ['', '15', '3841', '-640', '640.5', '640x', 'iw', '640:1', "0'", '1e9', 'NaN']) {
    const { status, body } = await picture('open', `?width=${encodeURIComponent(width)}`);
    assert.deepEqual([status, body.errors?.[0].path], [400, 'width'], width);
  }
});

test('the smaller stream has pictures of its own, where the camera has one', async () => {
  cameras.get('open/sub')!.play(2);
  assert.equal((await picture('open', '?stream=sub')).status, 200);
  assert.equal(decoder.jobs.at(-1)?.codec, 'h265');
  assert.equal((await picture('open', '?stream=main&width=100')).status, 200);
  assert.equal(decoder.jobs.at(-1)?.codec, 'h264');
  const token = server.accessToken('viewer');
  assert.equal((await picture('locked', `?stream=sub&token=${token}`)).status, 200);
  const { status, body } = await picture('open', '?stream=other');
  assert.deepEqual([status, body.errors?.[0].path], [400, 'stream']);
});

test('whoever loses the right while a picture is made gets none', async () => {
  const locked = { tokenAuth: true, isDisabled: false };
  const eve = server.users.get('eve')!;
  const withdrawals: readonly (readonly [number, () => void])[] = [
    [503, () => server.cameras.set('locked', { ...locked, isDisabled: true })],
    [404, () => server.cameras.delete('locked')],
    [
      401,
      () => {
        server.users.delete('eve');
        server.viewers.endForUser('eve');
      },
    ],
  ];
  for (const [width, [expected, withdraw]] of withdrawals.entries()) {
    server.cameras.set('locked', locked);
    cameras.get('locked')!.play(2);
    const asked = server.call(
      'GET',
      path('locked', `?width=${100 + width}&token=${server.accessToken('eve')}`),
    );
    await until('it is decoded', () => decoder.running === 1);
    withdraw();
    decoder.end({ jpeg: Buffer.from('a picture') });
    const { status, text } = await asked;
    assert.equal(status, expected);
    assert.doesNotMatch(text, /a picture/);
  }
  server.cameras.set('locked', locked);
  server.users.set('eve', eve);
  const asked = server.call('GET', path('open', '?width=200'));
  await until('it is decoded', () => decoder.running === 1);
  server.cameras.set('open', locked);
  decoder.end({ jpeg: Buffer.from('a picture') });
  assert.equal((await asked).status, 401, 'it asks for tokens now');
  server.cameras.set('open', { tokenAuth: false, isDisabled: false });
});

test('whoever may watch the camera may have its picture, and nobody else', async () => {
  assert.equal((await picture('unknown')).status, 404);
  assert.equal((await picture('locked')).status, 401);
  const elsewhere = server.streamToken('open');
  assert.equal((await picture('locked', `?token=${elsewhere}`)).status, 401);
  const token = server.streamToken('locked');
  assert.equal((await picture('locked', `?token=${token}`)).status, 200);
  server.clock.advance(61_000);
  assert.equal((await picture('locked', `?token=${token}`)).status, 401, 'nobody watched for a minute');
  const access = server.accessToken('viewer');
  assert.equal((await picture('locked', `?token=${access}`)).status, 200);
  assert.equal((await picture('locked', '', { authorization: `Bearer ${access}` })).status, 200);
});

test('stills that are asked for again and again go on with the token of the first', async () => {
  const query = `?token=${server.streamToken('locked')}`;
  for (let asked = 0; asked < 40; asked += 1) assert.equal((await picture('locked', query)).status, 200);
});

test('a camera without a picture is a 503 that says when to come back', async () => {
  const off = await server.call('GET', path('off'));
  assert.deepEqual([off.status, off.body.code, off.headers.get('retry-after')], [503, 'no_picture', '60']);
  const asked = server.call('GET', path('dark'));
  await until('it is waited for', () => cameras.get('dark')!.listeners.size === 1);
  server.clock.advance(10_000);
  const { status, body, headers } = await asked;
  assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'no_picture', '5']);
});

test('a client that leaves is waited with no longer', async () => {
  const leaving = new AbortController();
  const left = fetch(new URL(path('dark'), server.url), { signal: leaving.signal });
  await until('it is waited for', () => cameras.get('dark')!.listeners.size === 1);
  leaving.abort();
  await assert.rejects(left);
  await until('nobody waits', () => cameras.get('dark')!.listeners.size === 0);
});

test('what keeps ffmpeg from making a picture is told, and nothing of what it said', async () => {
  for (const [fault, status, code] of [
    ['missing', 501, 'ffmpeg_missing'],
    ['undecodable', 502, 'picture_undecodable'],
    ['too_slow', 502, 'picture_undecodable'],
    ['unstartable', 503, 'pictures_busy'],
  ] as const) {
    cameras.get('open')!.play(2);
    const asked = server.call('GET', path('open'));
    await until('it is decoded', () => decoder.running === 1);
    decoder.end({ fault, detail: 'said by ffmpeg' });
    const { body, text, headers } = await asked;
    assert.deepEqual([body.status, body.code], [status, code]);
    assert.doesNotMatch(text, /said by/);
    assert.equal(headers.has('retry-after'), status === 503);
    if (status === 501) assert.match(body.detail, /install .*ffmpeg.*FFMPEG_PATH/);
  }
});

test('the thumbnail of a moment is the same picture, and is asked for by its moment alone', async () => {
  const at = '2026-11-19T08:30:00Z';
  const snapshot = await picture('open', `?at=${at}&width=64`);
  const decoded = decoder.jobs.length;
  const of = (id: string, query: string) =>
    server.call('GET', `/api/cameras/${id}/archive/thumbnail.jpg${query}`);
  const thumbnail = await of('open', `?at=${at}&width=64`);
  assert.deepEqual([thumbnail.status, thumbnail.text], [200, 'a picture']);
  for (const name of ['etag', 'picture-time', 'cache-control', 'content-type'])
    assert.equal(thumbnail.headers.get(name), snapshot.headers.get(name), name);
  assert.equal(decoder.jobs.length, decoded, 'it was decoded once for both');
  for (const query of ['', '?at=now', `?at=${at}&width=1`])
    assert.equal((await of('open', query)).status, 400);
  assert.equal((await of('unknown', `?at=${at}`)).status, 404);
  assert.equal((await of('locked', `?at=${at}`)).status, 401);
  archive.asked.length = 0;
});

test('a moment is that of the archive, for whoever may play recordings', async () => {
  const at = '2026-11-20T08:30:00.250Z';
  const { status, headers } = await picture('open', `?at=${at}&width=64`);
  assert.equal(status, 200);
  assert.equal(headers.get('picture-time'), '2026-11-20T08:29:59.850Z');
  assert.equal(headers.get('cache-control'), 'private, max-age=3600');
  assert.deepEqual(archive.asked, [`open ${Date.parse(at)}`]);
  assert.equal((await picture('off', `?at=${at}`)).status, 200, 'a disabled camera has recordings');
  assert.equal((await picture('locked', `?at=${at}`)).status, 401);
  assert.equal((await picture('locked', `?at=${at}&token=${server.streamToken('locked')}`)).status, 200);
  const now = new Date(server.clock.wallMs()).toISOString();
  const recent = await picture('open', `?at=${now}`);
  assert.equal(recent.headers.get('cache-control'), 'private, max-age=1');
  for (const wrong of ['', 'now', '2026-02-30T00:00:00Z', '0']) {
    const { status, body } = await picture('off', `?at=${wrong}`);
    assert.deepEqual([status, body.errors?.[0].path], [400, 'at'], wrong);
  }
  archive.isDeleted = true;
  assert.equal((await picture('open', '?at=2020-01-01')).status, 404);
});
