import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type WallMs } from '../../src/base/clock.js';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** What a busy machine needs from the click to the look. */
const NEAR_MS = 40_000;
const DEADLINE_MS = 60_000;

const isNear = (aMs: number, bMs: number): boolean => Math.abs(aMs - bMs) < NEAR_MS;
const momentOf = (page: AppPage): number => Date.parse(new URL(page.page.url()).searchParams.get('t') ?? '');
const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The clock in the wall's bar, as of the day that makes it nearest to a moment. */
const wallClockMs = async ({ page }: AppPage, nearMs: number): Promise<number> => {
  const [clock = ''] = /\d\d:\d\d:\d\d/.exec((await page.locator('time').first().textContent()) ?? '') ?? [];
  const shownMs = Date.parse(`${isoDay(nearMs)}T${clock}Z`);
  return shownMs + Math.round((nearMs - shownMs) / DAY_MS) * DAY_MS;
};

/** What a page asked for last, as the time that stands in it. */
const askedMs = (page: AppPage, path: string, name: string): number => {
  const last = page.asked.findLast((each) => each.path.startsWith(path));
  return Date.parse(new URLSearchParams(last?.path.split('?')[1]).get(name) ?? '');
};

// The service is what is set: of a browser's own clock a test could set the page's and not that of its workers.
for (const [told, firstMs] of [
  [/is \W?3.hr\W? ahead/, -3 * HOUR_MS],
  [/is \W?10.min\W? behind/, 10 * MINUTE_MS],
] as const)
  test(`on a machine by ${firstMs} ms off wall, archive and events go by the service's clock`, async (t) => {
    let shiftMs = firstMs;
    const nowMs = (): number => Date.now() + shiftMs;
    const app = await startTestApp({
      withUsers: false,
      clock: { ...systemClock, wallMs: () => nowMs() as WallMs },
    });
    t.after(() => app.stop());
    const { body } = await app.call('POST', '/api/login', {
      body: { username: 'admin', password: app.adminPassword },
    });
    const camera = { id: 'gate', url: 'rtsp://127.0.0.1:9/gate', disabled: true };
    await app.call('POST', '/api/cameras', { token: body.token, body: camera });
    const browser = await AppBrowser.launch();
    t.after(() => browser.close());
    const page = await browser.signedIn(app.url, { username: 'admin', password: app.adminPassword });
    const sentence = page.page.getByText(told);
    await sentence.first().waitFor();
    await page.go('/me');
    await sentence.first().waitFor();
    assert.equal(await sentence.count(), 1, 'the page of the user says so, and nothing else any more');

    await page.go('/wall/all');
    assert.ok(isNear(await wallClockMs(page, nowMs()), nowMs()));

    await page.go('/archive?cameras=gate');
    await until('the address has a moment', () => !Number.isNaN(momentOf(page)));
    assert.ok(isNear(momentOf(page), nowMs()), 'a moment ago');
    const day = page.page.locator('input[type=date]');
    assert.equal(await day.getAttribute('max'), isoDay(nowMs()));
    assert.ok(askedMs(page, '/api/timeline', 'from') <= nowMs());
    // What a colleague sent is in the past of the service, wherever that is here.
    const sentMs = nowMs() - 2 * MINUTE_MS;
    await page.go(`/archive?cameras=gate&t=${new Date(sentMs).toISOString()}`);
    await page.settle();
    assert.ok(Math.abs(momentOf(page) - sentMs) < 1_000);

    await page.go('/events?period=day');
    assert.ok(isNear(askedMs(page, '/api/events?', 'from'), nowMs() - DAY_MS));

    await page.go('/camera/gate');
    await page.page.getByRole('slider').focus();
    await page.page.keyboard.press('Shift+ArrowLeft');
    await page.page.waitForURL(/\/archive\?/);
    assert.ok(isNear(momentOf(page), nowMs() - MINUTE_MS));

    // Somebody sets the service's clock right while the wall is looked at.
    await page.go('/wall/all');
    shiftMs = 0;
    await until(
      'the wall shows the other time',
      async () => isNear(await wallClockMs(page, nowMs()), nowMs()),
      { deadlineMs: DEADLINE_MS },
    );
    assert.deepEqual(page.faults, []);
  });
