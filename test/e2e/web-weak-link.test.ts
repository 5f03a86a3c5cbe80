import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { type RunningService, startService } from '../support/service.js';
import { until } from '../support/until.js';
import { WeakLink } from '../support/weak-link.js';

const DEADLINE_MS = 90_000;
const guard = { username: 'guard', password: 'a password of its own' };

let camera: FakeCamera;
let service: RunningService;
let browser: AppBrowser;
let dataDir = '';

before(async () => {
  camera = await FakeCamera.start({
    mounts: { '/gate': { video: fixtures.h264High(), audio: fixtures.pcmu() } },
  });
  dataDir = mkdtempSync(join(tmpdir(), 'framering-'));
  service = await startService({ DATA_DIR: dataDir });
  const token = await service.login('admin', service.adminPassword);
  await service.call('POST', '/api/cameras', { token, body: { id: 'gate', url: camera.url('/gate') } });
  await service.call('POST', '/api/users', { token, body: { ...guard, role: 'viewer' } });
  browser = await AppBrowser.launch();
});
after(async () => {
  await browser.close();
  service.process.kill('SIGKILL');
  await camera[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Somebody who is signed in, over a link of their own. */
const arrive = async (link: WeakLink): Promise<AppPage> => {
  const visitor = await browser.signedIn(link.url, guard);
  visitor.page.setDefaultTimeout(DEADLINE_MS);
  return visitor;
};

const untilShown = (of: AppPage, selector: string): Promise<unknown> =>
  of.page.waitForSelector(selector, { state: 'attached', timeout: DEADLINE_MS });

test('sound that was switched off is heard again when it is switched on', async () => {
  await using link = await WeakLink.start(service.url);
  const visitor = await arrive(link);
  const { page } = visitor;
  await page.addInitScript(`
    window.decodedSounds = 0;
    const decode = AudioDecoder.prototype.decode;
    AudioDecoder.prototype.decode = function (chunk) { window.decodedSounds += 1; decode.call(this, chunk); };
  `);
  await visitor.go('/camera/gate');
  const heard = (): Promise<number> => page.evaluate<number>('window.decodedSounds');
  const untilHeard = async (what: string): Promise<void> => {
    const before = await heard();
    await until(what, async () => (await heard()) > before + 5, { deadlineMs: DEADLINE_MS });
  };
  await page.getByRole('button', { name: 'Sound on' }).click();
  await untilHeard('it is heard');
  await page.getByRole('button', { name: 'Sound off' }).click();
  // Until the service has heard of it, too.
  let last = -1;
  await until('it is silent', async () => {
    const now = await heard();
    const isSilent = now === last;
    last = now;
    await page.waitForTimeout(500);
    return isSilent;
  });
  await page.getByRole('button', { name: 'Sound on' }).click();
  await untilHeard('it is heard again');
  await visitor.close();
});

for (const fate of ['swallowed', 'halfway'] as const)
  test(`where sockets are ${fate === 'halfway' ? 'opened and held back' : 'swallowed'} pictures come another way`, async () => {
    await using link = await WeakLink.start(service.url);
    link.set('/stream/wall', fate);
    const visitor = await arrive(link);
    await visitor.go('/wall/all?grid=1x1');
    await untilShown(visitor, '[data-camera="gate"] video');
    await until(
      'it plays',
      () =>
        visitor.page.evaluate<boolean>(
          `document.querySelector('[data-camera="gate"] video').currentTime > 1`,
        ),
      { deadlineMs: DEADLINE_MS },
    );
    // And stays so, though sockets are tried all the time.
    const tries = link.asked.filter((path) => path.startsWith('/stream/wall')).length;
    await until(
      'more are tried',
      () => link.asked.filter((path) => path.startsWith('/stream/wall')).length > tries + 1,
      { deadlineMs: DEADLINE_MS },
    );
    assert.equal(await visitor.page.locator('[data-camera="gate"] video').count(), 1);
    link.set('/stream/wall', 'passed');
    await untilShown(visitor, '[data-camera="gate"] canvas');
    await visitor.close();
  });
