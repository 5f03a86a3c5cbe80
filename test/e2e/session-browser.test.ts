import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserPage } from '../support/browser/browser.js';
import { launchChromium } from '../support/browser/chromium.js';
import { FrontProxy } from '../support/front-proxy.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

let app: TestApp;
let browser: Browser;
let front: FrontProxy;
let elsewhere: FrontProxy;

before(async () => {
  app = await startTestApp({ env: { TRUST_PROXY: 'loopback' } });
  front = await FrontProxy.start(app.url);
  elsewhere = await FrontProxy.start(app.url);
  browser = await launchChromium();
});
after(async () => {
  await browser.close();
  await Promise.all([front.close(), elsewhere.close()]);
  await app.stop();
});

/** What a request of a page brings: its status, and its body as far as it is JSON. */
type Outcome = { status: number; body: { token?: string; code?: string } };

const send = (page: BrowserPage, method: string, path: string, options: object = {}): Promise<Outcome> =>
  page.evaluate(`fetch(${JSON.stringify(path)}, ${JSON.stringify({ method, ...options })})
    .then(async (answer) => ({ status: answer.status, body: await answer.json().catch(() => ({})) }))`);

const signIn = (page: BrowserPage): Promise<Outcome> =>
  send(page, 'POST', '/api/login', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'viewer', password: USER_PASSWORD, remember: true }),
  });

/** The last request with that method and path that a proxy saw. */
const lastSeen = (proxy: FrontProxy, method: string, path: string) =>
  proxy.seen.findLast((seen) => seen.method === method && seen.path === path);

test('a page that signed in gets tokens in every tab, and neither it nor another route ever sees the cookie', async () => {
  const page = await browser.open(front.url());
  assert.equal((await signIn(page)).status, 200);
  assert.equal(await page.evaluate('document.cookie'), '');
  const other = await browser.open(front.url());
  for (let times = 0; times < 3; times++) {
    const both = await Promise.all([page, other].map((tab) => send(tab, 'POST', '/api/session')));
    for (const { status, body } of both) {
      assert.equal(status, 200);
      const headers = { authorization: `Bearer ${body.token}` };
      assert.equal((await send(page, 'GET', '/api/me', { headers })).status, 200);
    }
  }
  assert.equal(lastSeen(front, 'GET', '/api/me')?.hasCookie, false);
  const { hasCookie, fetchSite } = lastSeen(front, 'POST', '/api/session')!;
  assert.deepEqual({ hasCookie, fetchSite }, { hasCookie: true, fetchSite: 'same-origin' });
  await Promise.all([page.close(), other.close()]);
});

test('a page of another port has the cookie sent, and one of another site has not; both are refused', async () => {
  const own = await browser.open(front.url());
  await signIn(own);
  for (const [origin, hasCookie, fetchSite, status] of [
    [elsewhere.url('127.0.0.1'), true, 'same-site', 403],
    [elsewhere.url('localhost'), false, 'cross-site', 401],
  ] as const) {
    const page = await browser.open(origin);
    for (const method of ['POST', 'DELETE']) {
      const before = front.seen.length;
      const options = { method, credentials: 'include', mode: method === 'POST' ? 'no-cors' : 'cors' };
      const call = `fetch('${front.url()}/api/session', ${JSON.stringify(options)}).then(() => 'sent', () => 'refused')`;
      await page.evaluate(call);
      const seen = front.seen.slice(before);
      // DELETE is asked for beforehand, and the browser takes the answer for a no.
      if (method === 'DELETE') assert.deepEqual([...new Set(seen.map((each) => each.method))], ['OPTIONS']);
      else
        assert.deepEqual(
          seen.map((each) => [each.hasCookie, each.fetchSite, each.status]),
          [[hasCookie, fetchSite, status]],
        );
    }
    await page.close();
  }
  assert.equal((await send(own, 'POST', '/api/session')).status, 200, 'and it goes on where it belongs');
  await own.close();
});

test('a page that signs out has no cookie any more', async () => {
  const page = await browser.open(front.url());
  await signIn(page);
  assert.equal((await send(page, 'DELETE', '/api/session')).status, 200);
  const { status, body } = await send(page, 'POST', '/api/session');
  assert.deepEqual([status, body.code], [401, 'session_missing']);
  assert.equal(lastSeen(front, 'POST', '/api/session')?.hasCookie, false);
  await page.close();
});
