import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp({ env: { TRUST_PROXY: 'loopback', CORS_ORIGINS: 'https://friend.example' } });
});
after(() => app.stop());

/** Headers of a page that came from `origin`, as a proxy on this machine hands them on. */
const through = (origin: string): Record<string, string> => {
  const { host, protocol } = new URL(origin);
  return { origin, 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) };
};

const signIn = async (remember: boolean, headers: Record<string, string> = {}) => {
  const body = { username: 'viewer', password: USER_PASSWORD, remember };
  const answer = await app.call('POST', '/api/login', { body, headers });
  const setCookie = answer.headers.get('set-cookie') ?? '';
  return { answer, setCookie, cookie: setCookie.split(';')[0] ?? '' };
};

const session = (method: string, headers: Record<string, string>) =>
  app.call(method, '/api/session', { headers });

test('a login sets a cookie where it says whether to remember, and none where it says nothing', async () => {
  const attributes = 'Path=/api/session; HttpOnly; SameSite=Strict';
  const { answer, setCookie } = await signIn(false);
  assert.match(setCookie, new RegExp(`^framering_session=[A-Za-z0-9_-]{43}; ${attributes}$`));
  assert.deepEqual(Object.keys(answer.body), ['token']);
  assert.match((await signIn(true)).setCookie, new RegExp(`; ${attributes}; Max-Age=2592000$`));
  const byTls = await signIn(true, through('https://cams.example'));
  assert.match(
    byTls.setCookie,
    new RegExp(`^__Secure-framering_session=[^;]{43}; ${attributes}; Secure; Max-Age=2592000$`),
  );
  const body = { username: 'viewer', password: USER_PASSWORD };
  const plain = await app.call('POST', '/api/login', { body });
  assert.deepEqual([plain.status, plain.headers.get('set-cookie')], [200, null]);
  const refused = await app.call('POST', '/api/login', {
    body: { ...body, password: 'wrong', remember: true },
  });
  assert.deepEqual([refused.status, refused.headers.get('set-cookie')], [401, null]);
  assert.equal((await app.call('POST', '/api/login', { body: { ...body, remember: 'yes' } })).status, 400);
});

test('the cookie gives access tokens, which are good as any other, and goes on for another 30 days', async () => {
  const { cookie, setCookie } = await signIn(true);
  const renewed = await session('POST', { cookie, origin: app.url });
  assert.equal(renewed.status, 200);
  assert.equal(renewed.headers.get('cache-control'), 'no-store');
  assert.equal(renewed.headers.get('set-cookie'), setCookie);
  const { token } = renewed.body;
  assert.equal((await app.call('GET', '/api/tags', { token })).status, 200);
  assert.equal((await app.call('GET', '/api/users', { token })).status, 403, 'of the role of its user');
  assert.equal(
    (await app.call('GET', '/api/tags', { headers: { cookie } })).status,
    401,
    'it opens nothing else',
  );
  await app.asAdmin('PUT', '/api/users/viewer', { password: 'another password' });
  await app.asAdmin('PUT', '/api/users/viewer', { password: USER_PASSWORD });
  assert.equal((await app.call('GET', '/api/tags', { token })).body.code, 'token_revoked');
  const ended = await session('POST', { cookie, origin: app.url });
  assert.deepEqual([ended.status, ended.body.code], [401, 'session_ended']);
});

test('only a page of this very service may use a session, through a proxy that is trusted too', async () => {
  const [plain, secure] = [await signIn(true), await signIn(true, through('https://cams.example'))];
  const { host } = new URL(app.url);
  const asked = async (cookie: string, headers: Record<string, string>) => {
    const answers = [await session('POST', { cookie, ...headers })];
    // Where one is refused so is the other, and the session goes on.
    if (answers[0]?.status !== 200) answers.push(await session('DELETE', { cookie, ...headers }));
    return [...new Set(answers.map(({ status, body }) => `${status} ${body.code ?? 'ok'}`))].join();
  };
  const own = { origin: app.url };
  for (const [headers, outcome] of [
    [own, '200 ok'],
    [{ ...own, 'sec-fetch-site': 'same-origin' }, '200 ok'],
    [{ origin: `https://${host}` }, '200 ok'],
    [{}, '403 wrong_origin'],
    [{ origin: 'null' }, '403 wrong_origin'],
    [{ origin: '' }, '403 wrong_origin'],
    [{ origin: 'http://127.0.0.1:1' }, '403 wrong_origin'],
    [{ origin: `http://${host}.evil.example` }, '403 wrong_origin'],
    [{ origin: `ftp://${host}` }, '403 wrong_origin'],
    [{ origin: 'https://friend.example' }, '403 wrong_origin'],
    [{ ...own, 'sec-fetch-site': 'same-site' }, '403 wrong_origin'],
    [{ ...own, 'sec-fetch-site': 'cross-site' }, '403 wrong_origin'],
    [through('http://CAMS.example:80'), '200 ok'],
    [{ ...through('http://cams.example'), origin: 'http://evil.example' }, '403 wrong_origin'],
  ] as const)
    assert.equal(await asked(plain.cookie, headers), outcome, JSON.stringify(headers));
  const byTls = through('https://cams.example');
  assert.equal(await asked(secure.cookie, byTls), '200 ok');
  assert.equal(await asked(secure.cookie, { ...byTls, origin: 'http://cams.example' }), '403 wrong_origin');
  assert.equal(await asked(secure.cookie, own), '401 session_missing', 'without TLS it has another name');
  assert.equal(await asked(plain.cookie, byTls), '401 session_missing');
  for (const cookie of [
    '',
    'framering_session=',
    'framering_session=short',
    `other=${'x'.repeat(43)}`,
    ';;=;',
  ])
    assert.equal(await asked(cookie, own), '401 session_missing', cookie);
  const among = `a=b; ${plain.cookie} ; framering_session=${'x'.repeat(43)}`;
  assert.equal(await asked(among, own), '200 ok');
});

