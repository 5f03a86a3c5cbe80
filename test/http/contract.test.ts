import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { whepError } from '../../src/live/whep/errors.js';
import { writeClosed } from '../archive/recording-file.js';
import { addressesOf, parse } from '../live/hls/playlist-reader.js';
import { CountingOrigin } from '../models/counting-origin.js';
import { openEvents } from '../support/api-client.js';
import {
  checkAnswers,
  type Document,
  isForSomeRoles,
  isWatching,
  type Operation,
  operationsOf,
  wrongKey,
} from '../support/contract.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';
import { until } from '../support/until.js';
import { callLayouts, callReplacements, callSessions } from './contract-accounts.js';
import { checkAudit } from './contract-audit.js';
import { callCluster } from './contract-cluster.js';
import { callDetections, callSubtitles } from './contract-detections.js';
import { callEvents } from './contract-events.js';
import { callExports } from './contract-exports.js';
import { startFakeOutputs } from './contract-fakes.js';
import { callModels } from './contract-models.js';
import { callOnvif, callPtz } from './contract-onvif.js';
import { callPictures } from './contract-pictures.js';
import { stepsOf } from './contract-steps.js';
import { callWebhooks } from './contract-webhooks.js';

/** How many viewings are kept at a time (auth/viewers.ts). */
const MAX_VIEWINGS = 20_000;

/** They go on for as long as their reader stays. */
const eventStreams = ['/api/logs/stream', '/api/events/stream'];

let app: TestApp;
let fakes: Awaited<ReturnType<typeof startFakeOutputs>>;
let origin: CountingOrigin;
let document: Document;

before(async () => {
  origin = await CountingOrigin.start();
  app = await startTestApp({ env: { MODELS_ORIGIN: `http://${origin.host}/`, WEBHOOKS_TO_LOCAL: 'true' } });
  fakes = await startFakeOutputs();
  document = (await app.call('GET', '/api/openapi.json')).body as Document;
  await app.call('GET', '/api/docs');
});
after(async () => {
  await Promise.all([app.stop(), fakes.stop(), origin.stop()]);
});

const operations = (): [method: string, path: string, operation: Operation][] => operationsOf(document);

/** The first parameter names the thing; what else a path may name comes after it. */
const withId = (path: string, id: string): string =>
  path.replace(/\{[a-z_]+\}/, id).replaceAll(/\{[a-z_]+\}/g, 'x');

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document) as unknown as Record<string, unknown>);
  assert.deepEqual(result.errors ?? [], []);
  assert.equal(validator.version, '3.1');
});

test('every route asks for its token, role and input', async () => {
  for (const [method, path, operation] of operations()) {
    const url = withId(path, 'some-id');
    const isPublic = operation.security.length === 0;
    const body = operation.requestBody === undefined ? undefined : {};
    if (!isPublic && !isWatching(operation)) {
      assert.equal((await app.call(method, url, { ...(body && { body }) })).status, 401, `${method} ${path}`);
    }
    if (isForSomeRoles(operation)) {
      const { viewer, service } = app.tokens;
      const who = eventStreams.includes(path) ? [service] : [viewer, service];
      const statuses = await Promise.all(
        who.map(async (token) => (await app.call(method, url, { token, ...(body && { body }) })).status),
      );
      assert.ok(statuses.includes(403), `${method} ${path} refuses a viewer or a service`);
    }
    if (operation.parameters?.some((parameter) => parameter.in === 'path')) {
      const { status, body: problem } = await app.call(method, withId(path, '-bad-'), {
        token: app.tokens.admin,
        headers: { 'if-match': '*' },
        ...(body && { body }),
      });
      assert.equal(status, 400, `${method} ${path}`);
      assert.match(problem.errors[0].path, /^(id|name|username|filename)$/);
    }
  }
});

