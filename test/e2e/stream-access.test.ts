import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import jwt from 'jsonwebtoken';
import type { ApiAnswer } from '../support/api-client.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { type RunningService, startService } from '../support/service.js';
import { until } from '../support/until.js';
import { EveryOutput, knock, playableFile, type Shown } from './every-output.js';

const JWT_SECRET = 'a secret of this test, of more than 32 bytes';
const CAMERA_PASSWORD = 'password-of-a-camera';
const PASSWORD = 'password-of-a-user';
const cameraIds = ['guarded', 'watched', 'lasting', 'gone', 'locked', 'off', 'open'] as const;
type CameraId = (typeof cameraIds)[number];
const openIds: readonly CameraId[] = ['gone', 'locked', 'open'];

const cleanUps: (() => unknown)[] = [];
const secrets = new Set<string>([JWT_SECRET, CAMERA_PASSWORD, PASSWORD]);
const files = new Map<CameraId, string>();
let service: RunningService;
let admin: string;

const asAdmin = async (method: string, path: string, body?: unknown): Promise<ApiAnswer> => {
  const answer = await service.call(method, path, { token: admin, ...(body === undefined ? {} : { body }) });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer;
};

/** An access token of a new user. */
const newUser = async (username: string, role: string): Promise<string> => {
  await asAdmin('POST', '/api/users', { username, password: PASSWORD, role });
  const token = await service.login(username, PASSWORD);
  secrets.add(token);
  return token;
};

const streamToken = async (cameraId: CameraId, access: string): Promise<string> => {
  const { body } = await service.call('GET', `/api/cameras/${cameraId}/stream-token`, { token: access });
  secrets.add(body.token);
  return body.token;
};

const seen = (cameraId: CameraId) => ({ cameraId, file: files.get(cameraId)! });

const watch = async (cameraId: CameraId, query = ''): Promise<EveryOutput> => {
  const viewer = await EveryOutput.open(service, seen(cameraId), query);
  cleanUps.push(() => viewer.vanish());
  secrets.add(viewer.location.split('/').at(-1)!);
  if (viewer.session !== null) secrets.add(viewer.session);
  return viewer;
};

/** How many watch, by the metrics and by the list of cameras. */
const viewersOf = async (cameraId: CameraId) => {
  const { text } = await service.call('GET', new URL('/metrics', service.metricsUrl).href);
  const ofKind = (kind: string): number =>
    Number(new RegExp(`^svc_viewers{camera_id="${cameraId}",kind="${kind}"} (\\d+)$`, 'm').exec(text)?.[1]);
  const { body } = await asAdmin('GET', '/api/cameras');
  const { viewers } = body.find(({ id }: { id: string }) => id === cameraId);
  return { websocket: ofKind('websocket'), hls: ofKind('hls'), whep: ofKind('whep'), listed: viewers };
};

const untilViewers = async (
  cameraId: CameraId,
  each: number,
  { hls = each, meanwhile }: { readonly hls?: number; readonly meanwhile?: () => Promise<unknown> } = {},
): Promise<void> => {
  const expected = JSON.stringify({ websocket: each, hls, whep: each, listed: 2 * each + hls });
  let counted = '';
  const isSo = async (): Promise<boolean> => {
    await meanwhile?.();
    counted = JSON.stringify(await viewersOf(cameraId));
    return counted === expected;
  };
  await until(`viewers are ${expected}`, isSo, { describe: () => counted });
};

