import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, mock, test } from 'node:test';
import { OftenAsked } from '../../src/http/often-asked.js';
import type { Route } from '../../src/http/route.js';
import { hlsRoutes, type LiveHlsSource } from '../../src/http/routes/hls.js';
import { sourceKey } from '../../src/ring/source-key.js';
import { FIRST, HlsCamera, type HlsRig, makeHls } from '../live/hls/hls-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

/** The same service twice: as it is, and with all requests on the ordinary way. */
let quick: WebServer;
let ordinary: WebServer;
let rig: HlsRig;
const viewersSeen: unknown[] = [];
const taken = mock.method(OftenAsked.prototype, 'take');

const hls: LiveHlsSource = {
  master: (...asked) => rig.hls.master(...asked),
  video: (...asked) => rig.hls.video(...asked),
  subtitles: (...asked) => rig.hls.subtitles(...asked),
  lowLatency: (source, viewer, ...rest) => {
    viewersSeen.push(viewer.clientAddress);
    return rig.hls.lowLatency(source, viewer, ...rest);
  },
  file: (...asked) => rig.hls.file(...asked),
};

const ordinarily = ({ isOftenAsked: _, ...route }: Route): Route => route as Route;

before(async () => {
  const routes = hlsRoutes({ hls, sources: { sourceOf: sourceKey } });
  quick = await startWebServer(routes, [], null, 'loopback');
  ordinary = await startWebServer(routes.map(ordinarily), [], null, 'loopback');
  rig = makeHls(quick.clock);
  for (const id of ['open', 'locked']) rig.cameras.set(id, new HlsCamera(quick.clock, fixtures.h264High()));
  for (const id of ['open', 'locked']) {
    const asked = rig.hls.master(id, { session: null, clientAddress: '', stream: 'main' });
    rig.cameras.get(id)!.play(8.5);
    await asked;
  }
});
after(async () => {
  rig.hls.stop();
  await quick.stop();
  await ordinary.stop();
});

/** All that comes back for these very bytes, until the other side ends or falls silent behind its last answer. */
const exchange = async ({ url }: WebServer, sent: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // Of the last one, which may have a body.
  socket.write(sent.replace(/\r\n\r\n(?=[^\r]*$)/, '\r\nConnection: close\r\n\r\n'), 'latin1');
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
};

/** What is another in each answer. */
const comparable = (answer: string): string =>
  answer
    .replaceAll(/(Date|Service-Time): [^\r]+/g, '$1: now')
    .replaceAll(/X-Request-Id: [0-9a-f]{8}-[0-9a-f-]{27}/g, 'X-Request-Id: random')
    .replaceAll(/session=[\w-]{32}/g, 'session=random');

const get = (path: string, headers = '', line = 'GET', version = '1.1'): string =>
  `${line} /stream/hls/${path} HTTP/${version}\r\nHost: x\r\n${headers}\r\n`;

const tokenHeader = () => `Authorization: Bearer ${quick.accessToken('viewer')}\r\n`;

/** A viewing that each of the two knows. */
const sessionsOf = async (): Promise<Map<WebServer, string>> => {
  const sessions = new Map<WebServer, string>();
  for (const server of [quick, ordinary]) {
    const answer = await exchange(server, get('locked/ll.m3u8', tokenHeader()));
    sessions.set(server, /session=([\w-]{32})/.exec(answer)![1]!);
  }
  return sessions;
};

type Asked = readonly [what: string, status: number, isTaken: boolean, sent: () => string];