test('every stream asks for its camera, for a token where that asks, and for room', async () => {
  const url = 'rtsp://127.0.0.1/1';
  await app.asAdmin('POST', '/api/cameras', { id: 'locked', url, token_auth: true });
  await app.asAdmin('POST', '/api/cameras', { id: 'open', url });
  const watching = operations().filter(([, , operation]) => isWatching(operation));
  for (const [method, path, { requestBody }] of watching) {
    const body = requestBody === undefined ? {} : { body: Buffer.alloc(1_000_001, ' ') };
    const statusOf = async (id: string, headers = {}) =>
      (await app.call(method, withId(path, id), { ...body, headers })).status;
    assert.equal(await statusOf('unknown'), 404, `${method} ${path}`);
    assert.equal(await statusOf('locked'), 401, `${method} ${path}`);
    const type = Object.keys(requestBody?.content ?? {})[0];
    if (type === undefined) continue;
    assert.equal(await statusOf('open', { 'content-type': 'text/plain' }), 415, `${method} ${path}`);
    assert.equal(await statusOf('open', { 'content-type': type }), 413, `${method} ${path}`);
  }
  await app.asAdmin('PUT', '/api/cameras/open', { disabled: true });
  const { server } = fakes;
  // Of polling players, each has a place; of others there is none to run out of.
  for (let count = 0; count < MAX_VIEWINGS; count++)
    server.viewers.openViewing('elsewhere', 'eve', String(count));
  for (const [method, path, operation] of watching) {
    const isArchive = path.startsWith('/hls/') || path.includes('/archive/');
    const { status, headers, body } = isArchive
      ? await server.call(method, withId(path, 'locked'), { token: server.streamToken('locked') })
      : await app.call(method, withId(path, 'open'));
    assert.deepEqual([status, headers.get('retry-after')], [503, '60'], `${method} ${path}`);
    assert.equal(body.code, isArchive ? 'too_many_viewings' : 'no_picture');
    assert.ok(operation.responses['503']);
  }
  server.viewers.endForUser('eve');
  for (const id of ['locked', 'open']) await app.asAdmin('DELETE', `/api/cameras/${id}`);
});

test('the address of a WebSocket says what it is to who asks without upgrading', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'plain', url: 'rtsp://127.0.0.1/1' });
  const { status, headers } = await app.call('GET', '/stream/ws/plain');
  assert.deepEqual([status, headers.get('upgrade')], [426, 'websocket']);
  await app.asAdmin('DELETE', '/api/cameras/plain');
  const { body } = await app.call('GET', '/api/wall-token', { token: app.tokens.viewer });
  assert.equal((await app.call('GET', `/stream/wall?token=${body.token}`)).status, 426);
});

test('every body is bounded, must be JSON, and must fit', async () => {
  const big = Buffer.alloc(1_000_001, ' ');
  for (const [method, path, { requestBody }] of operations()) {
    if (requestBody?.content['application/json'] === undefined) continue;
    const url = withId(path, 'some-id');
    const send = (body: unknown, type = 'application/json') =>
      app.call(method, url, {
        token: app.tokens.admin,
        body,
        headers: { 'content-type': type, 'if-match': '*' },
      });
    const isImport = path.endsWith('/import');
    const outcomes = [
      await send('a=b', 'application/x-www-form-urlencoded'),
      await send(isImport ? Buffer.alloc(64_000_001, ' ') : big),
      await send('{"half":'),
      await send('[]'),
      await send(path.endsWith('/preferences') ? 7 : { id: 7, surely: 'unknown' }),
    ].map(({ status, body }) => `${status} ${body.code}`);
    assert.deepEqual(
      outcomes,
      [
        '415 unsupported_media_type',
        '413 body_too_large',
        '400 invalid_json',
        '400 invalid_input',
        '400 invalid_input',
      ],
      `${method} ${path}`,
    );
  }
});

test('things are made, changed, found missing and removed', async () => {
  for (const [method, path, body, status] of stepsOf(app.adminPassword)) {
    const answer = await app.asAdmin(method, path, body);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
  }
  const { body: snapshot } = await app.asAdmin('GET', '/api/system/backup/export');
  const restored = await app.asAdmin('POST', '/api/system/backup/import', snapshot);
  assert.deepEqual(restored.body, { message: 'backup restored successfully' });
  const query = await app.asAdmin('GET', '/api/logs/stream?level=loud');
  assert.deepEqual([query.status, query.body.errors[0].path], [400, 'level']);
  const topic = await app.asAdmin('GET', '/api/events/stream?topic=cameras,gossip');
  assert.deepEqual([topic.status, topic.body.errors[0].path], [400, 'topic']);
});

