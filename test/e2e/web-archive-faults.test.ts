import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { decodePictures, shownNow } from '../support/browser/decoded-pictures.js';
import { elementPicture } from '../support/browser/element-picture.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { type RunningService, startService } from '../support/service.js';
import { until } from '../support/until.js';

/** As pages over plain http have it. */
const WITHOUT_WEBCODECS = 'delete globalThis.VideoDecoder';
const FRAMES = '**/stream/archive/gate/frames?*';
const RANGE = '**/hls/gate/range.m3u8?*';

const folder = mkdtempSync(join(tmpdir(), 'framering-web-archive-faults-'));
const pictures = decodePictures(fixturePath('h264-high.264'));
let camera: FakeCamera;
let service: RunningService;
let browser: AppBrowser;
let token: string;
let beganMs: number;
const visits: AppPage[] = [];

const recorded = async (): Promise<[number, number] | undefined> =>
  (await service.call('GET', '/api/timeline?camera=gate', { token })).body.gate?.recorded[0];

const untilRecorded = (leastMs: number): Promise<number> =>
  until(
    `${leastMs} ms are recorded`,
    async () => {
      const span = await recorded();
      return span !== undefined && span[1] - span[0] >= leastMs && span[0];
    },
    { deadlineMs: 60_000, describe: () => service.out().slice(-1_500) },
  );

before(async () => {
  camera = await FakeCamera.start({ mounts: { '/gate': { video: fixtures.h264High() } } });
  service = await startService({ DATA_DIR: folder, RECORD_FILE_SECONDS: '4' });
  token = await service.login('admin', service.adminPassword);
  const body = { id: 'gate', url: camera.url('/gate'), record: true };
  await service.call('POST', '/api/cameras', { token, body });
  [browser] = await Promise.all([AppBrowser.launch(), untilRecorded(12_000)]);
  beganMs = (await recorded())![0];
});

// What is left open goes on playing.
afterEach(async () => {
  for (const page of visits.splice(0)) await page.close();
});

