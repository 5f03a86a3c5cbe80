import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

type Caller = 'viewer' | 'operator' | 'admin';

const call = (who: Caller, method: string, path: string, body?: unknown, etag?: string) =>
  app.call(method, `/api/layouts${path}`, {
    token: app.tokens[who],
    ...(body === undefined ? {} : { body }),
    headers: etag === undefined ? {} : { 'if-match': etag },
  });

const made = async (who: Caller, fields: object = {}) => {
  const { status, body, text } = await call(who, 'POST', '', { name: 'a wall', ...fields });
  assert.equal(status, 201, text);
  return body;
};

const namesSeenBy = async (who: Caller): Promise<string[]> =>
  (await call(who, 'GET', '')).body.map(({ name }: { name: string }) => name);

test('a layout is made of a name alone, or of all that a wall needs, and comes back as it was sent', async () => {
  const { id, revision, ...plain } = await made('viewer');
  assert.match(id, /^[0-9a-f]{16}$/);
  assert.deepEqual(plain, {
    owner: 'viewer',
    name: 'a wall',
    shared: false,
    grid: '2x2',
    source: { kind: 'hand' },
    tiles: [],
    tour_sec: 0,
    enlarge_on_event: false,
  });
  const fields = {
    name: 'Gate ☂',
    grid: '1+7',
    source: { kind: 'folder', id: 'yard' },
    tiles: [{ camera_id: 'gone' }, { camera_id: '' }, { camera_id: 'gate' }],
    tour_sec: 20,
    enlarge_on_event: true,
  };
  const whole = await made('viewer', fields);
  const one = await call('viewer', 'GET', `/${whole.id}`);
  assert.deepEqual(one.body, { ...whole, ...fields, owner: 'viewer', shared: false });
  assert.equal(one.headers.get('etag'), `"${whole.revision}"`);
  assert.deepEqual(
    (await call('viewer', 'GET', '')).body.find((layout: { id: string }) => layout.id === whole.id),
    whole,
  );
  const known = { 'if-none-match': one.headers.get('etag') ?? '' };
  const again = await app.call('GET', `/api/layouts/${whole.id}`, {
    token: app.tokens.viewer,
    headers: known,
  });
  assert.equal(again.status, 304);
  assert.notEqual(revision, whole.revision);
});

test('an own layout is nobody else’s business', async () => {
  const { id } = await made('viewer', { name: 'my own' });
  for (const other of ['operator', 'admin'] as const) {
    assert.ok(!(await namesSeenBy(other)).includes('my own'));
    assert.equal((await call(other, 'GET', `/${id}`)).status, 404);
    assert.equal((await call(other, 'PUT', `/${id}`, { name: 'taken' }, '*')).status, 404);
    assert.equal((await call(other, 'DELETE', `/${id}`)).status, 404);
  }
  assert.ok((await namesSeenBy('viewer')).includes('my own'));
});

test('what is shared all see, who may share change, and its owner alone takes back', async () => {
  const refused = await call('viewer', 'POST', '', { name: 'x', shared: true });
  assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden']);
  const { id } = await made('operator', { name: 'the site', shared: true });
  for (const who of ['viewer', 'operator', 'admin'] as const)
    assert.ok((await namesSeenBy(who)).includes('the site'));
  assert.equal((await call('viewer', 'PUT', `/${id}`, { name: 'x' }, '*')).status, 403);
  assert.equal((await call('viewer', 'DELETE', `/${id}`)).status, 403);
  const changed = await call('admin', 'PUT', `/${id}`, { grid: '4x4' }, '*');
  assert.deepEqual([changed.body.grid, changed.body.owner], ['4x4', 'operator']);
  assert.equal((await call('admin', 'PUT', `/${id}`, { shared: false }, '*')).status, 403);
  const own = await made('viewer');
  assert.equal((await call('viewer', 'PUT', `/${own.id}`, { shared: true }, '*')).status, 403);
  assert.equal((await call('operator', 'PUT', `/${id}`, { shared: false }, '*')).status, 200);
  assert.ok(!(await namesSeenBy('viewer')).includes('the site'));
  assert.equal((await call('operator', 'DELETE', `/${id}`)).body.message, 'layout deleted');
  assert.equal((await call('operator', 'DELETE', `/${id}`)).status, 404);
});

