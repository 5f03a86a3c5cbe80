import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';
import { until } from '../support/until.js';

const operator = { username: 'operator', password: USER_PASSWORD };

let app: TestApp;
let browser: AppBrowser;

before(async () => {
  app = await startTestApp();
  await app.asAdmin('POST', '/api/cameras', { id: 'gate', url: 'rtsp://127.0.0.1:9/gate' });
  browser = await AppBrowser.launch();
});
after(async () => {
  await browser.close();
  await app.stop();
});

const asks = (page: AppPage['page'], path: string): Promise<number> =>
  page.evaluate<number>(`fetch(${JSON.stringify(path)}).then(({ status }) => status)`);

test('eight tabs of pages without pictures hear of changes, and leave the host room for requests', async () => {
  const visitor = await browser.signedIn(app.url, operator);
  await visitor.go('/cameras');
  const tabs = [visitor.page];
  for (let count = 1; count < 8; count += 1) {
    const tab = await visitor.page.context().newPage();
    // Six connections and no more: what needs a seventh hangs.
    await tab.goto(`${app.url}/cameras`);
    await tab.getByRole('link', { name: 'gate' }).first().waitFor();
    tabs.push(tab);
  }
  await Promise.all(tabs.map(async (tab) => assert.equal(await asks(tab, '/api/openapi.json'), 200)));
  await app.asAdmin('POST', '/api/cameras', { id: 'yard', url: 'rtsp://127.0.0.1:9/yard' });
  for (const tab of tabs) {
    await tab.bringToFront();
    await tab.getByRole('link', { name: 'yard' }).first().waitFor();
  }
  await app.asAdmin('DELETE', '/api/cameras/yard');
  await visitor.close();
});

const look = (page: AppPage['page'], isHidden: boolean): Promise<unknown> =>
  page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);

test('eight tabs of the log leave the host room for requests, and each goes on when it is seen', async () => {
  const visitor = await browser.signedIn(app.url, operator);
  const records = (page: AppPage['page'], id: string) =>
    page.getByRole('listitem').filter({ hasText: 'create_tag' }).filter({ hasText: id });
  const write = async (id: string): Promise<void> =>
    assert.equal((await app.asAdmin('POST', '/api/tags', { id, name: id, color: '#112233' })).status, 201);
  const tabs: AppPage['page'][] = [];
  for (let count = 0; count < 8; count += 1) {
    const tab = count === 0 ? visitor.page : await visitor.page.context().newPage();
    const isEnded = tab.waitForEvent('requestfailed', (request) => request.url().includes('/logs/stream'));
    isEnded.catch(() => {});
    // Six connections and no more: what needs a seventh hangs.
    await tab.goto(`${app.url}/logs`);
    await write(`log-${count}`);
    await records(tab, `log-${count}`).waitFor();
    tabs.push(tab);
    if (count === 7) break;
    await look(tab, true);
    await isEnded;
  }
  const [first, last] = [tabs[0], tabs[7]];
  assert.ok(first !== undefined && last !== undefined);
  assert.equal(await asks(last, '/api/openapi.json'), 200);
  await write('log-meanwhile');
  await records(last, 'log-meanwhile').waitFor();
  await first.bringToFront();
  await look(first, false);
  await records(first, 'log-meanwhile').waitFor();
  await write('log-last');
  await records(first, 'log-last').waitFor();
  for (const id of ['log-0', 'log-meanwhile', 'log-last'])
    assert.equal(await records(first, id).count(), 1, id);
  await visitor.close();
});

test('a log that was not read for longer than the service repeats says that records may be missing', async () => {
  const visitor = await browser.signedIn(app.url, operator);
  const { page } = visitor;
  await visitor.go('/logs');
  await page.getByRole('listitem').first().waitFor();
  const isEnded = page.waitForEvent('requestfailed', (request) => request.url().includes('/logs/stream'));
  await look(page, true);
  await isEnded;
  const zones = ['Europe/Rome', 'UTC'];
  for (let count = 0; count < 101; count += 1) {
    const { status } = await app.asAdmin('PUT', '/api/settings', { time_zone: zones[count % 2] });
    assert.equal(status, 200);
  }
  await look(page, false);
  await page.getByRole('listitem').filter({ hasText: 'may be missing' }).waitFor();
  await visitor.close();
});

