import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { openEvents } from '../support/api-client.js';
import { type Document, operationsOf } from '../support/contract.js';
import { RawClient } from '../support/raw-client.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Limited to the folder `yard`, in which is the folder `gate`; beside it is the folder `house`. */
const who = ['viewer', 'operator', 'key'] as const;
type Who = (typeof who)[number];

let app: TestApp;
let tokens: Record<Who, string>;
let document: Document;

const camera = (id: string, folder_id: string, more = {}) => ({
  ...{ id, folder_id, url: 'rtsp://127.0.0.1:9/1', token_auth: true, disabled: true },
  ...more,
});

before(async () => {
  app = await startTestApp({ env: { RTSP_PORT: '0' } });
  const made = async (path: string, body: object): Promise<{ key: string }> => {
    const answer = await app.asAdmin('POST', path, body);
    assert.equal(answer.status, 201, `${path}: ${answer.text}`);
    return answer.body;
  };
  for (const [id, parent_id] of [
    ['site', ''],
    ['yard', 'site'],
    ['gate', 'yard'],
    ['house', 'site'],
  ])
    await made('/api/folders', { id, name: `${id}!`, parent_id });
  for (const id of ['seen-tag', 'secret-tag']) await made('/api/tags', { id, name: id, color: '#aabbcc' });
  await made('/api/cameras', camera('mine', 'gate', { tags: ['seen-tag'] }));
  await made('/api/cameras', camera('secret-1', 'house', { tags: ['secret-tag'] }));
  await made('/api/cameras', camera('secret-open', 'house', { token_auth: false }));
  await made('/api/layouts', {
    ...{ name: 'all', shared: true, grid: '2x2' },
    tiles: [{ camera_id: 'mine' }, { camera_id: 'secret-1' }],
  });
  await made('/api/layouts', { name: 'secret-wall', shared: true, tiles: [{ camera_id: 'secret-1' }] });
  const login = async (role: 'viewer' | 'operator'): Promise<string> => {
    const username = `limited-${role}`;
    await made('/api/users', { username, password: USER_PASSWORD, role, folders: ['yard'] });
    const body = { username, password: USER_PASSWORD };
    return (await app.call('POST', '/api/login', { body })).body.token;
  };
  const { key } = await made('/api/keys', { name: 'bot', role: 'service', folders: ['yard'] });
  tokens = { viewer: await login('viewer'), operator: await login('operator'), key };
  document = (await app.call('GET', '/api/openapi.json')).body as Document;
});
after(() => app.stop());

/** What is asked of a camera: with what fits, as far as that can be known, and with what doesn't. */
const askedOf = (method: string): { readonly query: string; readonly body?: object }[] =>
  method === 'GET' || method === 'DELETE'
    ? [
        { query: '' },
        { query: '?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z' },
        { query: '?from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z&file=x.mp4&seq=0' },
        { query: '?limit=no&stream=no&passwords=no&from=no' },
      ]
    : [
        { query: '', body: {} },
        { query: '', body: { comment: 'mine' } },
        { query: '', body: { id: 'other' } },
        { query: '', body: { folder_id: 'house' } },
        { query: '', body: { surely: 'unknown' } },
      ];

test('of a camera out of sight every route says what it says of none', async () => {
  let count = 0;
  for (const [method, path] of operationsOf(document)) {
    if (!/^\/(?:api\/cameras|stream\/.*|hls)\/\{id\}/.test(path)) continue;
    for (const name of who)
      for (const { query, body } of askedOf(method)) {
        const ask = async (id: string) => {
          const address = path.replace('{id}', id).replaceAll(/\{[a-z]+\}/g, 'x');
          const { status, text } = await app.call(method, address + query, {
            token: tokens[name],
            ...(body && { body }),
          });
          return { status, text: text.replaceAll(id, 'ID') };
        };
        const what = `${name}: ${method} ${path}${query} ${JSON.stringify(body)}`;
        const [unseen, none] = [await ask('secret-1'), await ask('never-was')];
        assert.deepEqual(unseen, none, what);
        assert.ok([400, 403, 404, 415].includes(unseen.status), `${what}: ${unseen.status}`);
        // Without a token anybody might watch this one.
        if (!path.startsWith('/stream/webrtc')) assert.deepEqual(await ask('secret-open'), none, what);
        count++;
      }
  }
  assert.ok(count > 200);
});

