import assert from 'node:assert/strict';
import { type TestApp, USER_PASSWORD } from '../support/test-app.js';

/** Signs a browser in, uses its session as pages do and as they may not, and signs it out. */
export const callSessions = async (app: TestApp): Promise<void> => {
  const body = { username: 'admin', password: app.adminPassword, remember: true };
  const login = await app.call('POST', '/api/login', { body });
  const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';');
  const as = (method: string, headers: Record<string, string>) =>
    app.call(method, '/api/session', { headers: { cookie, ...headers } });
  const own = { origin: app.url };
  for (const method of ['POST', 'DELETE']) {
    assert.equal((await as(method, {})).status, 403);
    assert.equal((await as(method, own)).status, 200);
    assert.equal((await as(method, { ...own, cookie: '' })).status, 401);
  }
  await app.call('POST', '/api/login', { body });
  const [browser] = (await app.asAdmin('GET', '/api/me/sessions')).body;
  for (const status of [200, 404])
    assert.equal((await app.asAdmin('DELETE', `/api/me/sessions/${browser.id}`)).status, status);
};

/** Replaces what must be known, knowing it and not. */
export const callReplacements = async (app: TestApp): Promise<void> => {
  const { viewer: token } = app.tokens;
  const replace = async (path: string, body: object, etag: string) =>
    (await app.call('PUT', path, { token, body, headers: { 'if-match': etag } })).status;
  assert.equal(await replace('/api/me/preferences', {}, '"another"'), 412);
  assert.equal(await replace('/api/me/preferences', {}, '*'), 200);
  const passwords = { old: USER_PASSWORD, new: USER_PASSWORD };
  const changed = await app.call('PUT', '/api/me/password', { token: app.tokens.service, body: passwords });
  assert.equal(changed.status, 200);
};

/** Makes, changes, shares, and removes layouts, up to the most that there may be. */
export const callLayouts = async (app: TestApp): Promise<void> => {
  const as = async (who: 'viewer' | 'operator', method: string, path: string, body?: object, etag = '*') => {
    const sent = { token: app.tokens[who], ...(body && { body }), headers: { 'if-match': etag } };
    const { status, body: layout } = await app.call(method, `/api/layouts${path}`, sent);
    return { status, id: layout.id as string };
  };
  const { id, status } = await as('operator', 'POST', '', { name: 'wall', shared: true });
  assert.equal(status, 201);
  const path = `/${id}`;
  const token = app.tokens.operator;
  const etag = (await app.call('GET', `/api/layouts${path}`, { token })).headers.get('etag') ?? '';
  const headers = { 'if-none-match': etag };
  assert.equal((await app.call('GET', `/api/layouts${path}`, { token, headers })).status, 304);
  for (const [step, expected] of [
    [await as('viewer', 'POST', '', { name: 'wall', shared: true }), 403],
    [await as('viewer', 'PUT', path, { name: 'x' }), 403],
    [await as('viewer', 'DELETE', path), 403],
    [await as('operator', 'PUT', path, { name: 'x' }, '"another"'), 412],
    [await as('operator', 'PUT', path, { name: 'x' }, etag), 200],
    [await as('operator', 'PUT', '/unknown', { name: 'x' }), 404],
    [await as('operator', 'DELETE', path), 200],
  ] as const)
    assert.equal(step.status, expected);
  for (let count = 0; count < 100; count++) await as('operator', 'POST', '', { name: 'wall' });
  assert.equal((await as('operator', 'POST', '', { name: 'wall' })).status, 409);
};
