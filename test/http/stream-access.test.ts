import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import type { EndReason } from '../../src/auth/viewers.js';
import type { HeldPlace } from '../../src/http/held-place.js';
import { route } from '../../src/http/route.js';
import { idParams } from '../../src/http/schemas.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

const held: HeldPlace[] = [];
const ends: EndReason[] = [];
let failure: Error | null = null;

const routes = [
  route({
    method: 'get',
    path: '/stream/:id/playlist',
    access: 'stream',
    permission: 'live.watch',
    summary: 'What a player polls',
    params: idParams,
    answers: { 200: { description: 'Who watches' } },
    handle: ({ viewing }) => ({ status: 200, body: viewing, headers: { ETag: '"one"' } }),
  }),
  route({
    method: 'get',
    path: '/hls/:id/archive',
    access: 'stream',
    permission: 'archive.read',
    summary: 'What a player of recordings polls',
    params: idParams,
    answers: { 200: { description: 'Who watches' } },
    handle: ({ viewing }) => ({ status: 200, body: viewing }),
  }),
  route({
    method: 'post',
    audit: null,
    path: '/stream/:id/offer',
    access: 'connection',
    permission: 'live.watch',
    summary: 'What a player stays connected by',
    params: idParams,
    body: z.string().startsWith('v=0'),
    bodyType: 'application/sdp',
    bodyLimitBytes: 1_000,
    answers: { 201: { description: 'The offer', contentType: 'application/sdp' } },
    handle: ({ place, body }) => {
      if (failure !== null) throw failure;
      held.push(place);
      place.onEnd((reason) => ends.push(reason));
      return {
        status: 201,
        text: body.toUpperCase(),
        contentType: 'application/sdp',
        headers: { Location: '/stream/open/offer/1' },
      };
    },
  }),
];

let server: WebServer;
before(async () => {
  server = await startWebServer(routes);
});
after(() => server.stop());

const poll = async (path: string, token?: string) => {
  const { status, body, headers } = await server.call('GET', path, token === undefined ? {} : { token });
  return { status, code: body?.code, session: body?.id, username: body?.username, headers };
};
const offer = (
  path: string,
  options: { token?: string; body?: string; headers?: Record<string, string> } = {},
) =>
  server.call('POST', path, {
    body: 'v=0 an offer',
    headers: { 'content-type': 'application/sdp' },
    ...options,
  });

test('a camera without token_auth is open; one that asks for a token opens a viewing that outlives it', async () => {
  assert.deepEqual((await server.call('GET', '/stream/open/playlist')).body, {
    id: null,
    username: null,
  });
  const token = server.streamToken('locked');
  const opened = await poll(`/stream/locked/playlist?token=${token}`);
  assert.deepEqual([opened.status, opened.username], [200, 'viewer']);
  const withSession = `/stream/locked/playlist?session=${opened.session}`;
  for (let minute = 0; minute < 10; minute++) {
    server.clock.advance(50_000);
    assert.equal((await poll(withSession)).session, opened.session);
  }
  assert.equal((await poll(`/stream/locked/playlist?token=${token}`)).status, 200, 'the address it opened');
  server.clock.advance(61_000);
  const late = await poll(withSession);
  assert.deepEqual([late.status, late.code], [401, 'token_expired']);
  assert.match(late.headers.get('www-authenticate') ?? '', /invalid_token/);
});

test('refused: no token, one of another camera, expired unused, forged, revoked; taken: header and access token', async () => {
  const path = '/stream/locked/playlist';
  const codeOf = async (shown: string, token?: string) => (await poll(path + shown, token)).code;
  assert.equal(await codeOf(''), 'token_missing');
  assert.equal(await codeOf('?token='), 'token_missing');
  assert.equal(await codeOf('?session=forged'), 'token_expired');
  assert.equal(await codeOf(`?token=${server.streamToken('open')}`), 'token_invalid');
  assert.equal(await codeOf(`?token=${server.streamToken('locked').slice(0, -2)}`), 'token_invalid');
  assert.equal(await codeOf('', `${server.streamToken('locked')}x`), 'token_invalid');
  const expired = server.streamToken('locked');
  server.clock.advance(61_000);
  assert.equal(await codeOf(`?token=${expired}`), 'token_expired');
  const ofEve = server.streamToken('locked', 'eve');
  const eve = server.users.get('eve')!;
  const { session } = await poll(`${path}?token=${ofEve}`);
  server.users.set('eve', { ...eve, token_epoch: 'epoch-2' });
  server.viewers.endForUser('eve');
  assert.equal(await codeOf(`?token=${ofEve}`), 'token_revoked');
  assert.equal(await codeOf(`?session=${session}`), 'token_expired');
  server.users.set('eve', eve);
  for (const token of [server.streamToken('locked'), server.accessToken('viewer')]) {
    assert.equal((await poll(path, token)).status, 200);
    assert.equal((await poll(`${path}?token=${token}`)).status, 200);
  }
  const { session: own } = await poll(path, server.accessToken('viewer'));
  server.cameras.set('locked-2', { tokenAuth: true, isDisabled: false });
  assert.equal(
    (await poll(`/stream/locked-2/playlist?session=${own}`)).status,
    401,
    "another camera's viewing",
  );
});

