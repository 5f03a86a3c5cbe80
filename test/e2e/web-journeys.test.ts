import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { type RunningService, startService } from '../support/service.js';
import { until } from '../support/until.js';

const DEADLINE_MS = 60_000;
/** Further than any page is long. */
const MOST_TABS = 120;
const PASSWORD = 'a password of its own';
const dataDir = mkdtempSync(join(tmpdir(), 'framering-'));

let camera: FakeCamera;
let service: RunningService;
let browser: AppBrowser;

before(async () => {
  const video = fixtures.h264High();
  camera = await FakeCamera.start({
    mounts: { '/gate': { video }, '/dock': { video }, '/yard-operator': { video }, '/yard-admin': { video } },
  });
  service = await startService({ DATA_DIR: dataDir });
  const token = await service.login('admin', service.adminPassword);
  const call = (path: string, body: object) => service.call('POST', path, { token, body });
  for (const role of ['viewer', 'operator', 'admin'])
    await call('/api/users', { username: `the-${role}`, password: PASSWORD, role });
  await call('/api/cameras', { id: 'dock', url: camera.url('/dock') });
  await call('/api/cameras', { id: 'gate', url: camera.url('/gate'), record: true });
  // Nobody has it: it is away, which is an event.
  await call('/api/cameras', { id: 'roof', url: camera.url('/nothing') });
  browser = await AppBrowser.launch();
});
after(async () => {
  await browser.close();
  service.process.kill('SIGKILL');
  await camera[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

const signIn = (role: string): Promise<AppPage> =>
  browser.signedIn(service.url, { username: `the-${role}`, password: PASSWORD });

const untilLive = ({ page }: AppPage, id: string): Promise<unknown> =>
  page.locator(`[data-camera="${id}"] :is([data-badge=live], [data-badge=still])`).first().waitFor({
    timeout: DEADLINE_MS,
  });

const timed = async (t: TestContext, what: string, act: () => Promise<unknown>): Promise<void> => {
  const startMs = performance.now();
  await act();
  t.diagnostic(`${what}: ${((performance.now() - startMs) / 1_000).toFixed(1)} s`);
};

/** What a person does, told to the test: characters that are typed into a field are no keys. */
const COUNT = `
  addEventListener('pointerup', ({ isTrusted, pointerType }) => {
    if (isTrusted) window.count(pointerType === 'touch' ? 'taps' : 'clicks');
  }, true);
  addEventListener('keydown', ({ isTrusted, key, target }) => {
    if (isTrusted && !(key.length === 1 && target.matches('input, textarea'))) window.count('keys');
  }, true);
`;
type Counts = { clicks: number; taps: number; keys: number };

/** One journey of a visitor, from its first step to its aim: how much of what it took, and for how long. */
const journey = async (t: TestContext, { page }: AppPage, act: () => Promise<unknown>): Promise<Counts> => {
  const counts: Counts = { clicks: 0, taps: 0, keys: 0 };
  await page.exposeBinding('count', (_source, kind: keyof Counts) => {
    counts[kind] += 1;
  });
  await page.addInitScript(COUNT);
  await page.evaluate(COUNT);
  await timed(t, 'all of it', act);
  t.diagnostic(`${counts.clicks} clicks, ${counts.taps} taps, ${counts.keys} keys`);
  return counts;
};

/** With the tabulator alone, to what is called so. */
const tabTo = async ({ page }: AppPage, selector: string): Promise<void> => {
  for (let count = 0; count < MOST_TABS; count += 1) {
    const isThere = `document.activeElement?.matches(${JSON.stringify(selector)}) === true`;
    if (await page.evaluate<boolean>(isThere)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${selector} is not reached`);
};

/** The same for buttons and links by their words. */
const tabToText = async ({ page }: AppPage, text: RegExp): Promise<void> => {
  let reached = '';
  for (let count = 0; count < MOST_TABS; count += 1) {
    reached = await page.evaluate<string>(
      "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent.trim() ?? ''",
    );
    if (text.test(reached)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${text} is not reached; the last was ${reached}`);
};

for (const role of ['viewer', 'operator', 'admin'])
  test(`guard, as ${role}: the address alone shows the wall, one click a camera, one key the wall again`, async (t) => {
    const visitor = await signIn(role);
    const { page } = visitor;
    const counts = await journey(t, visitor, async () => {
      await timed(t, 'from the address to live pictures', async () => {
        await page.goto(service.url);
        for (const id of ['dock', 'gate']) await untilLive(visitor, id);
      });
      assert.match(new URL(page.url()).pathname, /^\/(?:wall.*)?$/);
      await timed(t, 'from the click to the sharp picture', async () => {
        await page.click('[data-camera=gate]');
        await page.waitForURL(/\/camera\/gate$/);
        await untilLive(visitor, 'gate');
      });
      await page.keyboard.press('Escape');
      await page.waitForURL(/\/wall/);
    });
    assert.deepEqual(counts, { clicks: 1, taps: 0, keys: 1 });
    assert.deepEqual(visitor.faults, []);
    await visitor.close();
  });

test('phone: a tap opens a camera, a swipe the next one', async (t) => {
  const visitor = await signIn('viewer');
  const { page } = visitor;
  await visitor.look({ width: 390 });
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  await visitor.go('/wall/all');
  await untilLive(visitor, 'dock');
  const touch = async (type: 'touchStart' | 'touchMove' | 'touchEnd', x = 0, y = 0): Promise<void> =>
    void (await session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [{ x, y }],
    }));
  const box = await page.locator('[data-camera=dock]').boundingBox();
  assert.ok(box !== null);
  const counts = await journey(t, visitor, async () => {
    await timed(t, 'from the tap to the picture', async () => {
      // At once: a finger that rests for half a second says something else.
      const tap = touch('touchStart', box.x + box.width / 2, box.y + box.height / 2);
      await Promise.all([tap, touch('touchEnd')]);
      await page.waitForURL(/\/camera\/dock$/);
      await untilLive(visitor, 'dock');
    });
    await touch('touchStart', 320, 420);
    for (const x of [260, 180, 100, 60]) await touch('touchMove', x, 420);
    await touch('touchEnd');
    await page.waitForURL(/\/camera\/gate$/);
    await untilLive(visitor, 'gate');
  });
  assert.deepEqual(counts, { clicks: 0, taps: 2, keys: 0 });
  await visitor.close();
});

test('keyboard alone, guard: sign in, to a tile, into the camera and back', async (t) => {
  const visitor = await browser.visit(service.url);
  const { page } = visitor;
  await visitor.go('/');
  const counts = await journey(t, visitor, async () => {
    await tabTo(visitor, 'input[name=username]');
    await page.keyboard.type('the-viewer');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-camera=gate]');
    await tabTo(visitor, '[data-slot]');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/camera\/gate$/);
    await untilLive(visitor, 'gate');
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/wall/);
  });
  assert.equal(counts.clicks + counts.taps, 0);
  await visitor.close();
});

