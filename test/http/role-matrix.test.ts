import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import jwt from 'jsonwebtoken';
import { openEvents } from '../support/api-client.js';
import { JWT_SECRET, startTestApp, type TestApp } from '../support/test-app.js';

const callers = [
  'none',
  'viewer',
  'operator',
  'admin',
  'service',
  'expired',
  'forged',
  'alg: none',
  'stream token',
] as const;
type Caller = (typeof callers)[number];

/** What must come back: refused for want of a good token, for want of the right role, or let through. */
type Row = readonly [method: string, path: string, ...cells: ('401' | '403' | 'ok')[]];

/*
 * Sections 4 and 5 of the interface, with what the decisions say of the role service. Columns: none, viewer,
 * operator, admin, service, expired, forged, alg: none, stream token.
 */
const bad = ['401', '401', '401', '401'] as const;
/** The row of what is `Public / Token`, where the camera has `token_auth`. */
const watching = ['401', 'ok', 'ok', 'ok', 'ok', '401', '401', '401', 'ok'] as const;
const table: readonly Row[] = [
  ['POST', '/api/login', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  // By cookie alone.
  ['POST', '/api/session', '401', '401', '401', '401', '401', ...bad],
  ['DELETE', '/api/session', '401', '401', '401', '401', '401', ...bad],
  ['GET', '/livez', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  ['GET', '/readyz', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  ['GET', '/metrics', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  ['GET', '/api/openapi.json', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  ['GET', '/api/docs', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  ['GET', '/models/matrix.onnx', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  ['GET', '/stream/ws/streamed', ...watching],
  ['GET', '/api/wall-token', '401', 'ok', 'ok', 'ok', '403', ...bad],
  // Of all tokens a wall's own alone.
  ['GET', '/stream/wall', '401', '401', '401', '401', '401', ...bad],
  ['POST', '/stream/webrtc/whep/streamed', ...watching],
  ['DELETE', '/stream/webrtc/whep/streamed/matrix', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  ['GET', '/stream/hls/streamed/index.m3u8', ...watching],
  ['GET', '/stream/hls/streamed/stream.m3u8', ...watching],
  ['GET', '/stream/hls/streamed/subs.m3u8', ...watching],
  ['GET', '/stream/hls/streamed/ll.m3u8', ...watching],
  ['GET', '/stream/hls/streamed/matrix', ...watching],
  ['GET', '/api/cameras/streamed/snapshot.jpg', ...watching],
  ['GET', '/api/cameras/streamed/archive/thumbnail.jpg', ...watching],
  ['GET', '/hls/streamed/archive.m3u8', ...watching],
  ['GET', '/hls/streamed/range.m3u8', ...watching],
  ['GET', '/hls/streamed/segment.ts', ...watching],
  ['GET', '/hls/streamed/archive-master.m3u8', ...watching],
  ['GET', '/hls/streamed/range-master.m3u8', ...watching],
  ['GET', '/hls/streamed/archive-subs.m3u8', ...watching],
  ['GET', '/hls/streamed/range-subs.m3u8', ...watching],
  ['GET', '/hls/streamed/subs.vtt', ...watching],
  ['GET', '/api/me', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['PUT', '/api/me/password', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/me/preferences', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['PUT', '/api/me/preferences', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/me/sessions', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['DELETE', '/api/me/sessions/matrix', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/stream/archive/streamed/frames', ...watching],
  ['GET', '/api/layouts', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['POST', '/api/layouts', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/layouts/matrix', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['PUT', '/api/layouts/matrix', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['DELETE', '/api/layouts/matrix', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/settings', '401', '403', '403', 'ok', '403', ...bad],
  ['GET', '/api/models', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/cluster', '401', '403', '403', 'ok', '403', ...bad],
  ['DELETE', '/api/cluster/boxes/matrix', '401', '403', '403', 'ok', '403', ...bad],
  ['GET', '/api/audit', '401', '403', '403', 'ok', '403', ...bad],
  ['PUT', '/api/settings', '401', '403', '403', 'ok', '403', ...bad],
  ['GET', '/api/webhooks', '401', '403', '403', 'ok', '403', ...bad],
  ['POST', '/api/webhooks', '401', '403', '403', 'ok', '403', ...bad],
  ['GET', '/api/webhooks/matrix', '401', '403', '403', 'ok', '403', ...bad],
  ['PUT', '/api/webhooks/matrix', '401', '403', '403', 'ok', '403', ...bad],
  ['DELETE', '/api/webhooks/matrix', '401', '403', '403', 'ok', '403', ...bad],
  ['POST', '/api/webhooks/matrix/secret', '401', '403', '403', 'ok', '403', ...bad],
  ['POST', '/api/webhooks/matrix/test', '401', '403', '403', 'ok', '403', ...bad],
  ['GET', '/hls/streamed/keyframes.m3u8', ...watching],
  ['GET', '/hls/streamed/recording.mp4', ...watching],
  ['GET', '/api/timeline', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/cameras/matrix/archive', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/cameras/matrix/detections', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['DELETE', '/api/cameras/matrix/archive', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/cameras/matrix/recordings', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/cameras/matrix/export', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['POST', '/api/exports', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['DELETE', '/api/exports/matrix', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  // Whoever has the address.
  ['GET', '/exports/matrix/matrix.onnx', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'],
  ['GET', '/api/stats', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/stats/history', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/logs/stream', '401', '403', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/events/stream', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/events', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['POST', '/api/events/reviewed', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/events/matrix', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['PUT', '/api/events/matrix', '401', '403', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/events/matrix/thumbnail.jpg', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/cameras', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['POST', '/api/cameras', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['POST', '/api/cameras/bulk', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['POST', '/api/cameras/test', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/cameras/test/matrix/frames', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['POST', '/api/onvif/probe', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['POST', '/api/cameras/matrix/ptz', '401', '403', 'ok', 'ok', '403', ...bad],
  ['GET', '/api/cameras/matrix/ptz/presets', '401', '403', 'ok', 'ok', '403', ...bad],
  ['POST', '/api/cameras/matrix/ptz/presets', '401', '403', 'ok', 'ok', '403', ...bad],
  ['DELETE', '/api/cameras/matrix/ptz/presets/matrix', '401', '403', 'ok', 'ok', '403', ...bad],
  // Without an interface: nobody's network is asked.
  ['GET', '/api/onvif/discover', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/cameras/matrix', '401', 'ok', 'ok', 'ok', '403', ...bad],
  ['PUT', '/api/cameras/matrix', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['DELETE', '/api/cameras/matrix', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/cameras/matrix/stream-token', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/tags', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['POST', '/api/tags', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['PUT', '/api/tags/matrix', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['DELETE', '/api/tags/matrix', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/folders', '401', 'ok', 'ok', 'ok', 'ok', ...bad],
  ['POST', '/api/folders', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['PUT', '/api/folders/matrix', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['DELETE', '/api/folders/matrix', '401', '403', 'ok', 'ok', 'ok', ...bad],
  ['GET', '/api/users', '401', '403', '403', 'ok', '403', ...bad],
  ['POST', '/api/users', '401', '403', '403', 'ok', '403', ...bad],
  ['PUT', '/api/users/matrix', '401', '403', '403', 'ok', '403', ...bad],
  ['DELETE', '/api/users/matrix', '401', '403', '403', 'ok', '403', ...bad],
  ['GET', '/api/keys', '401', '403', '403', 'ok', '403', ...bad],
  ['POST', '/api/keys', '401', '403', '403', 'ok', '403', ...bad],
  ['DELETE', '/api/keys/matrix', '401', '403', '403', 'ok', '403', ...bad],
  ['GET', '/api/system/backup/export', '401', '403', '403', 'ok', '403', ...bad],
  ['POST', '/api/system/backup/import', '401', '403', '403', 'ok', '403', ...bad],
];

let app: TestApp;
let tokens: Record<Caller, string | null>;

before(async () => {
  app = await startTestApp();
  await app.asAdmin('POST', '/api/cameras', {
    id: 'streamed',
    url: 'rtsp://127.0.0.1/1',
    token_auth: true,
    disabled: true,
  });
  const stream = await app.asAdmin('GET', '/api/cameras/streamed/stream-token');
  const { iat: _, exp: __, ...claims } = jwt.decode(app.tokens.admin) as jwt.JwtPayload;
  tokens = {
    none: null,
    ...app.tokens,
    expired: jwt.sign(claims, JWT_SECRET, { expiresIn: -1 }),
    forged: jwt.sign(claims, `${JWT_SECRET}!`, { expiresIn: 60 }),
    'alg: none': jwt.sign({ ...claims, exp: 4_000_000_000 }, null, { algorithm: 'none' }),
    'stream token': stream.body.token,
  };
});
after(() => app.stop());

const outcomeOf = async (method: string, path: string, caller: Caller): Promise<string> => {
  const token = tokens[caller];
  if (path === '/api/logs/stream' || path === '/api/events/stream') {
    const events = await openEvents(app.url, path, token);
    events.close();
    return events.status === 200 ? 'ok' : String(events.status);
  }
  // An empty object is refused by every schema (400) after the rights were checked, so nothing is changed.
  const body = method === 'POST' ? {} : method === 'PUT' ? { surely: 'unknown' } : undefined;
  const { status, headers } = await app.call(method, path, { token, ...(body && { body }) });
  if (path === '/api/session') assert.equal(headers.get('www-authenticate'), 'Bearer');
  else if (status === 401 && caller !== 'none')
    assert.match(headers.get('www-authenticate') ?? '', /invalid_token/);
  else if (status === 401) assert.equal(headers.get('www-authenticate'), 'Bearer');
  // Whoever was let in may hear that something is not there or not ready, but not that the service failed.
  const isRefused = status === 401 || status === 403;
  return isRefused || (status >= 500 && status !== 503) ? String(status) : 'ok';
};

for (const [method, path, ...cells] of table) {
  test(`${method} ${path} by every caller`, async () => {
    const outcomes = await Promise.all(callers.map((caller) => outcomeOf(method, path, caller)));
    assert.deepEqual(
      Object.fromEntries(callers.map((caller, index) => [caller, outcomes[index]])),
      Object.fromEntries(callers.map((caller, index) => [caller, cells[index]])),
    );
  });
}

/** Streams are those of a camera that asks for tokens. */
const concrete = (path: string): string =>
  path
    .replace('{filename}', 'matrix.onnx')
    .replace(/^(\/(?:stream|hls)\/.*)\{id\}/, '$1streamed')
    .replace(/\{id\}(\/snapshot\.jpg|\/archive\/thumbnail\.jpg)/, 'streamed$1')
    .replaceAll(/\{[a-z]+\}/g, 'matrix');

test('the table has a row for every route', async () => {
  const { body } = await app.call('GET', '/api/openapi.json');
  const documented = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${concrete(path)}`),
  );
  assert.deepEqual(documented.sort(), table.map(([method, path]) => `${method} ${path}`).sort());
});
