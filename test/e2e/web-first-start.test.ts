import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppBrowser } from '../support/browser/app-page.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const NEW_PASSWORD = 'a password of my own';

test('from the printed password to the first camera it takes ten clicks at most', async (t) => {
  const camera = await FakeCamera.start({ mounts: { '/main': { video: fixtures.h264High() } } });
  t.after(() => camera[Symbol.asyncDispose]());
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const browser = await AppBrowser.launch();
  t.after(() => browser.close());
  const visitor = await browser.visit(service.url);
  const { page } = visitor;
  let clicks = 0;
  const startMs = performance.now();
  const click = async (name: string): Promise<void> => {
    clicks += 1;
    await page.getByRole('button', { name, exact: true }).click();
    await visitor.settle();
  };
  const isAtStep = (title: string) => page.getByRole('heading', { level: 2, name: title }).waitFor();

  await visitor.go('/');
  await page.fill('input[name=username]', 'admin');
  await page.fill('input[name=password]', service.adminPassword);
  await click('Sign in');
  await isAtStep('Password');
  assert.equal(new URL(page.url()).pathname, '/setup');
  await page.fill('input[name=new]', NEW_PASSWORD);
  await page.fill('input[name=again]', `${NEW_PASSWORD}, but another`);
  await click('Set password');
  await page.getByText('The two are not the same.').waitFor();
  clicks -= 1;
  await page.fill('input[name=again]', NEW_PASSWORD);
  await click('Set password');
  await isAtStep('Time zone');
  await page.selectOption('select', 'Europe/Berlin');
  await click('Next');
  await isAtStep('Connection');
  await click('Next');
  await isAtStep('First camera');
  await page.fill('input[name=url]', camera.url('/main'));
  await click('Test');
  await page.getByText('It works: h264, 320 × 180').waitFor();
  await until('its picture is there', () =>
    page.evaluate<boolean>("document.querySelector('canvas')?.width === 320"),
  );
  await click('Add and watch');
  await page.waitForURL(({ pathname }) => pathname !== '/setup');
  t.diagnostic(`${clicks} clicks, ${((performance.now() - startMs) / 1_000).toFixed(1)} s`);
  assert.ok(clicks <= 10, `${clicks} clicks`);
  await visitor.settle();
  assert.deepEqual(visitor.faults, []);

  const token = await service.login('admin', NEW_PASSWORD);
  const { body: cameras } = await service.call('GET', '/api/cameras', { token });
  assert.deepEqual(
    cameras.map((each: { id: string; record: boolean }) => [each.id, each.record]),
    [['camera-1', true]],
  );
  const { body: me } = await service.call('GET', '/api/me', { token });
  assert.deepEqual([me.time_zone, me.must_change_password], ['Europe/Berlin', false]);
});

test('who does not change the printed password is reminded on every page, and not led away again', async (t) => {
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const browser = await AppBrowser.launch();
  t.after(() => browser.close());
  const admin = { username: 'admin', password: service.adminPassword };
  const visitor = await browser.signedIn(service.url, admin);
  await visitor.page.getByRole('button', { name: 'Later' }).click();
  const reminder = visitor.page.getByText('Your password was printed');
  await reminder.waitFor();
  await visitor.go('/users');
  await reminder.waitFor();
  assert.equal(new URL(visitor.page.url()).pathname, '/users');
  await visitor.page.getByRole('link', { name: 'Change it' }).click();
  await visitor.page.getByRole('heading', { level: 2, name: 'Password' }).waitFor();
  assert.equal(await reminder.count(), 0);
  assert.deepEqual(visitor.faults, []);
});
