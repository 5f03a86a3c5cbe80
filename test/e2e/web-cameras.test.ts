import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { spawnCameraWorker } from '../../src/camera/fleet/worker-thread.js';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';
import { until } from '../support/until.js';

const login = { user: 'admin', password: 's3cret' };
const GOOD = 44;

let app: TestApp;
let browser: AppBrowser;
let camera: FakeCamera;

before(async () => {
  const mounts = Array.from(
    { length: 60 },
    (_, nth) => [`/c${nth}`, { video: fixtures.h264High(), pacing: { mode: 'live', speed: 2 } }] as const,
  );
  camera = await FakeCamera.start({
    mounts: Object.fromEntries(mounts),
    auth: { ...login, schemes: ['digest-md5'] },
  });
  app = await startTestApp({ spawn: spawnCameraWorker });
  browser = await AppBrowser.launch();
});
after(async () => {
  await browser.close();
  await app.stop();
  await camera.close();
});

const openAs = async (role: 'viewer' | 'operator', path = '/cameras'): Promise<AppPage> => {
  const page = await browser.signedIn(app.url, { username: role, password: USER_PASSWORD });
  await page.go(path);
  return page;
};

const button = (page: AppPage, name: string | RegExp) => page.page.getByRole('button', { name }).first();

/** Clicks that a person made. */
const countClicks = (page: AppPage): Promise<void> =>
  page.page.evaluate(`(() => {
    window.clicks = 0;
    addEventListener('click', ({ isTrusted, detail }) => { if (isTrusted && detail > 0) window.clicks += 1; }, true);
  })()`);

const bulk = async (body: object): Promise<void> =>
  assert.equal((await app.asAdmin('POST', '/api/cameras/bulk', body)).status, 200);

const camerasNow = async (): Promise<{ id: string; url: string }[]> =>
  (await app.asAdmin('GET', '/api/cameras')).body;

test('fifty cameras are pasted, tested, mended and saved in eight clicks; each failure has its cure', async () => {
  const page = await openAs('operator', '/me');
  const { port } = camera;
  const wrong = `rtsp://admin:wrong@127.0.0.1:${port}`;
  await countClicks(page);
  await page.page.getByRole('link', { name: 'Cameras' }).click();
  await button(page, 'Add many').click();
  await page.page.keyboard.insertText(
    [
      `rtsp://admin:s3cret@127.0.0.1:${port}/c{1..${GOOD}}`,
      `${wrong}/c{45..47}`,
      'rtsp://127.0.0.1:1/c{48..49}',
      `rtsp://admin:s3cret@127.0.0.1:${port}/nothing Yard`,
    ].join('\n'),
  );
  await page.page.getByText('50 cameras', { exact: true }).waitFor();
  await button(page, 'Test all').click();
  await button(page, `Save ${GOOD}`).waitFor({ timeout: 60_000 });
  const lines = page.page.locator('dialog ul').last();
  assert.match((await lines.textContent()) ?? '', /h264 320×180 \d+ fps, keyframe [\d.]+ s, no sound/);
  await page.page.locator('dialog canvas[role=img]').first().waitFor();
  await page.page.getByText('To look at (6)').click();
  for (const cure of [/refuses user or password/, /no stream at this path/, /Nothing listens at this port/])
    await page.page.getByText(cure).first().waitFor();
  await button(page, 'Fix').click();
  await page.page.keyboard.insertText(login.password);
  await button(page, 'Apply to all 3 refused').click();
  await button(page, `Save ${GOOD + 3}`).waitFor({ timeout: 60_000 });
  await button(page, `Save ${GOOD + 3}`).click();
  await page.page
    .getByText(`${GOOD + 3} cameras were added`)
    .first()
    .waitFor();
  const clicks = await page.page.evaluate<number>('window.clicks');
  assert.ok(clicks <= 8, `${clicks} clicks`);
  const saved = await camerasNow();
  assert.equal(saved.length, GOOD + 3);
  // They have shown what they can: nothing more of them is needed.
  await bulk({ update: saved.map(({ id }) => ({ id, disabled: true })) });
  assert.ok(saved.every(({ url }) => url.startsWith('rtsp://admin:s3cret@')));
  assert.equal(await button(page, /^Save /).isDisabled(), true, 'what is left failed');
  assert.doesNotMatch((await lines.textContent()) ?? '', /s3cret|wrong/);
  assert.deepEqual(await page.axe(), []);
  await button(page, 'Close').click();
  await button(page, 'Leave').click();
  await until(
    'they are in the table',
    async () => (await page.page.locator('[role=grid]').getAttribute('aria-rowcount')) === String(GOOD + 4),
  );
  assert.deepEqual(page.faults, []);
  await page.close();
});