test('an unknown camera is a 404, a bad id a 400; a disabled one has recordings and no picture', async () => {
  assert.deepEqual((await poll('/stream/unknown/playlist')).code, 'not_found');
  assert.equal((await offer('/stream/unknown/offer')).status, 404);
  for (const id of ['..', '%2e%2e', '..%2fx', 'a%00', 'a%5Cb', `${'x'.repeat(65)}`, '%e2%80%a5', '-x'])
    assert.ok([400, 404].includes((await poll(`/stream/${id}/playlist`)).status), id);
  const off = await poll('/stream/off/playlist');
  assert.deepEqual([off.status, off.code, off.headers.get('retry-after')], [503, 'no_picture', '60']);
  assert.equal((await offer('/stream/off/offer')).status, 503);
  assert.equal((await poll('/hls/off/archive')).status, 200);
  server.cameras.set('off-and-locked', { tokenAuth: true, isDisabled: true });
  assert.equal((await poll('/stream/off-and-locked/playlist')).status, 401, 'strangers learn nothing of it');
  assert.doesNotMatch(server.logText(), /request failed/, 'no fault of ours');
});

test('of a camera that another box has and nobody can be asked for, it is said why there is no picture', async () => {
  const reason = "box b has the camera, and its pictures can't be had here";
  server.unseen.set('open', reason);
  const refused = await server.call('GET', '/stream/open/playlist');
  assert.deepEqual([refused.status, refused.body?.code, refused.body?.detail], [503, 'no_picture', reason]);
  assert.equal(refused.headers.get('retry-after'), '5');
  assert.equal((await offer('/stream/open/offer')).status, 503);
  assert.equal((await poll('/hls/open/archive')).status, 200);
  server.unseen.set('locked', reason);
  assert.equal((await poll('/stream/locked/playlist')).status, 401, 'strangers learn nothing of it');
  server.unseen.clear();
  assert.equal((await poll('/stream/open/playlist')).status, 200);
});

test('a place is held until it is released, told of its end, and given back when the handler throws', async () => {
  const placesTaken = () => {
    ends.length = 0;
    server.viewers.endForCamera('open', 'camera_deleted');
    return ends.length;
  };
  const made = await offer('/stream/open/offer');
  assert.deepEqual([made.status, made.text], [201, 'V=0 AN OFFER']);
  assert.equal(made.headers.get('location'), '/stream/open/offer/1');
  assert.equal(placesTaken(), 1);
  assert.equal(placesTaken(), 0, 'told once');
  await offer('/stream/open/offer');
  held.at(-1)!.release();
  assert.equal(placesTaken(), 0);
  let registered = 0;
  const { takePlace } = server.viewers;
  server.viewers.takePlace = (...parameters) => {
    registered++;
    const place = takePlace.apply(server.viewers, parameters);
    return {
      release: () => {
        registered--;
        place.release();
      },
    };
  };
  failure = new Error('no port');
  assert.equal((await offer('/stream/open/offer')).status, 500);
  failure = null;
  assert.equal((await offer('/stream/open/offer', { body: 'no offer' })).status, 400);
  assert.equal((await offer('/stream/open/offer', { body: 'v=0'.repeat(1_000) })).status, 413);
  assert.equal(
    (await offer('/stream/open/offer', { headers: { 'content-type': 'text/plain' } })).status,
    415,
  );
  assert.equal((await offer('/stream/off/offer')).status, 503);
  assert.equal(registered, 0);
  server.viewers.takePlace = takePlace;
  assert.equal((await offer('/stream/locked/offer')).status, 401);
  assert.equal((await offer('/stream/locked/offer', { token: server.streamToken('locked') })).status, 201);
});

test('an end that comes before anybody listens is told to whoever asks later', async () => {
  const { HeldPlace } = await import('../../src/http/held-place.js');
  const place = new HeldPlace((onEnd) => ({
    username: null,
    ...server.viewers.takePlace('open', null, onEnd),
  }));
  server.viewers.endForCamera('open', 'access_withdrawn');
  const told: EndReason[] = [];
  place.onEnd((reason) => told.push(reason));
  assert.deepEqual(told, ['access_withdrawn']);
});

test('pages of any origin may play: ranges, offers and deletions, and they see what they need', async () => {
  const { status, headers } = await server.call('OPTIONS', '/stream/open/offer', {
    headers: {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, range',
    },
  });
  assert.equal(status, 204);
  assert.equal(headers.get('access-control-allow-origin'), '*');
  assert.equal(headers.get('access-control-allow-credentials'), null);
  assert.match(headers.get('access-control-allow-methods') ?? '', /POST, OPTIONS/);
  for (const name of ['Authorization', 'Content-Type', 'Range'])
    assert.match(headers.get('access-control-allow-headers') ?? '', new RegExp(`\\b${name}\\b`));
  const answer = await server.call('GET', '/stream/open/playlist');
  for (const name of ['Location', 'Content-Length', 'Content-Range', 'Accept-Ranges'])
    assert.match(answer.headers.get('access-control-expose-headers') ?? '', new RegExp(`\\b${name}\\b`));
  assert.equal(answer.headers.get('cross-origin-resource-policy'), 'cross-origin');
});

test('what has an ETag is not sent twice', async () => {
  const headers = { 'if-none-match': 'W/"one"' };
  const again = await server.call('GET', '/stream/open/playlist', { headers });
  assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', '"one"']);
  const other = await server.call('GET', '/stream/open/playlist', { headers: { 'if-none-match': '"two"' } });
  assert.equal(other.status, 200);
});

test('neither token nor session reaches the log or a metric', async () => {
  const token = server.streamToken('locked');
  const { session } = await poll(`/stream/locked/playlist?token=${token}`);
  await poll(`/stream/locked/playlist?session=${session}`);
  await poll(`/stream/locked/nothing?token=${token}&session=${session}`);
  failure = new Error('no port');
  await server.call('POST', `/stream/locked/offer?token=${token}`, {
    body: 'v=0',
    headers: { 'content-type': 'application/sdp' },
  });
  failure = null;
  const told = server.logText() + server.reported.join();
  assert.match(told, /request failed/);
  for (const secret of [token, String(session)]) assert.ok(!told.includes(secret));
});
