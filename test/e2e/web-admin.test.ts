import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { BROKER_PASSWORD, Mosquitto } from '../support/mosquitto.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

let app: TestApp;
let browser: AppBrowser;
let visitor: AppPage;

before(async () => {
  app = await startTestApp({ env: { WEBHOOKS_TO_LOCAL: 'true' } });
  browser = await AppBrowser.launch();
  visitor = await browser.signedIn(app.url, { username: 'admin', password: app.adminPassword });
});
after(async () => {
  await browser.close();
  await app.stop();
});

const usersOf = async (): Promise<string[]> =>
  (await app.asAdmin('GET', '/api/users')).body.map(
    ({ username, role }: { username: string; role: string }) => `${username} ${role}`,
  );

test('an admin adds a user, whose password is shown once and good, gives another role, and deletes', async () => {
  const { page } = visitor;
  const choose = async (item: string): Promise<void> => {
    await page.getByRole('button', { name: 'What can be done with guard' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await visitor.go('/users');
  const own = await page.locator('tbody tr', { hasText: '(you)' }).textContent();
  assert.match(own ?? '', /:\d\d [A-Z].* 127[.]0[.]0[.]1/, 'the last sign-in');
  await page.getByRole('button', { name: 'Add user' }).click();
  await page.fill('dialog input[name=username]', 'guard');
  assert.deepEqual(await visitor.axe(), []);
  await page.keyboard.press('Enter');
  const password = (await page.locator('dialog code').textContent()) ?? '';
  const login = await app.call('POST', '/api/login', { body: { username: 'guard', password } });
  assert.equal(login.status, 200);
  await page.getByRole('button', { name: 'Done', exact: true }).click();
  await choose('Change role and folders');
  await page.getByRole('radio', { name: /Operator/ }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('guard is changed').first().waitFor();
  assert.ok((await usersOf()).includes('guard operator'));
  // In one turn of the page's own: whoever types is as quick on a machine that is slow.
  const focused = await page.evaluate(`
    document.querySelector('[aria-label="What can be done with guard"]').click();
    document.activeElement.textContent;
  `);
  assert.match(String(focused), /^\s*Change role and folders/, 'keys meet the menu as soon as it is open');
  await page.keyboard.press('Escape');
  await choose('Delete');
  assert.deepEqual(await visitor.axe(), []);
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.ok((await usersOf()).includes('guard operator'), 'who cancels deletes nobody');
  await choose('Delete');
  await page.getByRole('button', { name: 'Delete user' }).click();
  await page.getByRole('cell', { name: 'guard', exact: true }).waitFor({ state: 'detached' });
  assert.ok(!(await usersOf()).includes('guard operator'));
  assert.deepEqual(visitor.faults, []);
});

test('a user is limited to a folder, and is told which; an admin is not', async () => {
  const { page } = visitor;
  await app.asAdmin('POST', '/api/folders', { id: 'site', name: 'Site' });
  await app.asAdmin('POST', '/api/folders', { id: 'yard', name: 'Yard', parent_id: 'site' });
  await visitor.go('/users');
  await page.getByRole('button', { name: 'What can be done with viewer' }).click();
  await page.getByRole('menuitem', { name: 'Change role and folders' }).click();
  await page.getByRole('radio', { name: 'These folders alone' }).click();
  assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true, 'none is chosen');
  await page.getByRole('checkbox', { name: 'Site / Yard' }).click();
  assert.deepEqual(await visitor.axe(), []);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: 'Site / Yard' }).waitFor();
  const limitsOf = async (name: string) =>
    (await app.asAdmin('GET', '/api/users')).body.find(
      ({ username }: { username: string }) => username === name,
    );
  assert.deepEqual((await limitsOf('viewer')).folders, ['yard']);
  await page.getByRole('button', { name: 'What can be done with viewer' }).click();
  await page.getByRole('menuitem', { name: 'Change role and folders' }).click();
  await page.getByRole('radio', { name: 'Everything', exact: true }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: 'Site / Yard' }).waitFor({ state: 'detached' });
  assert.equal((await limitsOf('viewer')).folders, undefined);
  assert.deepEqual(visitor.faults, []);
});