test('a layout is changed only as it is known, and what was shown can be sent back', async () => {
  const layout = await made('viewer');
  const first = await call(
    'viewer',
    'PUT',
    `/${layout.id}`,
    { ...layout, name: 'b' },
    `"${layout.revision}"`,
  );
  assert.deepEqual([first.status, first.body.name], [200, 'b']);
  assert.equal(first.headers.get('etag'), `"${first.body.revision}"`);
  const late = await call('viewer', 'PUT', `/${layout.id}`, { name: 'c' }, `"${layout.revision}"`);
  assert.deepEqual([late.status, late.body.code], [412, 'precondition_failed']);
  assert.equal((await call('viewer', 'PUT', `/${layout.id}`, { name: 'c' })).status, 428);
  const other = await call('viewer', 'PUT', `/${layout.id}`, { id: 'other' }, '*');
  assert.deepEqual([other.status, other.body.errors[0].path], [400, 'id']);
  const stolen = await call('viewer', 'PUT', `/${layout.id}`, { owner: 'admin' }, '*');
  assert.equal(stolen.body.owner, 'viewer');
});

test('a layout that is too large, or no layout, is refused by field; a user has a hundred at most', async () => {
  const tiles = (count: number) => Array.from({ length: count }, () => ({ camera_id: 'c' }));
  for (const [fields, path] of [
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(129) }, 'name'],
    [{ grid: '7x7' }, 'grid'],
    [{ tiles: tiles(65) }, 'tiles'],
    [{ tiles: [{ camera_id: 'a b' }] }, 'tiles[0].camera_id'],
    [{ tiles: [{ camera_id: 'a', url: 'x' }] }, 'tiles[0].url'],
    [{ source: { kind: 'folder' } }, 'source.id'],
    [{ source: { kind: 'world' } }, 'source.kind'],
    [{ tour_sec: -1 }, 'tour_sec'],
    [{ tour_sec: 3_601 }, 'tour_sec'],
    [{ owner: 'viewer' }, 'owner'],
  ] as const) {
    const { status, body } = await call('operator', 'POST', '', { name: 'x', ...fields });
    assert.deepEqual([status, body.errors?.[0].path], [400, path]);
  }
  await made('operator', { tiles: tiles(64) });
  const count = (await namesSeenBy('operator')).length;
  for (let index = count; index < 100; index++) await made('operator');
  const full = await call('operator', 'POST', '', { name: 'x' });
  assert.deepEqual([full.status, full.body.code], [409, 'too_many_layouts']);
  await made('viewer');
});

test('layouts are listed in pages', async () => {
  const page = await call('viewer', 'GET', '?limit=1');
  assert.equal(page.body.length, 1);
  const next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  assert.equal((await app.call('GET', next, { token: app.tokens.viewer })).status, 200);
});

test('a deleted camera breaks no layout; a deleted user leaves what is shared to all, and nothing to a namesake', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'gate', url: 'rtsp://127.0.0.1:9/1', disabled: true });
  const tiles = [{ camera_id: 'gate' }];
  const account = { username: 'olga', password: USER_PASSWORD, role: 'operator' };
  const login = async (): Promise<string> => {
    await app.asAdmin('POST', '/api/users', account);
    const body = { username: 'olga', password: USER_PASSWORD };
    return (await app.call('POST', '/api/login', { body })).body.token;
  };
  const token = await login();
  for (const shared of [true, false])
    await app.call('POST', '/api/layouts', { token, body: { name: `olga ${shared}`, shared, tiles } });
  await app.asAdmin('DELETE', '/api/cameras/gate');
  const seen = (await app.call('GET', '/api/layouts', { token })).body.filter(
    ({ owner }: { owner: string }) => owner === 'olga',
  );
  assert.deepEqual(
    seen.map((layout: { tiles: object }) => layout.tiles),
    [tiles, tiles],
  );
  await app.asAdmin('DELETE', '/api/users/olga');
  const left = (await call('viewer', 'GET', '')).body.find(
    ({ name }: { name: string }) => name === 'olga true',
  );
  assert.equal(left.owner, '');
  assert.equal((await call('admin', 'PUT', `/${left.id}`, { name: 'kept' }, '*')).status, 200);
  const again = await app.call('GET', '/api/layouts', { token: await login() });
  assert.deepEqual(
    again.body.filter(({ name }: { name: string }) => name.startsWith('olga')),
    [],
  );
});