test('a browser that is signed in gets tokens until it signs out, and no other page does', () =>
  callSessions(app));

test('what is replaced must be known', () => callReplacements(app));

test('layouts are made, changed as they are known, shared by who may, bounded, and removed', () =>
  callLayouts(app));

test('webhooks are made with a secret, changed, tested, bounded, and removed', () => callWebhooks(app));

test('lists are told to be the same, and asked for in pages that there can be', async () => {
  const token = app.tokens.admin;
  for (const path of [
    '/api/cameras',
    '/api/tags',
    '/api/folders',
    '/api/users',
    '/api/layouts',
    '/api/webhooks',
    '/api/keys',
    '/api/events',
    '/api/me/preferences',
    '/api/audit',
  ]) {
    // Figures of cameras may change from one moment to the next.
    await until('nothing has changed', async () => {
      const etag = (await app.call('GET', path, { token })).headers.get('etag') ?? '';
      return (await app.call('GET', path, { token, headers: { 'if-none-match': etag } })).status === 304;
    });
    if (!path.startsWith('/api/me')) assert.equal((await app.asAdmin('GET', `${path}?limit=0`)).status, 400);
  }
});

/** From now on every write to a file of this process fails, as on a disk that is broken; returns what ends that. */
const breakDisk = (): (() => void) => {
  const limitFiles = (bytes: string): void =>
    void execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
  process.on('SIGXFSZ', () => {});
  limitFiles('1');
  return () => limitFiles('unlimited');
};

test('a disk that takes no writes is a 503 that says when to come back, and nothing is changed', async (t) => {
  await app.asAdmin('POST', '/api/cameras', { id: 'kept', url: 'rtsp://127.0.0.1/1', disabled: true });
  for (const path of ['tags', 'folders'])
    await app.asAdmin('POST', `/api/${path}`, {
      id: 'kept',
      name: 'K',
      ...(path === 'tags' && { color: '#aAbB09' }),
    });
  const hook = `/api/webhooks/${(await app.asAdmin('POST', '/api/webhooks', { name: 'hook', url: 'https://192.0.2.1/' })).body.id}`;
  const wall = `/api/layouts/${(await app.asAdmin('POST', '/api/layouts', { name: 'wall' })).body.id}`;
  const { body: snapshot } = await app.asAdmin('GET', '/api/system/backup/export');
  const login = await app.call('POST', '/api/login', {
    body: { username: 'viewer', password: USER_PASSWORD, remember: false },
  });
  const headers = { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '', origin: app.url };
  const own = { username: 'admin', password: app.adminPassword, remember: true };
  await app.call('POST', '/api/login', { body: own });
  const [browser] = (await app.asAdmin('GET', '/api/me/sessions')).body;
  const key = `/api/keys/${(await app.asAdmin('GET', '/api/keys')).body[0].id}`;
  const mend = breakDisk();
  t.after(mend);
  const writes: readonly [method: string, path: string, body?: unknown][] = [
    ['POST', '/api/cameras', { id: 'other', url: 'rtsp://127.0.0.1/1' }],
    ['PUT', '/api/cameras/kept', { comment: 'x' }],
    ['DELETE', '/api/cameras/kept'],
    ['POST', '/api/cameras/bulk', { delete: ['kept'] }],
    ['POST', '/api/tags', { id: 't', name: 'Tag', color: '#aAbB09' }],
    ['PUT', '/api/tags/kept', { name: 'Other' }],
    ['DELETE', '/api/tags/kept'],
    ['POST', '/api/folders', { id: 'f', name: 'Folder' }],
    ['PUT', '/api/folders/kept', { name: 'Other' }],
    ['DELETE', '/api/folders/kept'],
    ['POST', '/api/users', { username: 'eve', password: '12345678', role: 'viewer' }],
    ['PUT', '/api/users/viewer', { role: 'operator' }],
    ['DELETE', '/api/users/viewer'],
    ['PUT', '/api/me/password', { old: app.adminPassword, new: '12345678' }],
    ['PUT', '/api/me/preferences', { theme: 'dark' }],
    ['DELETE', `/api/me/sessions/${browser.id}`],
    ['POST', '/api/layouts', { name: 'other' }],
    ['PUT', wall, { name: 'other' }],
    ['DELETE', wall],
    ['POST', '/api/webhooks', { name: 'other', url: 'https://192.0.2.1/' }],
    ['PUT', hook, { name: 'other' }],
    ['POST', `${hook}/secret`],
    ['DELETE', hook],
    ['POST', '/api/keys', { name: 'other', role: 'viewer' }],
    ['DELETE', key],
    ['PUT', '/api/settings', { time_zone: 'Asia/Tokyo' }],
    ['POST', '/api/system/backup/import', { ...snapshot, tags: [] }],
  ];
  for (const [method, path, body] of writes) {
    const {
      status,
      headers,
      body: problem,
    } = await app.call(method, path, {
      token: app.tokens.admin,
      body,
      headers: { 'if-match': '*' },
    });
    assert.equal(status, 503, `${method} ${path}`);
    assert.equal(problem.code, 'database_unavailable');
    assert.ok(Number(headers.get('retry-after')) > 0);
  }
  assert.equal((await app.call('POST', '/api/session', { headers })).status, 200);
  assert.equal((await app.call('DELETE', '/api/session', { headers })).status, 503);
  const ready = await until('the service is not ready', async () => {
    const answer = await app.call('GET', '/readyz');
    return answer.status === 503 && answer;
  });
  assert.match(ready.body.checks.archive, /not writable/);
  mend();
  const { exported_at: _, ...after } = (await app.asAdmin('GET', '/api/system/backup/export')).body;
  const { exported_at: __, ...before } = snapshot;
  assert.deepEqual(after, before);
  assert.equal((await app.asAdmin('DELETE', key)).status, 200);
});

