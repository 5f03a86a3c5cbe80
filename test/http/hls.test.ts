import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hlsRoutes, type LiveHlsSource } from '../../src/http/routes/hls.js';
import { sourceKey } from '../../src/ring/source-key.js';
import { FIRST, HlsCamera, type HlsRig, makeHls } from '../live/hls/hls-camera.js';
import { addressesOf, parse } from '../live/hls/playlist-reader.js';
import { fixtures } from '../support/fixtures.js';
import { until } from '../support/until.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

let server: WebServer;
let rig: HlsRig;
const cameras = new Map<string, HlsCamera>();

/** Routes are declared before the server's clock is there. */
const hls: LiveHlsSource = {
  master: (...asked) => rig.hls.master(...asked),
  video: (...asked) => rig.hls.video(...asked),
  subtitles: (...asked) => rig.hls.subtitles(...asked),
  lowLatency: (...asked) => rig.hls.lowLatency(...asked),
  file: (...asked) => rig.hls.file(...asked),
};

before(async () => {
  server = await startWebServer(hlsRoutes({ hls, sources: { sourceOf: sourceKey } }));
  rig = makeHls(server.clock);
  for (const id of ['open', 'locked', sourceKey('locked', 'sub')]) {
    const camera = new HlsCamera(server.clock, fixtures.h264High(), fixtures.aac());
    cameras.set(id, camera);
    rig.cameras.set(id, camera);
  }
});
after(async () => {
  rig.hls.stop();
  await server.stop();
});

/** Asks, and lets the camera send until there is an answer. */
const opened = async (cameraId: string, path: string) => {
  const asked = server.call('GET', path);
  let isAnswered = false;
  void asked.finally(() => (isAnswered = true));
  await until(`${path} is answered`, () => {
    if (!isAnswered) cameras.get(cameraId)!.play(0.1);
    return isAnswered;
  });
  return await asked;
};

test('a camera without token_auth is open to all, and addresses carry nothing', async () => {
  const master = await opened('open', '/stream/hls/open/index.m3u8');
  assert.equal(master.status, 200);
  assert.equal(master.headers.get('content-type'), 'application/vnd.apple.mpegurl');
  assert.equal(master.headers.get('access-control-allow-origin'), '*');
  assert.equal(master.headers.get('cache-control'), 'no-store');
  assert.doesNotMatch(master.text, /\?/);
  const playlist = await opened('open', '/stream/hls/open/stream.m3u8');
  const [first] = addressesOf(parse(playlist.text));
  const segment = await server.call('GET', `/stream/hls/open/${first}`);
  assert.deepEqual([segment.status, segment.headers.get('content-type')], [200, 'video/mp2t']);
  const lowLatency = await server.call('GET', '/stream/hls/open/ll.m3u8');
  assert.equal(lowLatency.status, 200);
  // However late the first request came, and however long the answers took: what was just named is there.
  const number = /\d+/.exec(first!)![0];
  for (const [name, type] of [
    [`subs_${number}.vtt`, 'text/vtt; charset=utf-8'],
    [`segment_${number}.m4s`, 'video/mp4'],
    [`part_${number}_0.m4s`, 'video/mp4'],
    [/init_\d+\.mp4/.exec(lowLatency.text)![0], 'video/mp4'],
  ] as const) {
    const { status, headers } = await server.call('GET', `/stream/hls/open/${name}`);
    assert.deepEqual([status, headers.get('content-type')], [200, type], name);
  }
});