test('nothing that is listed, counted or told names what is out of sight', async () => {
  const paths = [
    '/api/cameras',
    '/api/cameras?limit=10',
    '/api/tags',
    '/api/folders',
    '/api/layouts',
    '/api/events',
    '/api/events?folder_id=house',
    '/api/events?camera_id=secret-1',
    '/api/stats',
    '/api/stats/history',
    '/api/me',
  ];
  for (const name of ['viewer', 'operator'] as const)
    for (const path of paths) {
      const { status, text } = await app.call('GET', path, { token: tokens[name] });
      assert.equal(status, 200, path);
      assert.doesNotMatch(text, /secret|house|site/, `${name} ${path}`);
    }
  const as = async (path: string) => (await app.call('GET', path, { token: tokens.viewer })).body;
  const ids = (things: { id: string }[]): string[] => things.map(({ id }) => id);
  assert.deepEqual(ids(await as('/api/cameras')), ['mine']);
  assert.deepEqual(ids(await as('/api/tags')), ['seen-tag']);
  assert.deepEqual(await as('/api/folders'), [
    { id: 'gate', name: 'gate!', parent_id: 'yard' },
    { id: 'yard', name: 'yard!', parent_id: '' },
  ]);
  const layouts: { tiles: object[] }[] = await as('/api/layouts');
  assert.deepEqual(
    layouts.map(({ tiles }) => tiles),
    [[{ camera_id: 'mine' }]],
  );
  assert.equal((await as('/api/stats')).total_cameras, 1);
  const { series } = await as('/api/stats/history');
  assert.ok('memory_bytes' in series && !('cameras' in series));
  const me = await as('/api/me');
  assert.deepEqual([me.folders, me.permissions.includes('layouts.share')], [['yard'], false]);
});

test('an own layout keeps what is out of sight where it stood, whatever tiles are sent', async () => {
  const token = tokens.viewer;
  const path = '/api/layouts';
  await app.asAdmin('PUT', '/api/cameras/secret-1', { folder_id: 'yard' });
  const tiles = [{ camera_id: 'mine' }, { camera_id: 'secret-1' }];
  const made = await app.call('POST', path, { token, body: { name: 'own', tiles } });
  await app.asAdmin('PUT', '/api/cameras/secret-1', { folder_id: 'house' });
  const own = `${path}/${made.body.id}`;
  const { body: seen } = await app.call('GET', own, { token });
  assert.deepEqual(seen.tiles, [{ camera_id: 'mine' }]);
  const headers = { 'If-Match': `"${seen.revision}"` };
  const renamed = await app.call('PUT', own, { token, headers, body: { name: 'still mine' } });
  assert.equal(renamed.status, 200);
  assert.deepEqual([renamed.body.name, renamed.body.tiles], ['still mine', [{ camera_id: 'mine' }]]);
  assert.equal((await app.call('GET', own, { token })).body.revision, renamed.body.revision);
  const ifMatch = { 'If-Match': `"${renamed.body.revision}"` };
  const sent = [{ camera_id: 'mine' }, { camera_id: '' }];
  const saved = await app.call('PUT', own, { token, headers: ifMatch, body: { tiles: sent } });
  assert.deepEqual(saved.body.tiles, sent);
  await app.asAdmin('PUT', '/api/cameras/secret-1', { folder_id: 'yard' });
  assert.deepEqual((await app.call('GET', own, { token })).body.tiles, [...tiles, { camera_id: '' }]);
  await app.asAdmin('PUT', '/api/cameras/secret-1', { folder_id: 'house' });
  assert.equal((await app.call('DELETE', own, { token })).status, 200);
});

test('what takes several cameras takes none that is out of sight', async () => {
  const timeline = await app.call('GET', '/api/timeline?camera=mine&camera=secret-1', {
    token: tokens.viewer,
  });
  assert.equal(timeline.status, 404);
  const when = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' };
  const exported = async (id: string) => {
    const body = { items: [{ camera_id: id, ...when }] };
    const { status, text } = await app.call('POST', '/api/exports', { token: tokens.key, body });
    return { status, text: text.replaceAll(id, 'ID') };
  };
  assert.deepEqual(await exported('secret-1'), await exported('never-was'));
  assert.equal((await exported('secret-1')).status, 404);
  const batch = async (id: string, more: object = {}) => {
    const body = { update: [{ id, comment: 'x' }], ...more };
    const { status, text } = await app.call('POST', '/api/cameras/bulk', { token: tokens.operator, body });
    return { status, text: text.replaceAll(id, 'ID') };
  };
  for (const more of [{}, { delete: ['never-is'] }, { create: [{ id: 'x' }] }]) {
    assert.deepEqual(await batch('secret-1', more), await batch('never-was', more));
    assert.equal((await batch('secret-1', more)).status, 400);
  }
  const tested = async (id: string) => {
    const body = { id, url: 'rtsp://127.0.0.1:9/1' };
    return (await app.call('POST', '/api/cameras/test', { token: tokens.operator, body })).status;
  };
  assert.equal(await tested('secret-1'), 404);
});