test('a camera that was deleted and made again while nobody saw the page is there', async () => {
  const visitor = await browser.signedIn(app.url, operator);
  const { page } = visitor;
  // A hidden page draws nothing.
  await page.addInitScript(`
    window.draw = requestAnimationFrame;
    window.isHidden = false;
    window.held = [];
    window.requestAnimationFrame = (run) => isHidden ? held.push(run) : draw(run);
  `);
  await visitor.go('/cameras');
  await page.getByRole('link', { name: 'gate' }).first().waitFor();
  const told: string[] = [];
  // Before the page has its socket: what comes first comes once.
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => void told.push(String(payload))),
  );
  await page.reload();
  await page.getByRole('link', { name: 'gate' }).first().waitFor();
  await until('the page listens', () => told.length > 0, { deadlineMs: 30_000 });
  await page.evaluate('window.isHidden = true');
  await app.asAdmin('DELETE', '/api/cameras/gate');
  await app.asAdmin('POST', '/api/cameras', { id: 'gate', url: 'rtsp://127.0.0.1:9/gate' });
  await app.asAdmin('PUT', '/api/cameras/gate', { comment: 'made again' });
  await until('the page was told', () => told.some((text) => text.includes('made again')), {
    deadlineMs: 30_000,
  });
  await page.evaluate('window.isHidden = false; for (const run of held) draw(run)');
  await page.getByText('made again').first().waitFor();
  await visitor.close();
});

test('cameras are looked at one request at a time, however late answers come', async () => {
  const visitor = await browser.signedIn(app.url, operator);
  const { page } = visitor;
  let open = 0;
  let most = 0;
  let asked = 0;
  await page.route('**/api/cameras', async (route) => {
    open += 1;
    asked += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setTimeout(resolve, 500));
    open -= 1;
    await route.continue().catch(() => {});
  });
  await visitor.go('/cameras');
  const ids = Array.from({ length: 12 }, (_, nth) => `tag-${nth}`);
  const made = ids.map((id) => app.asAdmin('POST', '/api/tags', { id, name: id, color: '#112233' }));
  for (const { status } of await Promise.all(made)) assert.equal(status, 201);
  await page.waitForTimeout(2_000);
  assert.equal(most, 1);
  assert.ok(asked < 10, `${asked}`);
  await visitor.close();
});

test('of a layout that somebody else changes meanwhile both changes stay, or theirs is shown', async () => {
  const made = await app.call('POST', '/api/layouts', {
    token: app.tokens.operator,
    body: { name: 'Night', grid: '2x2', source: { kind: 'hand' } },
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const path = `/api/layouts/${made.body.id}`;
  const visitor = await browser.signedIn(app.url, operator);
  const { page } = visitor;
  const change = async (body: object): Promise<void> => {
    const { body: now } = await app.call('GET', path, { token: app.tokens.operator });
    const headers = { 'if-match': `"${now.revision}"` };
    const { status } = await app.call('PUT', path, { token: app.tokens.operator, body, headers });
    assert.equal(status, 200);
  };
  const nameNow = async () => (await app.call('GET', path, { token: app.tokens.operator })).body;
  await visitor.go(`/wall/${made.body.id}`);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Arrange tiles' }).click();
  await change({ name: 'Late' });
  await page.getByLabel('Grid').selectOption('3x3');
  await until('both are kept', async () => {
    const now = await nameNow();
    return now.name === 'Late' && now.grid === '3x3';
  });
  await visitor.close();
});

test('what can not be read at first is said, with a way to ask again', async () => {
  const visitor = await browser.signedIn(app.url, operator);
  const { page } = visitor;
  // Nobody says that there is something to be read.
  await page.route('**/api/wall-token', () => {});
  const problem = { status: 500, body: JSON.stringify({ code: 'internal', detail: 'a disk is broken' }) };
  for (const [path, asked] of [
    ['/camera/gate', '**/api/cameras'],
    ['/archive', '**/api/cameras'],
    ['/wall/all', '**/api/cameras'],
  ] as const) {
    await page.route(asked, (route) => route.fulfill(problem));
    await page.goto(app.url + path);
    await page.getByText('a disk is broken').first().waitFor();
    await page.unroute(asked);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('a disk is broken').first().waitFor({ state: 'detached' });
  }
  await visitor.close();
});