const LAST = FIRST + 2;
const matrix: readonly Asked[] = [
  ['a playlist of parts', 200, true, () => get('open/ll.m3u8')],
  ['one of segments', 200, true, () => get('open/stream.m3u8')],
  ['a master manifest', 200, true, () => get('open/index.m3u8')],
  ['subtitles', 200, true, () => get('open/subs.m3u8')],
  [
    'a playlist that waits for what is there',
    200,
    true,
    () => get(`open/ll.m3u8?_HLS_msn=${LAST}&_HLS_part=0`),
  ],
  ['a delta', 200, true, () => get(`open/ll.m3u8?_HLS_msn=${LAST}&_HLS_part=1&_HLS_skip=YES`)],
  ['an empty query', 200, true, () => get('open/ll.m3u8?')],
  ['what nobody knows in the query', 200, true, () => get('open/ll.m3u8?cache=1&also')],
  ['a part', 200, true, () => get(`open/part_${LAST}_0.m4s`)],
  ['a segment', 200, true, () => get(`open/segment_${FIRST}.m4s`)],
  ['MPEG-TS', 200, true, () => get(`open/segment_${FIRST}.ts`)],
  ['WebVTT', 200, true, () => get(`open/subs_${FIRST}.vtt`)],
  ['the head of fMP4', 200, true, () => get(`open/init_${FIRST}.mp4`)],
  ['the sub-stream of a camera without', 200, true, () => get('open/ll.m3u8?stream=main')],
  ['a range', 200, true, () => get(`open/part_${LAST}_0.m4s`, 'Range: bytes=0-9\r\n')],
  ['what a cache has', 200, true, () => get('open/ll.m3u8', 'If-None-Match: *\r\n')],
  ['who takes gzip', 200, true, () => get('open/ll.m3u8', 'Accept-Encoding: gzip, br\r\n')],
  ['an id of its own', 200, true, () => get('open/ll.m3u8', 'X-Request-Id: mine.1\r\n')],
  ['a page of another origin', 200, true, () => get('open/ll.m3u8', 'Origin: https://other.example\r\n')],
  ['a needless body', 200, true, () => get('open/ll.m3u8', 'Content-Length: 4\r\n').replace(/$/, 'body')],
  ['a good token in the header', 200, true, () => get('locked/ll.m3u8', tokenHeader())],
  ['one in the query', 200, true, () => get(`locked/ll.m3u8?token=${quick.streamToken('locked')}`)],
  ['one for nothing', 200, true, () => get('open/ll.m3u8?token=none')],
  ['no token', 401, true, () => get('locked/ll.m3u8')],
  ['an empty token', 401, true, () => get('locked/ll.m3u8?token=')],
  ['a bad token', 401, true, () => get('locked/ll.m3u8?token=none')],
  ['an unknown session', 401, true, () => get('locked/ll.m3u8?session=none')],
  ['an unknown camera', 404, true, () => get('unknown/ll.m3u8')],
  ['a disabled camera', 503, true, () => get('off/ll.m3u8')],
  ['a part that is gone', 404, true, () => get('open/part_1_1.m4s')],
  ['a file that nobody knows', 404, true, () => get('open/nonsense')],
  ['what is too far ahead', 400, true, () => get(`open/ll.m3u8?_HLS_msn=${LAST + 99}`)],
  ['a number that is none', 400, false, () => get('open/ll.m3u8?_HLS_msn=-1')],
  ['a part of nothing', 400, false, () => get('open/ll.m3u8?_HLS_part=1')],
  ['an unknown stream', 400, false, () => get('open/ll.m3u8?stream=third')],
  ['the same twice', 400, false, () => get('open/ll.m3u8?_HLS_msn=1&_HLS_msn=2')],
  ['two tokens', 401, false, () => get('locked/ll.m3u8?token=one&token=two')],
  ['two sessions', 401, false, () => get('locked/ll.m3u8?session=one&session=two')],
  ['an encoded query', 200, false, () => get('open/ll.m3u8?stream=m%61in')],
  ['an encoded path', 200, false, () => get('op%65n/ll.m3u8')],
  ['a badly encoded path', 400, false, () => get('op%zzn/ll.m3u8')],
  ['an id that is none', 400, false, () => get('.open/ll.m3u8')],
  ['a name that is too long', 400, false, () => get(`open/${'x'.repeat(65)}`)],
  ['a slash at the end', 404, false, () => get('open/ll.m3u8/')],
  ['another path', 404, false, () => get('open/more/ll.m3u8')],
  ['a whole address', 200, false, () => 'GET http://x/stream/hls/open/ll.m3u8 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['HEAD', 200, false, () => get('open/ll.m3u8', '', 'HEAD')],
  ['OPTIONS', 204, false, () => get('open/ll.m3u8', 'Origin: https://other.example\r\n', 'OPTIONS')],
  ['POST', 405, false, () => get('open/ll.m3u8', '', 'POST')],
  ['HTTP/1.0', 200, false, () => get('open/ll.m3u8', '', 'GET', '1.0')],
  ['no host', 400, false, () => 'GET /stream/hls/open/ll.m3u8 HTTP/1.1\r\n\r\n'],
];

for (const [what, status, isTaken, sent] of matrix) {
  test(`the quick way answers like the ordinary one: ${what}`, async () => {
    taken.mock.resetCalls();
    const request = sent();
    const expected = await exchange(ordinary, request);
    const got = await exchange(quick, request);
    assert.equal(comparable(got), comparable(expected));
    assert.equal(got.slice(9, 12), String(status));
    assert.equal(taken.mock.calls.at(-1)?.result ?? false, isTaken);
  });
}

test('a session goes on, and stands in all addresses', async () => {
  const sessions = await sessionsOf();
  const ask = (server: WebServer, path: string) =>
    exchange(server, get(`locked/${path}?session=${sessions.get(server)}`));
  const [, part] = /URI="(part_\d+_0\.m4s)\?session=/.exec(await ask(quick, 'll.m3u8'))!;
  for (const path of ['ll.m3u8', 'stream.m3u8', part!]) {
    const [got, expected] = [await ask(quick, path), await ask(ordinary, path)];
    assert.equal(comparable(got), comparable(expected));
    assert.equal(got.slice(9, 12), '200');
    if (path !== part) assert.ok(got.includes(`?session=${sessions.get(quick)}`));
  }
});

test('many requests in a row on one connection are answered in their order', async () => {
  const requests = [
    get('open/ll.m3u8', 'X-Request-Id: 1\r\n'),
    get(`open/part_${LAST}_0.m4s`, 'X-Request-Id: 2\r\n'),
    get('open/ll.m3u8', 'X-Request-Id: 3\r\n', 'HEAD'),
    get('unknown/ll.m3u8', 'X-Request-Id: 4\r\n'),
    get(`open/segment_${FIRST}.m4s`, 'X-Request-Id: 5\r\n'),
    get('open/stream.m3u8', 'X-Request-Id: 6\r\n'),
  ].join('');
  const got = await exchange(quick, requests);
  assert.equal(comparable(got), comparable(await exchange(ordinary, requests)));
  assert.deepEqual([...got.matchAll(/X-Request-Id: (\d)/g)].map(([, id]) => id).join(''), '123456');
});

test('whoever loses the right while waiting for a part is told, and so is who asks for a camera that goes', async () => {
  const camera = rig.cameras.get('open')!;
  const ask = async (query: string) => {
    viewersSeen.length = 0;
    const answer = exchange(quick, get(`open/ll.m3u8?${query}`));
    // It has passed the first check, and waits.
    while (viewersSeen.length === 0) await new Promise(setImmediate);
    return answer;
  };
  const waiting = ask(`_HLS_msn=${LAST + 2}&token=${quick.streamToken('open')}`);
  while (viewersSeen.length === 0) await new Promise(setImmediate);
  quick.cameras.set('open', { tokenAuth: false, isDisabled: true });
  camera.play(4.5);
  assert.match(await waiting, /^HTTP\/1\.1 503 [\s\S]*"no_picture"/);
  quick.cameras.set('open', { tokenAuth: false, isDisabled: false });
  const locked = ask(`_HLS_msn=${LAST + 4}`);
  while (viewersSeen.length === 0) await new Promise(setImmediate);
  quick.cameras.set('open', { tokenAuth: true, isDisabled: false });
  camera.play(4.5);
  assert.match(await locked, /^HTTP\/1\.1 401 [\s\S]*"token_missing"/);
  quick.cameras.set('open', { tokenAuth: false, isDisabled: false });
  const left = ask(`_HLS_msn=${LAST + 6}`);
  while (viewersSeen.length === 0) await new Promise(setImmediate);
  camera.remove();
  assert.match(await left, /^HTTP\/1\.1 404 [\s\S]*"not_found"/);
});

test('clients of a trusted proxy are told apart, and requests are reported by their declared path', async () => {
  const asked = rig.hls.master('locked', { session: null, clientAddress: '', stream: 'main' });
  rig.cameras.get('locked')!.play(4.5);
  await asked;
  viewersSeen.length = 0;
  quick.reported.length = 0;
  const token = quick.streamToken('locked');
  const request = get(`locked/ll.m3u8?token=${token}`, 'X-Forwarded-For: 203.0.113.9\r\n');
  for (const server of [quick, ordinary]) await exchange(server, request);
  assert.deepEqual(viewersSeen, ['203.0.113.9', '203.0.113.9']);
  assert.deepEqual(quick.reported, ['GET /stream/hls/:id/ll.m3u8 200']);
  assert.doesNotMatch(quick.logText(), new RegExp(token));
});