test('a key is made for a program, shown once, good for what it may, and no longer once it is removed', async () => {
  const { page } = visitor;
  await visitor.go('/keys');
  await page.getByText('No program has a key yet').waitFor();
  await page.getByRole('button', { name: 'Make key' }).click();
  await page.fill('dialog input[name=key-name]', 'kiosk');
  await page.getByRole('radio', { name: /^Viewer/ }).click();
  await page.getByRole('radio', { name: 'These folders and cameras alone' }).click();
  await page.getByRole('checkbox', { name: 'Site / Yard' }).click();
  await page.getByLabel('Good for').selectOption('30');
  assert.deepEqual(await visitor.axe(), []);
  await page.locator('dialog').getByRole('button', { name: 'Make key' }).click();
  const key = (await page.locator('dialog code').first().textContent()) ?? '';
  assert.match(key, /^framering_/);
  const asKey = () => app.call('GET', '/api/cameras', { headers: { authorization: `Bearer ${key}` } });
  assert.equal((await asKey()).status, 200);
  await page.getByRole('button', { name: 'Done', exact: true }).click();
  const row = page.locator('tbody tr', { hasText: 'kiosk' });
  assert.match((await row.textContent()) ?? '', /Viewer.*Site \/ Yard/);
  const { body: made } = await app.asAdmin('GET', '/api/keys');
  assert.equal(Math.round((Date.parse(made[0].expires) - Date.now()) / 86_400_000), 30);
  assert.ok(!(await page.content()).includes(key), 'it is shown once');
  assert.deepEqual(await visitor.axe(), []);
  await page.getByRole('button', { name: 'Remove kiosk' }).click();
  await page.getByRole('button', { name: 'Remove key' }).click();
  await page.getByText('No program has a key yet').waitFor();
  assert.equal((await asKey()).status, 401);
  assert.deepEqual(visitor.faults, []);
});

