import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';

let app: TestApp;
let browser: AppBrowser;

before(async () => {
  app = await startTestApp();
  // A name that is longer than a phone is wide.
  const comment = 'Gate of the northern yard behind the workshop, seen from the lamp post';
  await app.asAdmin('POST', '/api/cameras', { id: 'gate', url: 'rtsp://127.0.0.1:9/gate', comment });
  browser = await AppBrowser.launch();
});
after(async () => {
  await browser.close();
  await app.stop();
});

const credentialsOf = (role: 'viewer' | 'operator' | 'admin' | 'service') => ({
  username: role,
  password: role === 'admin' ? app.adminPassword : USER_PASSWORD,
});

/** Where the navigation leads. */
const pathsOf = (page: AppPage): Promise<string[]> =>
  page.page.evaluate("[...document.querySelectorAll('nav a')].map((link) => link.getAttribute('href'))");

/** In the order in which they first appear, which says whose word counts: that depends on how a build cuts its files. */
const layersOf = (page: AppPage): Promise<string[]> =>
  page.page.evaluate(`[...new Set([...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]
    .flatMap((rule) => rule.nameList ? [...rule.nameList] : 'name' in rule ? [rule.name] : [])))]`);

test('who is not signed in sees the form alone, and nothing is complained of', async () => {
  const page = await browser.visit(app.url);
  await page.go('/cameras?find=gate');
  for (const theme of ['dark', 'light'] as const) {
    await page.look({ theme, width: 390 });
    assert.deepEqual(await page.axe(), []);
    assert.deepEqual(await page.overflow(), []);
  }
  assert.deepEqual(page.faults, []);
  await page.signIn(credentialsOf('viewer'));
  assert.equal(new URL(page.page.url()).search, '?find=gate', 'where one wanted to go');
  await page.close();
});

for (const role of ['admin', 'operator', 'viewer', 'service'] as const)
  test(`every page of the ${role} fits, can be used by all, and asks for nothing that is refused`, async () => {
    const page = await browser.signedIn(app.url, credentialsOf(role));
    for (const path of await pathsOf(page)) {
      await page.go(path);
      const where = `${role} ${path}`;
      assert.deepEqual(await layersOf(page), ['reset', 'tokens', 'base', 'parts', 'pages'], where);
      await page.page.locator('main h1').first().waitFor({ state: 'attached' });
      assert.equal(await page.page.locator('main h1').count(), 1, `${where} has a title`);
      for (const theme of role === 'admin' ? (['dark', 'light'] as const) : (['dark'] as const)) {
        await page.look({ width: 1_440, theme });
        assert.deepEqual(await page.axe(), [], where);
      }
      await page.look({ width: 390 });
      assert.deepEqual(await page.overflow(), [], where);
      assert.deepEqual(page.faults, [], where);
      if (role !== 'admin') continue;
      await page.go(`${path}?locale=pseudo`);
      for (const width of [390, 1_440]) {
        await page.look({ width });
        assert.deepEqual(await page.overflow(), [], `${where} in another language, ${width} px`);
      }
      await page.look({ width: 1_440 });
    }
    assert.deepEqual(page.faults, []);
    await page.close();
  });

test('with letters twice as large nothing is cut off on a phone, and with forced colours what is chosen is seen', async () => {
  const visitor = await browser.signedIn(app.url, credentialsOf('admin'));
  const { page } = visitor;
  await visitor.look({ width: 390 });
  for (const path of ['/setup', '/users', '/keys', '/webhooks', '/system', '/logs', '/me']) {
    await visitor.go(path);
    await page.evaluate(`for (const [each, size] of [...document.querySelectorAll('body *')]
      .map((each) => [each, Number.parseFloat(getComputedStyle(each).fontSize)]))
      each.style.fontSize = 2 * size + 'px'`);
    assert.deepEqual(await visitor.overflow(), [], path);
  }
  await visitor.look({ width: 1_440 });
  await page.emulateMedia({ forcedColors: 'active' });
  await visitor.go('/me');
  for (const chosen of ['nav [aria-current]', 'label:has(> input[type=radio]:checked)'])
    assert.equal(
      await page.evaluate(`getComputedStyle(document.querySelector('${chosen}')).outlineStyle`),
      'solid',
      chosen,
    );
  await visitor.close();
});
