import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';
import { until } from '../support/until.js';

const viewer = { username: 'viewer', password: USER_PASSWORD };
/** Of the 25 hours of a day 1,400 pixels show so much each. */
const PIXEL_SEC = 66;

/** Days of Berlin on which clocks are set (EU directive 2000/84/EC), each moment with what clocks show there. */
const days = [
  {
    ...{ day: '2025-10-26', from: '2025-10-25T22:00:00Z', to: '2025-10-26T23:00:00Z' },
    shown: [
      ['2025-10-26T00:30:00Z', '02:30:00 +02:00'],
      ['2025-10-26T01:30:00Z', '02:30:00 +01:00'],
      ['2025-10-26T02:30:00Z', '03:30:00'],
      ['2025-10-26T11:00:00Z', '12:00:00'],
      ['2025-10-26T22:30:00Z', '23:30:00'],
    ],
    noon: '2025-10-26T11:00:00Z',
  },
  {
    ...{ day: '2025-03-30', from: '2025-03-29T23:00:00Z', to: '2025-03-30T22:00:00Z' },
    shown: [
      ['2025-03-30T00:30:00Z', '01:30:00'],
      ['2025-03-30T01:30:00Z', '03:30:00'],
      ['2025-03-30T10:00:00Z', '12:00:00'],
      ['2025-03-30T21:30:00Z', '23:30:00'],
    ],
    noon: '2025-03-30T10:00:00Z',
  },
] as const;

let app: TestApp;
let browser: AppBrowser;

before(async () => {
  app = await startTestApp();
  await app.asAdmin('POST', '/api/cameras', { id: 'gate', url: 'rtsp://127.0.0.1:9/gate' });
  await app.asAdmin('PUT', '/api/settings', { time_zone: 'Europe/Berlin' });
  browser = await AppBrowser.launch();
});
after(async () => {
  await browser.close();
  await app.stop();
});

const secOf = (moment: string): number => Date.parse(moment) / 1_000;
/** Without the marks that keep it in its direction. */
const plain = (text: string | null): string => (text ?? '').replace(/[\u2066-\u2069]/g, '');

const tapeOf = ({ page }: AppPage) => {
  const slider = page.getByRole('slider');
  const number = async (name: string): Promise<number> => Number(await slider.getAttribute(name));
  return {
    slider,
    ends: async (): Promise<number[]> => [await number('aria-valuemin'), await number('aria-valuemax')],
    nowSec: () => number('aria-valuenow'),
    text: async (): Promise<string> => plain(await slider.getAttribute('aria-valuetext')).split(',')[0] ?? '',
  };
};

// One to the west and one to the east of the site, each with its own days on which clocks are set, or none.
for (const timeZone of ['America/New_York', 'Asia/Tokyo', 'Europe/Berlin'])
  test(`on a device in ${timeZone} days of 25 and 23 hours of the site are whole, and a click lands where it is`, async () => {
    const visitor = await browser.signedIn(app.url, viewer, { timeZone });
    const { page } = visitor;
    const tape = tapeOf(visitor);
    for (const { day, from, to, shown, noon } of days) {
      await visitor.go('/archive?cameras=gate');
      await page.getByLabel('Day', { exact: true }).fill(day);
      const ends = [secOf(from), secOf(to)];
      await until('the whole day is shown', async () => String(await tape.ends()) === String(ends));
      const box = await tape.slider.boundingBox();
      assert.ok(box !== null);
      for (const [moment, clock] of shown) {
        const x = ((secOf(moment) - secOf(from)) / (secOf(to) - secOf(from))) * box.width;
        await page.mouse.click(box.x + x, box.y + box.height / 2);
        await until(
          `${day}: ${clock}`,
          async () => Math.abs((await tape.nowSec()) - secOf(moment)) <= PIXEL_SEC,
          { describe: () => `${x}` },
        );
        // The pixel is a minute wide: half past may be a little before.
        const [time = '', offset = ''] = clock.split(' ');
        const [told = '', toldOffset = ''] = (await tape.text()).split(' ');
        assert.ok(Math.abs(minuteOf(told) - minuteOf(time)) <= 2, `${told} for ${clock}`);
        assert.equal(toldOffset, offset);
      }
      await page.keyboard.press('g');
      await page.getByRole('dialog').getByLabel('Time').fill('12:00:00');
      await page.keyboard.press('Enter');
      await until('noon', async () => (await tape.nowSec()) === secOf(noon));
      assert.equal(await tape.text(), '12:00:00');
    }
    assert.deepEqual(visitor.faults, []);
    await visitor.close();
  });

const minuteOf = (clock: string): number => {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
};