/** Asks each route with a key of its own that is none, from an address where too much was wrong already. */
const callWithWrongKeys = async (): Promise<void> => {
  await app.asAdmin('POST', '/api/cameras', { id: 'locked', url: 'rtsp://127.0.0.1/1', token_auth: true });
  let count = 0;
  for (const [method, path, operation] of operations()) {
    if (!('429' in operation.responses) || path === '/api/login') continue;
    const token = wrongKey(count++);
    const body = operation.requestBody === undefined ? {} : { body: {} };
    assert.equal((await app.call(method, withId(path, 'locked'), { token, ...body })).status, 429, path);
  }
  await app.asAdmin('DELETE', '/api/cameras/locked');
};

test('too many logins and password changes are a 429 that says when to come back', async () => {
  const wrong = { username: 'mallory', password: 'not the password' };
  const guess = await app.asAdmin('PUT', '/api/me/password', { old: 'not the password', new: '12345678' });
  const statuses: number[] = [guess.status];
  for (let tries = 0; tries < 10; tries++) {
    const { status, headers } = await app.call('POST', '/api/login', { body: wrong });
    statuses.push(status);
    if (status === 429) assert.ok(Number(headers.get('retry-after')) > 0);
  }
  assert.deepEqual(statuses, [403, ...Array(9).fill(401), 429]);
  await callWithWrongKeys();
  const { server } = fakes;
  const token = server.accessToken('boss');
  const account = { username: 'late', password: '12345678', role: 'viewer' };
  const made = await server.call('POST', '/api/users', { token, body: account });
  const changed = await server.call('PUT', '/api/users/viewer', { token, body: { password: '12345678' } });
  const passwords = { old: '12345678', new: '12345678' };
  const own = await server.call('PUT', '/api/me/password', { token, body: passwords });
  for (const { status, headers } of [made, changed, own]) {
    assert.deepEqual([status, headers.get('retry-after')], [429, '2']);
  }
});

