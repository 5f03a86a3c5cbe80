import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const PASSWORD = 'correct horse battery';
const CLUSTER_KEY = 'a secret that all boxes of the cluster have';

/** In both themes, on a phone, and in a language of longer words. */
const judge = async (visitor: AppPage, path: string): Promise<void> => {
  for (const theme of ['dark', 'light'] as const) {
    await visitor.look({ width: 1_440, theme });
    assert.deepEqual(await visitor.axe(), [], `${path} ${theme}`);
  }
  await visitor.look({ width: 390 });
  assert.deepEqual(await visitor.overflow(), [], path);
  await visitor.go(`${path}?locale=pseudo`);
  assert.deepEqual(await visitor.overflow(), [], `${path} in another language`);
  await visitor.look({ width: 1_440, theme: 'dark' });
  await visitor.go(path);
};

test('an admin sees the boxes, sorts cameras by them, and says that one is gone for good', {
  skip: withoutNats,
  timeout: 240_000,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const start = async (name: string) => {
    const service = await startService({
      ...{ DATA_DIR: tempFolder(t), CLUSTER_URL: servers.url, CLUSTER_KEY, BOX_NAME: name },
      BOX_ADDRESS: `https://${name}.example:8443`,
    });
    t.after(() => service.process.kill('SIGKILL'));
    return service;
  };
  const north = await start('north');
  const printed = await north.login('admin', north.adminPassword);
  await north.call('PUT', '/api/users/admin', { token: printed, body: { password: PASSWORD } });
  const token = await north.login('admin', PASSWORD);
  const asAdmin = (method: string, path: string, body?: unknown) =>
    north.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  const south = await start('south');
  await until('both are here', async () => (await asAdmin('GET', '/api/cluster')).body.boxes.length === 2);
  const url = 'rtsp://127.0.0.1:9/1';
  for (const [id, box] of [
    ['gate', 'north'],
    ['yard', 'south'],
  ])
    await asAdmin('POST', '/api/cameras', { id, url, box, disabled: true });
  const cameras = async () => (await asAdmin('GET', '/api/cameras')).body;
  await until('each box has its camera', async () =>
    (await cameras()).every(({ owner, box }: { owner: string; box: string }) => owner === box),
  );
  const browser = await AppBrowser.launch();
  t.after(() => browser.close());
  const visitor = await browser.signedIn(north.url, { username: 'admin', password: PASSWORD });
  const { page } = visitor;
  await visitor.go('/cluster');
  await page.getByText('All is well.').waitFor();
  const row = (name: string) => page.locator('tbody tr', { has: page.getByText(name, { exact: true }) });
  assert.match(
    (await page.locator('tbody tr').first().textContent()) ?? '',
    /^north[\s\S]*this one[\s\S]*Here[\s\S]*all/,
  );
  await judge(visitor, '/cluster');

  await page.locator('tbody tr').nth(1).getByRole('link', { name: '1', exact: true }).click();
  await page.getByRole('row', { name: /yard/ }).waitFor();
  assert.equal(new URL(page.url()).search, '?box=south');
  assert.equal(await page.getByRole('row', { name: /gate/ }).count(), 0);
  assert.match((await page.getByRole('row', { name: /yard/ }).textContent()) ?? '', /south/);
  await judge(visitor, '/cameras');
  await page.getByLabel('Box').selectOption('north');
  await page.getByRole('button', { name: 'Edit gate' }).click();
  await page.locator('dialog').getByLabel('Box').selectOption('');
  assert.deepEqual(await visitor.axe(), []);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  const gate = (await asAdmin('GET', '/api/cameras/gate')).body;
  assert.equal(gate.box, null);

  south.process.kill('SIGKILL');
  await visitor.go('/cluster');
  await page.getByText(/south.* has been lost for/).waitFor();
  await judge(visitor, '/cluster');
  await page.getByRole('button', { name: 'What can be done with south' }).focus();
  for (const key of ['Enter', 'Enter']) await page.keyboard.press(key);
  await page.getByText('Is south gone for good?').waitFor();
  assert.deepEqual(await visitor.axe(), []);
  await page.getByRole('button', { name: 'It is gone' }).click();
  await row('south').waitFor({ state: 'detached' });
  await page.getByText('All is well.').waitFor();
  const { body: cluster } = await asAdmin('GET', '/api/cluster');
  assert.deepEqual(
    cluster.boxes.map(({ name }: { name: string }) => name),
    ['north'],
  );
  assert.deepEqual(visitor.faults, []);
});