test('an operator puts cameras into the own folders alone, and takes none out', async () => {
  const { operator: token } = tokens;
  const as = async (method: string, path: string, body?: object) =>
    (await app.call(method, path, { token, ...(body && { body }) })).status;
  const put = (folder_id: string) => as('PUT', '/api/cameras/mine', { folder_id });
  for (const folder of ['house', 'site', '', 'nowhere']) {
    assert.equal(await put(folder), 400, `moved to ${folder}`);
    assert.equal(await as('POST', '/api/cameras', camera('new', folder)), 400, `made in ${folder}`);
    const create = [camera('new', folder)];
    assert.equal(await as('POST', '/api/cameras/bulk', { create }), 400, `made in ${folder} with others`);
    const update = [{ id: 'mine', folder_id: folder }];
    assert.equal(await as('POST', '/api/cameras/bulk', { update }), 400, `moved to ${folder} with others`);
  }
  assert.equal(await put('yard'), 200);
  assert.equal(await put('gate'), 200);
  assert.equal(await as('POST', '/api/cameras', camera('new', 'yard')), 201);
  assert.equal(await as('DELETE', '/api/cameras/new'), 200);
  // What is left of a camera of others isn't had by making one of its name.
  await app.asAdmin('POST', '/api/cameras', camera('secret-old', 'house'));
  await app.asAdmin('DELETE', '/api/cameras/secret-old');
  assert.equal(await as('POST', '/api/cameras', camera('secret-old', 'yard')), 409);
  assert.equal(await as('POST', '/api/cameras/bulk', { create: [camera('secret-old', 'yard')] }), 400);
  for (const [method, path, body] of [
    ['POST', '/api/folders', { id: 'new', name: 'x', parent_id: 'yard' }],
    ['DELETE', '/api/folders/yard'],
    ['POST', '/api/tags', { id: 'new', name: 'x', color: '#aabbcc' }],
    ['POST', '/api/layouts', { name: 'x', shared: true }],
  ] as const)
    assert.equal(await as(method, path, body), 403, `${method} ${path}`);
});

test('the log tells of cameras in sight alone', async () => {
  const log = await openEvents(app.url, '/api/logs/stream', tokens.operator);
  await app.asAdmin('PUT', '/api/cameras/secret-1', { comment: 'seen?' });
  await app.asAdmin('PUT', '/api/cameras/mine', { comment: 'seen!' });
  await until('the camera in sight is told of', () => log.text().includes('"camera_id":"mine"'));
  log.close();
  assert.doesNotMatch(log.text(), /secret/);
});