before(async () => {
  const camera = await FakeCamera.start({ mounts: { '/main': { video: fixtures.h264High() } } });
  cleanUps.push(() => camera[Symbol.asyncDispose]());
  const folder = mkdtempSync(join(tmpdir(), 'framering-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  service = await startService({
    DATA_DIR: folder,
    WEBRTC_UDP_PORTS: '51100-51199',
    LOG_LEVEL: 'trace',
    JWT_SECRET,
  });
  cleanUps.push(() => service.process.kill('SIGKILL'));
  admin = await service.login('admin', service.adminPassword);
  secrets.add(admin);
  const url = camera.url('/main', { user: 'root', password: CAMERA_PASSWORD });
  for (const id of cameraIds) {
    const token_auth = !openIds.includes(id);
    await asAdmin('POST', '/api/cameras', { id, url, token_auth, record: true });
  }
  for (const id of cameraIds) files.set(id, await playableFile(service, id, admin));
});
after(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

const isPolled = (name: string): boolean => name !== 'websocket' && name !== 'whep';

describe('who may watch', { concurrency: true }, () => {
  const refuses = async (shown: Shown, code: RegExp): Promise<void> => {
    const { statuses, codes } = await knock(service, seen('guarded'), shown);
    assert.deepEqual(new Set(Object.values(statuses)), new Set([401]), JSON.stringify(statuses));
    assert.equal(Object.keys(statuses).length, 13);
    for (const told of codes) assert.match(told, code);
  };
  const refusesToken = async (token: string, code: RegExp): Promise<void> => {
    await refuses({ query: `token=${token}` }, code);
    await refuses({ bearer: token }, code);
  };
  const takes = async (shown: Shown): Promise<void> => {
    const { statuses } = await knock(service, seen('guarded'), shown);
    const { websocket, whep, ...polled } = statuses;
    assert.deepEqual([websocket, whep], [101, 201]);
    // Of what is named by a number, some has gone and some has yet to come.
    for (const [name, status] of Object.entries(polled))
      assert.ok(
        status === 200 || (status === 404 && /^(segment|part|init)_/.test(name)),
        `${name} ${status}`,
      );
  };

  test('no output takes no token, an expired, forged or withdrawn one, or that of another camera', async () => {
    const viewer = await newUser('knocks', 'viewer');
    const token = await streamToken('guarded', viewer);
    const claims = jwt.decode(token) as jwt.JwtPayload;
    const nowSec = Math.floor(Date.now() / 1000);
    const signed = (changes: object, secret = JWT_SECRET): string =>
      jwt.sign({ ...claims, ...changes }, secret);
    await refuses({}, /^token_missing$/);
    await refuses({ query: 'session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }, /^token_(?:expired|missing)$/);
    await refusesToken(signed({ iat: nowSec - 61, exp: nowSec - 1 }), /^token_expired$/);
    await refusesToken(await streamToken('watched', viewer), /^token_invalid$/);
    await refusesToken(signed({}, 'a secret of somebody else, of more than 32 bytes'), /^token_invalid$/);
    const [head, body] = [{ alg: 'none' }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    await refusesToken(`${head}.${body}.`, /^token_invalid$/);
    const signedSec = Math.floor(Date.now() / 1000);
    await takes({ query: `token=${signed({ iat: signedSec, exp: signedSec + 60 })}` });
  });

  test('every role may watch, by a stream token and by its access token, in the query and in the header', async () => {
    for (const role of ['viewer', 'operator', 'admin', 'service']) {
      const access = await newUser(`may-watch-${role}`, role);
      await takes({ query: `token=${access}` });
      await takes({ bearer: access });
      await takes({ query: `token=${await streamToken('guarded', access)}` });
      await takes({ bearer: await streamToken('guarded', access) });
    }
  });

  test('whoever is deleted, or gets another role or password, watches nothing from then on', async () => {
    const acts = {
      deleted: () => asAdmin('DELETE', '/api/users/deleted'),
      // To a role that may watch as well: the tokens of the old one stop all the same.
      promoted: () => asAdmin('PUT', '/api/users/promoted', { role: 'operator' }),
      renewed: () => asAdmin('PUT', '/api/users/renewed', { password: `${PASSWORD}!` }),
    };
    const people = [];
    for (const [name, act] of Object.entries(acts)) {
      const access = await newUser(name, 'viewer');
      const token = await streamToken('watched', access);
      people.push({ act, access, token, viewer: await watch('watched', `token=${token}`) });
    }
    const viewers = people.map(({ viewer }) => viewer);
    const stays = await watch('watched', `token=${await streamToken('watched', admin)}`);
    for (const viewer of viewers) await viewer.untilGoingOn();
    const poll = () => Promise.all([...viewers, stays].map((viewer) => viewer.statuses()));
    await untilViewers('watched', 4, { meanwhile: poll });
    for (const { act, access, token, viewer } of people) {
      const fresh = await streamToken('watched', access);
      await act();
      await viewer.untilEnded(4403, () => 401);
      for (const shown of [fresh, access, token]) {
        const { statuses, codes } = await knock(service, seen('watched'), { query: `token=${shown}` });
        assert.deepEqual(new Set(Object.values(statuses)), new Set([401]));
        // The one that it watched by may be more than a minute old by now.
        if (shown !== token) assert.deepEqual(codes, ['token_revoked']);
      }
      await stays.untilGoingOn();
    }
    await untilViewers('watched', 1, { meanwhile: () => stays.untilGoingOn() });
    await stays.leave();
    await untilViewers('watched', 0);
  });

  test('a camera that is deleted, locked or disabled ends what is watched of it', async () => {
    const [gone, locked, open] = await Promise.all([watch('gone'), watch('locked'), watch('open')]);
    const off = await watch('off', `token=${await streamToken('off', admin)}`);
    for (const viewer of [gone, locked, off]) await viewer.untilGoingOn();
    await untilViewers('open', 1, { hls: 2, meanwhile: () => open.statuses() });
    await asAdmin('DELETE', '/api/cameras/gone');
    await gone.untilEnded(4404, () => 404);
    await asAdmin('PUT', '/api/cameras/locked', { token_auth: true });
    await locked.untilEnded(4403, () => 401);
    await asAdmin('PUT', '/api/cameras/off', { disabled: true });
    // Its recordings are there still, and so is the session that shows them.
    await off.untilEnded(4403, (name) => (['archive', 'recording'].includes(name) ? 200 : 503));
    await asAdmin('PUT', '/api/cameras/off', { disabled: false });
    await open.untilGoingOn();
    await open.leave();
    for (const cameraId of ['locked', 'off', 'open'] as const) await untilViewers(cameraId, 0);
  });

  test('a viewing outlives its token as long as it is used; an unused token and an unused viewing end', async () => {
    const tokens = await Promise.all([1, 2, 3].map(() => streamToken('lasting', admin)));
    const [used = '', unused = '', once = ''] = tokens;
    const startMs = performance.now();
    const viewer = await watch('lasting', `token=${used}`);
    await untilViewers('lasting', 1, { meanwhile: () => viewer.statuses() });
    const master = `/stream/hls/lasting/index.m3u8?token=${once}`;
    const { text } = await service.call('GET', master);
    const session = /session=([\w-]+)/.exec(text)?.[1] ?? '';
    secrets.add(session);
    const lastUseMs = performance.now();
    while (performance.now() - Math.max(startMs, lastUseMs) < 62_000) {
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      await viewer.untilGoingOn();
    }
    for (const token of [unused, once]) {
      const { statuses, codes } = await knock(service, seen('lasting'), { query: `token=${token}` });
      assert.deepEqual(new Set(Object.values(statuses)), new Set([401]));
      assert.deepEqual(codes, ['token_expired']);
    }
    const idle = await knock(service, seen('lasting'), { query: `session=${session}` });
    assert.deepEqual(new Set(Object.values(idle.statuses)), new Set([401]));
    const going = await knock(service, seen('lasting'), { query: `token=${used}` });
    assert.deepEqual(
      [going.statuses['websocket'], going.statuses['whep']],
      [401, 401],
      'nothing begins by it',
    );
    for (const [name, status] of Object.entries(going.statuses))
      if (isPolled(name)) assert.notEqual(status, 401, `${name}: what was opened by it goes on`);
    await viewer.leave();
    await untilViewers('lasting', 0);
  });

  test('pages of any origin may watch, and are told why they may not', async () => {
    const token = await streamToken('guarded', admin);
    const headers = { origin: 'https://a.page.example' };
    const file = files.get('guarded')!;
    const paths = [
      ...['index.m3u8', 'stream.m3u8', 'subs.m3u8', 'll.m3u8', 'segment_0.ts'].map(
        (name) => `stream/hls/guarded/${name}?`,
      ),
      `hls/guarded/archive.m3u8?file=${file}&`,
      `hls/guarded/segment.ts?file=${file}&seq=0&`,
      'stream/ws/guarded?',
    ];
    const isOpen = ({ headers: given }: ApiAnswer, what: string): void => {
      assert.equal(given.get('access-control-allow-origin'), '*', what);
      assert.equal(given.get('cross-origin-resource-policy'), 'cross-origin', what);
      assert.equal(given.get('access-control-allow-credentials'), null, what);
    };
    for (const path of paths) {
      isOpen(await service.call('GET', `/${path}token=${token}`, { headers }), path);
      isOpen(await service.call('GET', `/${path}`, { headers }), `refusal of ${path}`);
    }
    const preflight = async (path: string, method: string) => {
      const answer = await service.call('OPTIONS', path, {
        headers: {
          ...headers,
          'access-control-request-method': method,
          'access-control-request-headers': 'authorization,content-type',
        },
      });
      assert.equal(answer.status, 204);
      isOpen(answer, path);
      assert.match(answer.headers.get('access-control-allow-methods') ?? '', new RegExp(`\\b${method}\\b`));
      for (const name of ['authorization', 'content-type'])
        assert.match(
          answer.headers.get('access-control-allow-headers') ?? '',
          new RegExp(`\\b${name}\\b`, 'i'),
        );
    };
    await preflight('/stream/webrtc/whep/guarded', 'POST');
    await preflight('/stream/webrtc/whep/guarded/a-session', 'DELETE');
    await preflight('/stream/hls/guarded/index.m3u8', 'GET');
    const refused = await service.call('POST', '/stream/webrtc/whep/guarded', { body: 'v=0', headers });
    isOpen(refused, 'whep');
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get('access-control-expose-headers') ?? '', /\bLocation\b/);
  });
});

test('of all that was shown, no token, session or password is in the log or in a metric', async () => {
  const { text } = await service.call('GET', '/metrics');
  assert.equal(await service.stop(), 0);
  const log = service.out().replace(/^password: .*$/m, '');
  assert.ok(secrets.size > 30, 'there was something to hide');
  for (const secret of [...secrets, service.adminPassword]) {
    assert.ok(secret.length > 8, 'a secret was kept for this test');
    for (const [name, output] of Object.entries({ log, text, err: service.err() }))
      assert.ok(!output.includes(secret), `${name} shows a secret`);
  }
});