test('a camera is tested, refused for want of room, and shown', async () => {
  const { server } = fakes;
  const token = server.accessToken('boss');
  const tested = (url: string) => server.call('POST', '/api/cameras/test', { token, body: { url } });
  assert.equal((await tested('rtsp://127.0.0.1/1')).body.ok, true);
  const busy = await tested('rtsp://busy/1');
  assert.deepEqual([busy.status, busy.headers.get('retry-after')], [429, '2']);
  assert.equal((await server.call('GET', '/api/cameras/test/t1/frames', { token })).status, 200);
  assert.equal((await app.asAdmin('GET', '/api/cameras/test/t1/frames')).status, 404);
  const unknown = { id: 'nobody', url: 'rtsp://u:***@127.0.0.1/1' };
  assert.equal((await app.asAdmin('POST', '/api/cameras/test', unknown)).status, 404);
});

test('model files: listed, whole, in part, unchanged, missing, and from an origin that fails', () =>
  callModels(app, origin));

test('live HLS answers with playlists and files', async () => {
  const { server, play } = fakes;
  const path = (name: string): string => `/stream/hls/open/${name}`;
  const opened = server.call('GET', path('index.m3u8'));
  let isOpen = false;
  void opened.finally(() => {
    isOpen = true;
  });
  await until('there is a picture', () => isOpen || void play(0.2));
  play(8);
  for (const name of ['index.m3u8', 'stream.m3u8', 'subs.m3u8', 'll.m3u8'])
    assert.equal((await server.call('GET', path(name))).status, 200, name);
  for (const list of ['stream.m3u8', 'subs.m3u8', 'll.m3u8']) {
    const [file = ''] = addressesOf(parse((await server.call('GET', path(list))).text));
    assert.equal((await server.call('GET', path(file))).status, 200, file);
  }
});

test('a WebRTC session is opened, refused, and ended by the address that its answer names', async () => {
  const { server, whep } = fakes;
  const path = '/stream/webrtc/whep/open';
  const offer = () =>
    server.call('POST', path, { body: 'v=0', headers: { 'content-type': 'application/sdp' } });
  const { status, headers, text } = await offer();
  assert.deepEqual([status, text], [201, 'v=0\r\n']);
  assert.equal(headers.get('content-type'), 'application/sdp');
  assert.equal(headers.get('location'), `${path}/a-secret`);
  for (const [code, refusal] of [
    ['codec_not_offered', 406],
    ['b_frames', 406],
    ['bad_offer', 400],
    ['no_free_port', 503],
    ['too_many_waiting', 429],
    ['too_many_sessions', 503],
  ] as const) {
    whep.refusal = whepError(code, 'refused');
    assert.equal((await offer()).status, refusal);
  }
  assert.equal((await server.call('DELETE', `${path}/a-secret`)).status, 200);
  assert.deepEqual(whep.ended, ['open a-secret']);
  assert.equal((await server.call('DELETE', `${path}/a-secret`)).status, 404);
});

test('a snapshot is a picture, the one that the client has, or why there is none', () => callPictures(fakes));
test('a box is said to be gone for good, or is here', () => callCluster(fakes));
test('events are searched, seen, protected and shown, or it is said why not', () => callEvents(fakes));

