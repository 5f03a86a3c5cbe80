import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { AppBrowser } from '../support/browser/app-page.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

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

const names: readonly string[] = JSON.parse(readFileSync('src/docs/guide/contents.json', 'utf8'));

test('guide and reference can be read by all, on every screen, in both themes', async () => {
  const page = await browser.visit(app.url);
  for (const path of ['/docs', ...names.slice(1).map((name) => `/docs/${name}`), '/api/docs']) {
    await page.go(path);
    assert.equal(await page.page.locator('main h1').count(), 1, path);
    for (const theme of ['dark', 'light'] as const)
      for (const width of [1_440, 390]) {
        await page.look({ theme, width });
        // All of the reference at once takes axe long: once is enough.
        if (path !== '/api/docs' || (theme === 'light' && width === 390))
          assert.deepEqual(await page.axe(), [], `${path} ${theme}`);
        assert.deepEqual(await page.overflow(), [], `${path} ${width}`);
      }
  }
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('who is signed in finds both, in the theme of the app', async () => {
  const page = await browser.signedIn(app.url, { username: 'viewer', password: USER_PASSWORD });
  await page.go('/me');
  await page.page.getByText('Light', { exact: true }).click();
  await page.page.locator('main a[href="/docs"]').click();
  await page.page.locator('h1', { hasText: 'Guide' }).waitFor();
  assert.equal(await page.page.evaluate('document.documentElement.dataset.theme'), 'light');
  await page.page.locator('nav a[href="/api/docs"]').click();
  const operation = page.page.locator('#getApiCameras');
  await operation.locator('summary').click();
  await operation.getByText('application/json').first().waitFor();
  await page.close();
});