test('a token opens a viewing that outlives it, by the session or by the very address', async () => {
  const token = server.streamToken('locked');
  assert.equal((await server.call('GET', '/stream/hls/locked/index.m3u8')).status, 401);
  const master = await opened('locked', `/stream/hls/locked/index.m3u8?token=${token}`);
  const session = /\nstream\.m3u8\?session=([A-Za-z0-9_-]+)\n/.exec(master.text)![1]!;
  assert.ok(master.text.includes(`URI="subs.m3u8?session=${session}"`));
  const camera = cameras.get('locked')!;
  // Four minutes of a player that polls, long after the token's 60 s.
  for (let polls = 0; polls < 12; polls += 1) {
    camera.play(20);
    const video = await server.call('GET', `/stream/hls/locked/stream.m3u8?session=${session}`);
    assert.equal(video.status, 200);
    const address = addressesOf(parse(video.text)).at(-1)!;
    assert.ok(address.endsWith(`?session=${session}`));
    assert.equal((await server.call('GET', `/stream/hls/locked/${address}`)).status, 200);
    const again = await server.call('GET', `/stream/hls/locked/ll.m3u8?token=${token}`);
    assert.ok(again.text.includes(`?session=${session}`), 'the address that was opened goes on, too');
  }
  assert.equal(rig.hls.viewers('locked'), 1);
  camera.play(61);
  assert.equal((await server.call('GET', `/stream/hls/locked/stream.m3u8?session=${session}`)).status, 401);
  const unused = server.streamToken('locked');
  camera.play(61);
  assert.equal((await server.call('GET', `/stream/hls/locked/index.m3u8?token=${unused}`)).status, 401);
});

test('the sub-stream is played by its name, through a token, a session, and every child address', async () => {
  const sub = sourceKey('locked', 'sub');
  const token = server.streamToken('locked');
  const master = await opened(sub, `/stream/hls/locked/index.m3u8?stream=sub&token=${token}`);
  const child = /\n(stream\.m3u8\?session=[A-Za-z0-9_-]+&stream=sub)\n/.exec(master.text)![1]!;
  const video = await opened(sub, `/stream/hls/locked/${child}`);
  const query = child.slice(child.indexOf('?'));
  const addresses = addressesOf(parse(video.text));
  assert.ok(addresses.length > 0 && addresses.every((address) => address.endsWith(`.ts${query}`)));
  assert.equal((await server.call('GET', `/stream/hls/locked/${addresses[0]}`)).status, 200);
  const watchers = () => [rig.hls.viewers('locked'), rig.hls.viewers(sub)];
  const [ofMain] = watchers();
  await server.call('GET', `/stream/hls/locked/${addresses[0]}`);
  assert.deepEqual(watchers(), [ofMain, 1]);
});

test('what can not be answered says why', async () => {
  const statusOf = async (path: string) => {
    const { status, body, headers } = await server.call('GET', `/stream/hls/${path}`);
    return `${status} ${body?.code} ${headers.get('retry-after')}`;
  };
  await opened('open', '/stream/hls/open/index.m3u8');
  assert.equal(await statusOf('unknown/index.m3u8'), '404 not_found null');
  assert.equal(await statusOf(`open/segment_${FIRST + 99999}.ts`), '404 not_found null');
  assert.equal(await statusOf('open/nonsense'), '404 not_found null');
  assert.equal(await statusOf('open/stream.m3u8?stream=third'), '400 invalid_input null');
  assert.equal(await statusOf('open/stream.m3u8?stream='), '400 invalid_input null');
  assert.equal(await statusOf(`open/${'x'.repeat(65)}`), '400 invalid_input null');
  assert.equal(await statusOf(`open/ll.m3u8?_HLS_msn=${FIRST + 99999}`), '400 bad_request null');
  assert.equal(await statusOf('open/ll.m3u8?_HLS_msn=-1'), '400 invalid_input null');
  assert.equal(await statusOf('open/ll.m3u8?_HLS_part=1'), '400 invalid_input null');
  assert.equal(await statusOf('off/index.m3u8'), '503 no_picture 60');
  rig.cameras.set('dark', new HlsCamera(server.clock, fixtures.h264High()));
  server.cameras.set('dark', { tokenAuth: false, isDisabled: false });
  const dark = statusOf('dark/stream.m3u8');
  await until('the request waits', () => rig.cameras.get('dark')!.listeners.size === 1);
  server.clock.advance(10_100);
  assert.equal(await dark, '503 no_picture 2');
});