test('the archive is listed, played and exported, or says what is wrong', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'yard', url: 'rtsp://127.0.0.1/1' });
  const folder = join(app.dataDir, 'recordings/yard');
  const file = writeClosed(folder, { startMs: Date.now() - 60_000 });
  const get = (path: string, headers: Record<string, string> = {}) => app.call('GET', path, { headers });
  const bearer = { authorization: `Bearer ${app.tokens.viewer}` };
  const [archive, recordings] = ['/api/cameras/yard/archive', '/api/cameras/yard/recordings'];
  const { body } = await get(archive, bearer);
  assert.equal(body[0].filename, file);
  const when = `from=${encodeURIComponent(body[0].start)}&to=${encodeURIComponent(body[0].end)}`;
  const coverage = await get(`${recordings}?${when}`, bearer);
  const { start, end } = body[0];
  assert.deepEqual(coverage.body, { intervals: [{ start, end }], gaps: [], broken: [] });
  const timeline = `/api/timeline?camera=yard&${when}`;
  const tape = await get(timeline, bearer);
  assert.equal(tape.status, 200);
  const seen = { ...bearer, 'if-none-match': tape.headers.get('etag') ?? '' };
  assert.equal((await get(timeline, seen)).status, 304);
  assert.equal((await get(`${timeline}&bucket_ms=never`, bearer)).status, 400);
  const detections = `/api/cameras/yard/detections?${when}`;
  await callDetections(get, detections, bearer);
  const deleteWithin = (when: string, token: string) => app.call('DELETE', `${archive}?${when}`, { token });
  assert.equal((await deleteWithin(when, app.tokens.viewer)).status, 403);
  assert.equal((await deleteWithin('from=never', app.tokens.operator)).status, 400);
  assert.match((await get(`/hls/yard/archive.m3u8?file=${file}`)).text, /segment\.ts/);
  assert.match((await get(`/hls/yard/range.m3u8?${when}`)).text, /segment\.ts/);
  assert.equal((await get(`/stream/archive/yard/frames?${when}`)).status, 200);
  assert.match((await get(`/hls/yard/keyframes.m3u8?file=${file}`)).text, /#EXT-X-BYTERANGE/);
  const raw = `/hls/yard/recording.mp4?file=${file}`;
  const rawTag = (await get(raw)).headers.get('etag') ?? '';
  for (const [headers, status] of [
    [{ range: 'bytes=0-9' }, 206],
    [{ range: 'bytes=99999999-' }, 416],
    [{ 'if-none-match': rawTag }, 304],
  ] as const) {
    assert.equal((await get(raw, headers)).status, status);
  }
  await callSubtitles(get, 'yard', file, when);
  const segment = `/hls/yard/segment.ts?file=${file}&seq=0`;
  const etag = (await get(segment)).headers.get('etag') ?? '';
  assert.equal((await get(segment, { 'if-none-match': etag })).status, 304);
  const clip = `/api/cameras/yard/export?file=${file}`;
  const whole = await get(clip, bearer);
  assert.equal(whole.headers.get('content-disposition'), 'attachment; filename=export_yard.mp4');
  const clipTag = whole.headers.get('etag') ?? '';
  for (const [headers, status] of [
    [{ range: 'bytes=0-9' }, 206],
    [{ range: `bytes=${whole.headers.get('content-length')}-` }, 416],
    [{ 'if-none-match': clipTag }, 304],
  ] as const) {
    assert.equal((await get(clip, { ...bearer, ...headers })).status, status);
  }
  await callExports(app, { camera_id: 'yard', from: start, to: end }, () => rmSync(join(folder, file)));
  writeClosed(folder, { startMs: Date.parse(start) });
  for (const path of [archive, recordings, `${clip}`, timeline, detections].map((path) =>
    path.replace('yard', 'nowhere'),
  )) {
    assert.equal((await get(path, bearer)).status, 404, path);
  }
  const unknown = await app.asAdmin('DELETE', `/api/cameras/nowhere/archive?${when}`);
  assert.equal(unknown.status, 404);
  assert.equal((await deleteWithin(when, app.tokens.operator)).body.deleted, 1);
  const { server } = fakes;
  const token = server.accessToken('viewer');
  const download = `/exports/${'x'.repeat(32)}/x.mp4`;
  for (const path of [archive, recordings, clip, timeline, detections, download])
    assert.equal((await server.call('GET', path, { token })).status, 503, path);
  const items = [{ camera_id: 'yard', from: start, to: end }];
  assert.equal((await server.call('POST', '/api/exports', { token, body: { items } })).status, 503);
  const deletion = `/api/cameras/yard/archive?${when}`;
  assert.equal((await server.call('DELETE', deletion, { token: server.accessToken('boss') })).status, 503);
  await app.asAdmin('DELETE', '/api/cameras/yard');
});

test('streams of events answer with events', async () => {
  for (const path of eventStreams) {
    const events = await openEvents(app.url, path, app.tokens.operator);
    events.close();
    assert.equal(events.status, 200);
  }
});

test('ONVIF devices are asked a few at a time', () => callOnvif(app));
test('cameras are moved, where they can be', () => callPtz(app));

test('every answer is what the document says, every documented status was seen, and all of it audited', () => {
  checkAudit(app.logText() + fakes.server.logText());
  const unseen = checkAnswers(document, [...app.seen, ...fakes.server.seen]).filter(
    (answer) => !eventStreams.some((path) => answer === `GET ${path} 200`),
  );
  assert.deepEqual(unseen, []);
});