test('what a proxy says that nobody trusts makes no page our own', async (t) => {
  const direct = await startTestApp({ withUsers: false });
  t.after(() => direct.stop());
  const body = { username: 'admin', password: direct.adminPassword, remember: true };
  const login = await direct.call('POST', '/api/login', { body, headers: through('https://cams.example') });
  const setCookie = login.headers.get('set-cookie') ?? '';
  assert.doesNotMatch(setCookie, /Secure/);
  const headers = { cookie: setCookie.split(';')[0] ?? '', ...through('https://cams.example') };
  assert.equal((await direct.call('POST', '/api/session', { headers })).body.code, 'wrong_origin');
});

type Browser = Record<'id' | 'created' | 'user_agent', string> & Record<'remembered' | 'current', boolean>;

test('users see the browsers that they are signed in with, and sign out their own alone', async () => {
  const here = await signIn(true);
  const there = await signIn(false, { 'user-agent': `Elsewhere/1.0 ${'x'.repeat(400)}` });
  const { token } = here.answer.body;
  const listed: Browser[] = (await app.call('GET', '/api/me/sessions', { token })).body;
  const own = listed.filter(({ current }) => current);
  assert.deepEqual(
    own.map(({ remembered }) => remembered),
    [true],
  );
  const other = listed.find(({ user_agent }) => user_agent.startsWith('Elsewhere/1.0 '))!;
  assert.deepEqual([other.user_agent.length, other.remembered, other.current], [256, false, false]);
  assert.ok(Math.abs(Date.parse(other.created) - Date.now()) < 600_000);
  const renew = () => session('POST', { cookie: there.cookie, origin: app.url });
  const end = async (by: string) =>
    (await app.call('DELETE', `/api/me/sessions/${other.id}`, { token: by })).status;
  assert.equal(await end(app.tokens.operator), 404);
  assert.equal((await renew()).status, 200);
  assert.equal(await end(token), 200);
  assert.equal((await renew()).body.code, 'session_ended');
  const left: Browser[] = (await app.call('GET', '/api/me/sessions', { token })).body;
  assert.deepEqual(
    left.map(({ id }) => id),
    listed.map(({ id }) => id).filter((id) => id !== other.id),
  );
});

test('who signs out has no cookie any more, and the audit log tells of all of it', async () => {
  const { cookie } = await signIn(false);
  const headers = { cookie, origin: app.url };
  const before = app.logText().length;
  assert.equal((await session('POST', headers)).status, 200);
  const out = await session('DELETE', headers);
  assert.deepEqual([out.status, out.body], [200, { message: 'session ended' }]);
  assert.match(
    out.headers.get('set-cookie') ?? '',
    /^framering_session=; Path=\/api\/session; .*; Max-Age=0$/,
  );
  for (const method of ['POST', 'DELETE'])
    assert.equal((await session(method, headers)).body.code, 'session_ended');
  const audited = app
    .logText()
    .slice(before)
    .split('\n')
    .filter((line) => line.includes('"audit":true'))
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    audited.map(({ action, user, ip }) => [action, user, ip]),
    [
      ['renew_session', 'viewer', '127.0.0.1'],
      ['end_session', 'viewer', '127.0.0.1'],
    ],
  );
  assert.ok(!app.logText().includes(cookie.split('=')[1] ?? ''), 'the log never shows a secret');
});