test('a webhook is added, tried, changed and deleted; its secret is shown once, and a failing receiver is told of', async (t) => {
  const { page } = visitor;
  const asked: string[] = [];
  const receiver = createServer((request, response) => {
    asked.push(String(request.headers['webhook-id']));
    request.resume();
    response.statusCode = asked.length > 1 ? 500 : 204;
    response.end(asked.length > 1 ? 'out of order' : '');
  }).listen(0, '127.0.0.1');
  t.after(() => receiver.close());
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  await visitor.go('/webhooks');
  await page.getByText('Nobody is told of events yet').waitFor();
  await page.getByRole('button', { name: 'Add webhook' }).click();
  await page.fill('dialog input[name=webhook-name]', 'pager');
  await page.fill('dialog input[name=webhook-url]', `http://me:s3cret@127.0.0.1:${port}/hook`);
  await page.getByRole('checkbox', { name: 'Camera away' }).click();
  assert.deepEqual(await visitor.axe(), []);
  await page.locator('dialog').getByRole('button', { name: 'Add webhook' }).click();
  const secret = (await page.locator('dialog code').textContent()) ?? '';
  assert.match(secret, /^whsec_/);
  await page.getByRole('button', { name: 'Done', exact: true }).click();
  const row = page.locator('tbody tr', { hasText: 'pager' });
  assert.match((await row.textContent()) ?? '', /me:[*]{3}@.*Camera away[\s\S]*Nothing sent yet/);
  assert.ok(!(await page.content()).includes(secret) && !(await page.content()).includes('s3cret'));
  const choose = async (item: string): Promise<void> => {
    await page.getByRole('button', { name: 'What can be done with pager' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await choose('Send a test');
  await page.getByText('The receiver took it').waitFor();
  await page.getByRole('button', { name: 'Done', exact: true }).click();
  await choose('Send a test');
  await page.getByText('The receiver did not take it').waitFor();
  await page.getByText('out of order').waitFor();
  assert.deepEqual(await visitor.axe(), []);
  await page.getByRole('button', { name: 'Done', exact: true }).click();
  assert.equal(asked.length, 2);
  await choose('Change');
  await page.getByRole('checkbox', { name: 'Camera away' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The webhook pager is saved').first().waitFor();
  const [stored] = (await app.asAdmin('GET', '/api/webhooks')).body;
  assert.deepEqual([stored.types, stored.url], [[], `http://me:***@127.0.0.1:${port}/hook`]);
  await choose('Delete');
  await page.getByRole('button', { name: 'Delete webhook' }).click();
  await page.getByText('Nobody is told of events yet').waitFor();
  assert.deepEqual(visitor.faults, []);
});

test('how the broker does is shown, and that none is named', async (t) => {
  await visitor.go('/webhooks');
  await visitor.page.getByText('No broker is told').waitFor();
  const broker = await Mosquitto.start(t);
  const told = await startTestApp({ withUsers: false, env: { MQTT_URL: broker.url } });
  t.after(() => told.stop());
  const other = await browser.signedIn(told.url, { username: 'admin', password: told.adminPassword });
  t.after(() => other.close());
  const panel = other.page.locator('section', { hasText: 'topics below framering' });
  const untilShown = async (text: string): Promise<void> => {
    await until(`it shows ${text}`, async () => {
      await other.go('/webhooks');
      return ((await panel.textContent()) ?? '').includes(text);
    });
  };
  await untilShown('Connected');
  assert.ok(!(await other.page.content()).includes(BROKER_PASSWORD));
  assert.deepEqual(await other.axe(), []);
  await broker.stop();
  await untilShown('Not connected');
  assert.deepEqual(other.faults, []);
});

test('the log is shown as it is written, filtered by the address, and stands still when it is paused', async () => {
  const { page } = visitor;
  await visitor.go('/logs?find=update_settings');
  await app.asAdmin('PUT', '/api/settings', { time_zone: 'Europe/Rome' });
  const records = page.getByRole('listitem').filter({ hasText: 'update_settings' });
  await records.first().waitFor();
  const count = await records.count();
  await page.getByRole('button', { name: 'Pause' }).click();
  await app.asAdmin('PUT', '/api/settings', { time_zone: 'UTC' });
  await page.getByRole('button', { name: /Go on \([1-9]/ }).waitFor();
  assert.equal(await records.count(), count);
  await page.getByRole('button', { name: /Go on/ }).click();
  await records.nth(count).waitFor();
  assert.deepEqual(visitor.faults, []);
});

test('a backup says what would come and go before it is restored, and then everybody signs in again', async () => {
  const { page } = visitor;
  const restore = (content: string): Promise<void> =>
    page.setInputFiles('input[type=file]', {
      name: 'backup.json',
      mimeType: 'application/json',
      buffer: Buffer.from(content),
    });
  await visitor.go('/system');
  await page.locator('.uplot canvas').nth(7).waitFor();
  await restore('{"cameras": 7}');
  await page.getByText('This file is no backup of this service.').waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download backup' }).click();
  assert.match((await downloading).suggestedFilename(), /^framering-backup-\d{4}-\d\d-\d\d\.json$/);
  const { body: backup } = await app.asAdmin('GET', '/api/system/backup/export');
  const users = backup.users.filter(({ username }: { username: string }) => username !== 'viewer');
  await restore(
    JSON.stringify({ ...backup, users, tags: [{ id: 'night', name: 'Night', color: '#ff0000' }] }),
  );
  await page.getByText('Goes: viewer').waitFor();
  await page.getByText('Comes: night').waitFor();
  assert.deepEqual(await visitor.axe(), []);
  assert.equal((await usersOf()).length, 4, 'nothing is done yet');
  assert.deepEqual(visitor.faults, []);
  await page.getByRole('button', { name: 'Replace everything' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await visitor.signIn({ username: 'admin', password: app.adminPassword });
  assert.equal(new URL(page.url()).pathname, '/system', 'where it was');
});