/** The change that each event tells of. */
const changesIn = (text: string): { id: string }[] =>
  [...text.matchAll(/^data: (\{"topic.*)$/gm)].map(([, json = '']) => JSON.parse(json));

test('events tell of cameras in sight alone, and of those that come into sight or leave it by a reset', async (t) => {
  const path = '/api/events/stream';
  const [limited, whole] = [
    await openEvents(app.url, path, tokens.viewer),
    await openEvents(app.url, path, app.tokens.viewer),
  ];
  t.after(() => {
    limited.close();
    whole.close();
  });
  const resets = () => limited.text().split('event: reset').length - 1;
  await until('they begin', () => resets() === 1 && whole.text().includes('event: reset'));
  await app.asAdmin('PUT', '/api/cameras/secret-1', { comment: 'told?' });
  await app.asAdmin('PUT', '/api/cameras/mine', { comment: 'told!' });
  await app.asAdmin('PUT', '/api/tags/secret-tag', { name: 'secret name' });
  await until('all are told to who sees them', () => whole.text().includes('secret name'));
  await until('the own one is told', () => limited.text().includes('told!'));
  assert.deepEqual(
    changesIn(limited.text()).filter(({ id }) => id !== 'cameras/mine'),
    [],
  );
  await app.asAdmin('PUT', '/api/cameras/secret-1', { folder_id: 'yard' });
  await until('it is to look anew', () => resets() === 2);
  await app.asAdmin('PUT', '/api/cameras/secret-1', { folder_id: 'house' });
  await until('it is to look anew again', () => resets() === 3);
  assert.doesNotMatch(limited.text(), /house/);
});

const describe = async (path: string, headers: string): Promise<number> => {
  using rtsp = await RawClient.open(`${app.rtspUrl}/${path}`);
  const { status } = await rtsp.ask('DESCRIBE', '', headers);
  return status;
};

test('RTSP knows no camera out of sight, whatever is shown', async () => {
  const basic = (password: string, user = 'limited-viewer') =>
    `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`;
  const bearer = `Authorization: Bearer ${tokens.viewer}\r\n`;
  for (const [path, headers] of [
    ['secret-1', basic(USER_PASSWORD)],
    ['secret-1', bearer],
    ['secret-1', basic(tokens.key, 'anybody')],
    ['secret-open', bearer],
    ['secret-open', basic(tokens.key)],
    [`secret-1?token=${tokens.viewer}`, ''],
  ] as const)
    assert.equal(await describe(path, headers), 404, `${path} ${headers}`);
  for (const headers of [basic(USER_PASSWORD), bearer, basic(tokens.key, 'anybody')])
    assert.equal(await describe('mine', headers), 503, 'there is no picture, but a camera');
});

const closeOf = (path: string, token: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}${path}?token=${token}`);
    socket.once('unexpected-response', (_request, response) => {
      resolve(String(response.statusCode));
      socket.terminate();
    });
    socket.once('error', () => {});
    socket.once('open', () => {
      resolve('open');
      socket.close();
    });
  });

test('sockets know no camera out of sight', async () => {
  assert.equal(await closeOf('/stream/ws/secret-1', tokens.viewer), '404');
  assert.equal(await closeOf('/stream/ws/secret-open', tokens.viewer), '404');
  assert.equal(await closeOf('/stream/ws/mine', tokens.viewer), '503');
  const { body } = await app.call('GET', '/api/wall-token', { token: tokens.viewer });
  const wall = new WebSocket(`${app.url.replace('http', 'ws')}/stream/wall?token=${body.token}`);
  let text = '';
  wall.on('message', (data, isBinary) => {
    if (!isBinary) text += `${data}\n`;
  });
  await new Promise((resolve) => wall.once('open', resolve));
  const tile = (number: number, id: string) => ({
    ...{ tile: number, camera: id, stream: 'main', mode: 'all', priority: 0, sound: false },
  });
  const tiles = [tile(1, 'secret-1'), tile(2, 'secret-open'), tile(3, 'mine')];
  wall.send(JSON.stringify({ op: 'tiles', rev: 1, tiles }));
  await until('all tiles are answered', () => text.split('"op":"tile"').length === 4);
  wall.close();
  const statusOf = (number: number): number =>
    text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
      .find(({ op, tile: at }) => op === 'tile' && at === number)?.problem?.status;
  assert.deepEqual([1, 2, 3].map(statusOf), [404, 404, 503]);
});

test('another list of folders acts at once: tokens of before are good for nothing', async () => {
  const username = 'changing';
  await app.asAdmin('POST', '/api/users', { username, password: USER_PASSWORD, role: 'viewer' });
  const enter = async (): Promise<string> =>
    (await app.call('POST', '/api/login', { body: { username, password: USER_PASSWORD } })).body.token;
  const idsFor = async (token: string) => {
    const { status, body } = await app.call('GET', '/api/cameras', { token });
    return status === 200 ? body.map(({ id }: { id: string }) => id) : status;
  };
  const first = await enter();
  assert.deepEqual(await idsFor(first), ['mine', 'secret-1', 'secret-open']);
  const change = (folders: unknown) => app.asAdmin('PUT', `/api/users/${username}`, { folders });
  assert.deepEqual((await change(['gate'])).body, { username, role: 'viewer', folders: ['gate'] });
  assert.equal(await idsFor(first), 401);
  assert.deepEqual(await idsFor(await enter()), ['mine']);
  assert.equal((await change([])).status, 400, 'nobody guesses what an empty list means');
  assert.deepEqual((await change(null)).body, { username, role: 'viewer' });
  assert.deepEqual(await idsFor(await enter()), ['mine', 'secret-1', 'secret-open']);
  const admin = await app.asAdmin('PUT', '/api/users/admin', { folders: ['yard'] });
  assert.deepEqual([admin.status, admin.body.code], [400, 'admin_limited']);
});