for (const role of ['viewer', 'operator', 'admin'])
  test(`keyboard alone, operator's, as ${role}: from the rail to an event, its range and its export`, async (t) => {
    const visitor = await signIn(role);
    const { page } = visitor;
    await until('something happened', async () => {
      await visitor.go('/me');
      await tabTo(visitor, 'nav a[href="/events"]');
      await page.keyboard.press('Enter');
      await visitor.settle();
      return (await page.locator('[data-event]').count()) > 0;
    });
    await visitor.go('/me');
    const counts = await journey(t, visitor, async () => {
      await tabTo(visitor, 'nav a[href="/events"]');
      await page.keyboard.press('Enter');
      await page.locator('[data-event]').first().waitFor();
      await tabTo(visitor, '[data-event] > button');
      await page.keyboard.press('Enter');
      await page.locator('[data-phase=paused]').waitFor({ timeout: DEADLINE_MS });
      // Its keys are heard once it is drawn: nobody is as quick as this test.
      await visitor.settle();
      await page.keyboard.press('i');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('o');
      await page.keyboard.press('e');
      await page.getByRole('dialog', { name: 'Export' }).waitFor();
    });
    assert.equal(counts.clicks + counts.taps, 0);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Export' }).waitFor({ state: 'hidden' });
    await visitor.close();
  });

for (const role of ['operator', 'admin'])
  test(`keyboard alone, admin's, as ${role}: cameras are pasted, tested and saved`, async (t) => {
    const visitor = await signIn(role);
    const { page } = visitor;
    await visitor.go('/me');
    const counts = await journey(t, visitor, async () => {
      await tabTo(visitor, 'nav a[href="/cameras"]');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Add many' }).first().waitFor();
      await tabToText(visitor, /^Add many$/);
      await page.keyboard.press('Enter');
      await page.locator('dialog textarea:focus').waitFor();
      await page.keyboard.insertText(`${camera.url(`/yard-${role}`)} Yard of the ${role}\n`);
      await tabToText(visitor, /^Test all/);
      await page.keyboard.press('Enter');
      // While it is tested nothing can be saved, and as many tabs lead nowhere.
      await page.locator('dialog canvas[role=img]').first().waitFor({ timeout: DEADLINE_MS });
      await page.getByRole('button', { name: 'Test all' }).waitFor();
      await page.getByRole('button', { name: 'Save 1' }).waitFor();
      await tabToText(visitor, /^Save 1$/);
      await page.keyboard.press('Enter');
      await page
        .getByText(/^1 cameras? (?:was|were) added/)
        .first()
        .waitFor();
    });
    assert.equal(counts.clicks + counts.taps, 0);
    await visitor.close();
  });

test('keyboard alone, first start: from the printed password to the first camera', async (t) => {
  const own = mkdtempSync(join(tmpdir(), 'framering-'));
  const fresh = await startService({ DATA_DIR: own });
  t.after(() => {
    fresh.process.kill('SIGKILL');
    rmSync(own, { recursive: true, force: true });
  });
  const visitor = await browser.visit(fresh.url);
  const { page } = visitor;
  const isAtStep = (title: string) => page.getByRole('heading', { level: 2, name: title }).waitFor();
  const enter = async (selector: string, text: string): Promise<void> => {
    await tabTo(visitor, selector);
    await page.keyboard.type(text);
  };
  await visitor.go('/');
  const counts = await journey(t, visitor, async () => {
    await enter('input[name=username]', 'admin');
    await enter('input[name=password]', fresh.adminPassword);
    await page.keyboard.press('Enter');
    await isAtStep('Password');
    await enter('input[name=new]', PASSWORD);
    await enter('input[name=again]', PASSWORD);
    await page.keyboard.press('Enter');
    for (const step of ['Time zone', 'Connection']) {
      await isAtStep(step);
      await tabToText(visitor, /^Next$/);
      await page.keyboard.press('Enter');
    }
    await isAtStep('First camera');
    await enter('input[name=url]', camera.url('/gate'));
    await tabToText(visitor, /^Test$/);
    await page.keyboard.press('Enter');
    await page.getByText('It works: h264').waitFor();
    await tabToText(visitor, /^Add and watch$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(({ pathname }) => pathname !== '/setup');
  });
  assert.equal(counts.clicks + counts.taps, 0);
  await visitor.close();
});