after(async () => {
  service?.process.kill('SIGKILL');
  await browser?.close();
  await camera?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Facts = { readonly phase: string; readonly timeMs: number; readonly shownMs: number | null };

const factsOf = (page: AppPage): Promise<Facts> =>
  page.page.evaluate(`(() => {
    const { phase = '', time } = document.querySelector('[data-phase]')?.dataset ?? {};
    const shown = document.querySelector('[data-camera]')?.dataset.shown ?? '';
    return { phase, timeMs: Number(time), shownMs: shown === '' ? null : Number(shown) };
  })()`);

const untilFacts = (page: AppPage, what: string, isSo: (facts: Facts) => boolean): Promise<Facts> => {
  let last: Facts | null = null;
  return until(
    what,
    async () => {
      last = await factsOf(page);
      return isSo(last) && last;
    },
    { deadlineMs: 60_000, describe: () => JSON.stringify({ last, faults: page.faults }) },
  );
};

const visit = async (): Promise<AppPage> => {
  const page = await browser.signedIn(service.url, { username: 'admin', password: service.adminPassword });
  visits.push(page);
  return page;
};

const goTo = (page: AppPage, timeMs: number): Promise<void> =>
  page.go(`/archive?cameras=gate&t=${new Date(timeMs).toISOString()}`);

/** The page takes what is recorded as going on for minutes, so that its playlist grows while it is watched. */
const askForMore = (page: AppPage): Promise<unknown> =>
  page.page.route(RANGE, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('to', new Date(Date.now() + 600_000).toISOString());
    return route.continue({ url: url.href });
  });

test('a network that fails while it plays is told in the tile, loses nothing, and play goes on by itself', async () => {
  const page = await visit();
  await goTo(page, beganMs + 1_000);
  await untilFacts(page, 'a picture', ({ phase, shownMs }) => phase === 'paused' && shownMs !== null);
  let isCut = true;
  let refused = 0;
  await page.page.route(FRAMES, (route) => {
    if (!isCut) return route.continue();
    refused += 1;
    return route.abort('connectionreset');
  });
  await page.page.keyboard.press('Space');
  const note = page.page.locator('[data-retrying]');
  await note.waitFor();
  assert.match((await note.textContent()) ?? '', /trying again: the service does not answer/);
  await until('it was asked again', () => refused >= 3);
  const waiting = await factsOf(page);
  assert.equal(waiting.phase, 'waiting');
  assert.ok(waiting.timeMs - beganMs < 1_600, `the clock went on by ${waiting.timeMs - beganMs - 1_000} ms`);
  isCut = false;
  await untilFacts(
    page,
    'it plays',
    ({ timeMs, shownMs }) => timeMs > waiting.timeMs + 1_500 && shownMs !== null && timeMs - shownMs < 1_000,
  );
  await note.waitFor({ state: 'detached' });
});

test('without WebCodecs play begins when the recording is loaded, and goes on into what is recorded later', async () => {
  const page = await visit();
  await page.page.addInitScript(WITHOUT_WEBCODECS);
  const ends: number[] = [];
  let letGo: () => void = () => {};
  const pressed = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.page.route(RANGE, async (route) => {
    ends.push(Date.parse(new URL(route.request().url()).searchParams.get('to') ?? ''));
    await pressed;
    await route.continue();
  });
  await page.page.goto(`${service.url}/archive?cameras=gate&t=${new Date(beganMs + 2_000).toISOString()}`);
  await until('the range is asked for', () => ends.length > 0);
  await page.page.keyboard.press('Space');
  letGo();
  await untilFacts(page, 'it plays', ({ timeMs }) => timeMs > beganMs + 3_000);
  await page.page.getByLabel('Speed').selectOption('4');
  const [firstEnd = 0] = ends;
  const isLater = ({ timeMs, shownMs }: Facts): boolean => timeMs > firstEnd + 2_000 && shownMs !== null;
  await untilFacts(page, 'it plays what came later', isLater);
  assert.ok(ends.length > 1);
});

test('without WebCodecs a moment that was recorded is shown, also where the service found nothing at first', async () => {
  const page = await visit();
  await page.page.addInitScript(WITHOUT_WEBCODECS);
  let asked = 0;
  await page.page.route(RANGE, async (route) => {
    asked += 1;
    if (asked > 1) await route.continue();
    else await route.fulfill({ status: 404, contentType: 'application/json', body: '{}' });
  });
  await goTo(page, beganMs + 2_000);
  await untilFacts(page, 'a picture', ({ phase, shownMs }) => phase === 'paused' && shownMs !== null);
  assert.ok(asked > 1);
});

test('without WebCodecs play goes on evenly while what is recorded grows', async () => {
  const page = await visit();
  await page.page.addInitScript(WITHOUT_WEBCODECS);
  await askForMore(page);
  await untilRecorded(45_000);
  await goTo(page, beganMs + 1_000);
  const isAt = (ms: number | null): boolean => ms !== null && Math.abs(ms - beganMs - 1_000) < 300;
  await untilFacts(page, 'its picture', ({ phase, shownMs }) => phase === 'paused' && isAt(shownMs));
  let [lastMs, answeredMs, mostBackMs, mostAheadMs] = [beganMs, Number.POSITIVE_INFINITY, 0, 0];
  page.page.on('requestfinished', (request) => {
    const isLater = lastMs > beganMs + 4_000 && answeredMs === Number.POSITIVE_INFINITY;
    if (isLater && request.url().includes('range.m3u8')) answeredMs = lastMs;
  });
  const pressedMs = performance.now();
  await page.page.keyboard.press('Space');
  await untilFacts(page, 'it plays on when the playlist was asked for again', ({ timeMs }) => {
    const playedMs = timeMs - beganMs - 1_000;
    mostAheadMs = Math.max(mostAheadMs, playedMs - (performance.now() - pressedMs));
    mostBackMs = Math.max(mostBackMs, lastMs - timeMs);
    lastMs = timeMs;
    return mostBackMs > 500 || timeMs > answeredMs + 2_000;
  });
  assert.ok(mostBackMs <= 500, `it went back by ${mostBackMs} ms`);
  assert.ok(mostAheadMs < 1_500, `it went on by ${mostAheadMs} ms more than time did`);
});

test('without WebCodecs it stands where it was stopped while what is recorded grows', async () => {
  const page = await visit();
  await page.page.addInitScript(WITHOUT_WEBCODECS);
  await askForMore(page);
  await goTo(page, beganMs + 1_000);
  await untilFacts(page, 'a picture', ({ phase, shownMs }) => phase === 'paused' && shownMs !== null);
  await page.page.keyboard.press('Space');
  await untilFacts(page, 'it plays', ({ timeMs }) => timeMs > beganMs + 3_000);
  // By a page that was busy with something else for so long, while the video went on.
  await page.page.evaluate(`{
    const pause = document.querySelector('[aria-label="Pause"]');
    const untilMs = performance.now() + 1_500;
    while (performance.now() < untilMs);
    pause.click();
  }`);
  const { timeMs } = await untilFacts(
    page,
    'it stands at what it shows',
    ({ phase, timeMs, shownMs }) => phase === 'paused' && Math.abs((shownMs ?? 0) - timeMs) < 500,
  );
  const again = await page.page.waitForResponse((response) => response.url().includes('range.m3u8'));
  await again.finished();
  for (let look = 0; look < 20; look += 1) {
    const { shownMs } = await factsOf(page);
    assert.ok(Math.abs((shownMs ?? 0) - timeMs) < 500, `it stands at ${timeMs}, and shows ${shownMs}`);
    await page.page.waitForTimeout(50);
  }
});

test('without WebCodecs who drags through time sees the keyframe of each moment, and then the moment itself', async () => {
  const page = await visit();
  await page.page.addInitScript(WITHOUT_WEBCODECS);
  await page.go(`/archive?cameras=gate&t=${new Date(beganMs + 9_000).toISOString()}&span=20`);
  await untilFacts(page, 'a picture', ({ phase, shownMs }) => phase === 'paused' && shownMs !== null);
  const box = await page.page.getByRole('slider').boundingBox();
  assert.ok(box !== null);
  const y = box.y + box.height - 12;
  await page.page.mouse.move(box.x + box.width * 0.5, y);
  await page.page.mouse.down();
  const still = elementPicture(page.page, '[data-camera] video:nth-of-type(2)');
  // Moments are 20 s over the whole width.
  for (const share of [0.25, 0.42, 0.31]) {
    await page.page.mouse.move(box.x + box.width * share, y, { steps: 3 });
    await untilFacts(page, 'its keyframe', ({ phase, timeMs, shownMs }) => {
      const behindMs = timeMs - (shownMs ?? Number.NaN);
      return phase === 'scrubbing' && behindMs >= -1 && behindMs < 1_050;
    });
    const shown = await until('the keyframe is on the screen', () => shownNow(still, pictures));
    assert.equal(shown.index % 15, 0, 'each GOP has 15 pictures');
  }
  await page.page.mouse.up();
  await page.page.locator('[data-camera] video:nth-of-type(2)').waitFor({ state: 'hidden' });
  const { timeMs, shownMs } = await untilFacts(page, 'it stands', ({ phase }) => phase === 'paused');
  assert.ok(Math.abs(timeMs - (shownMs ?? 0)) < 200, `${timeMs} ${shownMs}`);
});

test('without WebCodecs what has played out stays at its end when play is pressed once more', async () => {
  await service.call('PUT', '/api/cameras/gate', { token, body: { record: false } });
  const page = await visit();
  await page.page.addInitScript(WITHOUT_WEBCODECS);
  await until('nothing is recorded any more', async () => {
    const { body } = await service.call('GET', '/api/stats', { token });
    return body.active_recordings === 0;
  });
  const endMs = (await recorded())![1];
  await goTo(page, endMs - 2_000);
  await untilFacts(page, 'a picture', ({ phase, shownMs }) => phase === 'paused' && shownMs !== null);
  await page.page.keyboard.press('Space');
  const hasEnded = (): Promise<boolean> =>
    page.page.evaluate("document.querySelector('[data-camera] video').ended");
  await until('it has played out', hasEnded, { deadlineMs: 60_000 });
  await page.page.keyboard.press('Space');
  await untilFacts(page, 'it stands', ({ phase }) => phase === 'paused');
  await page.page.keyboard.press('Space');
  const { shownMs } = await untilFacts(page, 'it says that this is the end', ({ phase }) => phase === 'end');
  assert.ok(endMs - (shownMs ?? 0) < 300, `it shows ${shownMs} of what ends at ${endMs}`);
});
