import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppBrowser } from '../support/browser/app-page.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

let app: TestApp;
let browser: AppBrowser;

before(async () => {
  app = await startTestApp();
  browser = await AppBrowser.launch();
});
after(async () => {
  await browser.close();
  await app.stop();
});

const NEW_PASSWORD = 'another password';

test('who is signed out while working signs in again and finds the page as it was', async () => {
  const visitor = await browser.signedIn(app.url, { username: 'admin', password: app.adminPassword });
  const { page } = visitor;
  await visitor.go('/users');
  await page.getByRole('button', { name: 'Add user' }).click();
  await page.fill('dialog input[name=username]', 'night-guard');
  // The page is told, and asks for nothing in vain.
  await app.asAdmin('PUT', '/api/users/admin', { password: NEW_PASSWORD });
  await page.getByText('You were signed out.').waitFor();
  assert.equal(await page.getByText('night-guard').count(), 0);
  assert.equal(await page.locator('h1:visible').textContent(), 'Sign in', 'nothing of the page is seen');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await visitor.signIn({ username: 'admin', password: NEW_PASSWORD });
  assert.equal(await page.inputValue('dialog input[name=username]'), 'night-guard');
  await page.click('dialog button[type=submit]');
  await page.getByText('Password of night-guard').waitFor();
  await page.getByRole('button', { name: 'Done', exact: true }).click();
  await page.getByRole('cell', { name: 'night-guard', exact: true }).waitFor();
  await visitor.close();
});

test('while the service does not answer what is shown stays, with a countdown, and goes on by itself', async () => {
  const visitor = await browser.signedIn(app.url, { username: 'viewer', password: 'correct horse battery' });
  const { page } = visitor;
  await visitor.go('/me');
  await page.context().setOffline(true);
  await page.getByRole('checkbox', { name: /^Single keys/ }).click();
  await page.getByText('The service does not answer since').waitFor();
  await page.getByText(/Trying again in \d\ss/).waitFor();
  assert.deepEqual(await visitor.axe(), []);
  await page.getByRole('heading', { name: 'Account' }).waitFor();
  await page.getByRole('button', { name: 'Try now' }).click();
  await page.getByText('The service does not answer since').waitFor();
  await page.context().setOffline(false);
  await page.getByText('The service does not answer since').waitFor({ state: 'detached' });
  await visitor.close();
});

test('who signs in next sees nothing of what was there before, while the service takes its time', async () => {
  const visitor = await browser.signedIn(app.url, {
    username: 'operator',
    password: 'correct horse battery',
  });
  const { page } = visitor;
  const { token } = await app
    .call('POST', '/api/login', {
      body: { username: 'operator', password: 'correct horse battery' },
    })
    .then(({ body }) => body as { token: string });
  await app.call('POST', '/api/layouts', {
    token,
    body: { name: 'Only of the operator', grid: '2x2', tiles: [] },
  });
  await visitor.go('/wall/all');
  const layout = page.getByRole('option', { name: 'Only of the operator' });
  await layout.waitFor({ state: 'attached' });
  await visitor.follow('/me');
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  let answer = (): void => {};
  const isLate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/layouts', async (route) => {
    await isLate;
    await route.continue();
  });
  await visitor.signIn({ username: 'viewer', password: 'correct horse battery' }, false);
  await visitor.follow('/wall/all', false);
  await page.getByRole('option', { name: 'All cameras' }).waitFor({ state: 'attached' });
  assert.equal(await layout.count(), 0);
  answer();
  await visitor.settle();
  assert.equal(await layout.count(), 0);
  await visitor.close();
});

test('single keys do what the help says, and nothing for who switched them off', async () => {
  const visitor = await browser.signedIn(app.url, {
    username: 'operator',
    password: 'correct horse battery',
  });
  const { page } = visitor;
  await visitor.go('/logs');
  await page.locator('input[type=search]').first().waitFor();
  await visitor.settle();
  await page.keyboard.press('/');
  assert.equal(await page.evaluate('document.activeElement.type'), 'search');
  await page.keyboard.type('?');
  assert.equal(await page.getByRole('dialog').count(), 0, 'it was typed');
  await visitor.go('/me');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  assert.deepEqual(await visitor.axe(), []);
  await page.keyboard.press('Escape');
  await page.getByRole('checkbox', { name: /^Single keys/ }).click();
  await visitor.settle();
  await visitor.go('/me');
  await visitor.settle();
  await page.keyboard.press('?');
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.deepEqual(visitor.faults, []);
  await visitor.close();
});

test('an address that is no encoding of anything, and a browser that keeps nothing, show the page all the same', async () => {
  const visitor = await browser.visit(app.url);
  const { page } = visitor;
  await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get: () => { throw new DOMException('refused', 'SecurityError'); } });`);
  await visitor.go('/');
  await visitor.signIn({ username: 'viewer', password: 'correct horse battery' });
  await visitor.go('/camera/%E0%A4%A');
  await page.getByRole('navigation').waitFor();
  await visitor.go('/wall/all');
  await page.getByRole('link', { name: 'Wall' }).waitFor();
  assert.deepEqual(
    visitor.faults.filter((fault) => fault.startsWith('exception')),
    [],
  );
  await visitor.close();
});

test('who can not be signed in is told why, and led to the form', async () => {
  const visitor = await browser.signedIn(app.url, { username: 'viewer', password: 'correct horse battery' });
  const { page } = visitor;
  const detail = 'only a page of this very service may ask';
  const body = JSON.stringify({ code: 'wrong_origin', detail });
  await page.route('**/api/session', (route) => route.fulfill({ status: 403, body }));
  await page.goto(`${app.url}/me`);
  await page.getByText(detail).waitFor();
  assert.deepEqual(await visitor.axe(), []);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await visitor.signIn({ username: 'viewer', password: 'correct horse battery' });
  await page.getByRole('heading', { name: 'Account' }).waitFor();
  await visitor.close();
});

test('who signs in again in one tab is signed in in the others', async () => {
  const visitor = await browser.visit(app.url);
  const { page } = visitor;
  const other = await page.context().newPage();
  await visitor.go('/me');
  await other.goto(`${app.url}/me`);
  await other.locator('input[name=password]').waitFor();
  await page.bringToFront();
  await visitor.signIn({ username: 'viewer', password: 'correct horse battery' });
  await other.getByRole('heading', { name: 'Account' }).waitFor();
  await visitor.close();
});
