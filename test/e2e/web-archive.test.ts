import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Zone } from '../../src/web/archive/tape/zone.js';
import { addDays } from '../../src/web/data/zones.js';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { assertShows, decodePictures, shownNow } from '../support/browser/decoded-pictures.js';
import { elementPicture } from '../support/browser/element-picture.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { type RunningService, startService } from '../support/service.js';
import { until } from '../support/until.js';

const FRAME_MS = 1_000 / 15;
const HOUR_MS = 3_600_000;
/** For so long wall times may run fast or slow when a camera's stream has begun, and a little more. */
const SETTLING_MS = 12_000;
const folder = mkdtempSync(join(tmpdir(), 'framering-web-archive-'));
const pictures = decodePictures(fixturePath('h264-high.264'));
let camera: FakeCamera;
let service: RunningService;
let browser: AppBrowser;
let token: string;
let page: AppPage;
/** What both cameras have: recorded, then a gap, then recorded again. */
let before1: readonly [number, number];
let gap: readonly [number, number];

type Lane = { readonly recorded: [number, number][]; readonly gaps: [number, number, string][] };

const lanes = async (): Promise<Record<string, Lane>> =>
  (await service.call('GET', '/api/timeline?camera=gate&camera=dock', { token })).body;

/** Both have recorded so long since a moment. */
const untilRecorded = (sinceMs: number, ms: number): Promise<Record<string, Lane>> =>
  until(
    'both are recorded',
    async () => {
      const all = await lanes();
      const has = ({ recorded }: Lane) => recorded.some(([from, to]) => to - Math.max(from, sinceMs) >= ms);
      return ['gate', 'dock'].every((id) => all[id] !== undefined && has(all[id])) && all;
    },
    { deadlineMs: 60_000, describe: () => service.out().slice(-1_500) },
  );

const untilSettled = (path: string): Promise<boolean> =>
  until(`what comes from ${path} has its wall times`, () => {
    const { sent } = camera.mount(`/${path}`).stream;
    return sent.length > 0 && sent.at(-1)!.sentMs - sent[0]!.sentMs > SETTLING_MS;
  });

const record = async (isOn: boolean): Promise<void> => {
  for (const id of ['gate', 'dock'])
    await service.call('PUT', `/api/cameras/${id}`, { token, body: { record: isOn } });
};

before(async () => {
  camera = await FakeCamera.start({
    mounts: { '/gate': { video: fixtures.h264High() }, '/dock': { video: fixtures.h264Baseline() } },
    // What was sent late would move the wall times of pictures that are counted by them.
    faults: { senderReports: 'off' },
  });
  service = await startService({ DATA_DIR: folder, RECORD_FILE_SECONDS: '4' });
  token = await service.login('admin', service.adminPassword);
  for (const id of ['gate', 'dock'])
    await service.call('POST', '/api/cameras', { token, body: { id, url: camera.url(`/${id}`) } });
  // Nobody has it: it is away, which is an event.
  await service.call('POST', '/api/cameras', {
    token,
    body: { id: 'yard', url: camera.url('/nothing'), record: true },
  });
  await service.call('PUT', '/api/settings', { token, body: { time_zone: 'Europe/Berlin' } });
  browser = await AppBrowser.launch();
  for (const id of ['gate', 'dock']) await untilSettled(id);
  await record(true);
  await untilRecorded(0, 7_000);
  await record(false);
  page = await browser.signedIn(service.url, { username: 'admin', password: service.adminPassword });
  const stoppedMs = Date.now();
  await until('the gap is long enough', () => Date.now() - stoppedMs > 3_500);
  await record(true);
  const all = await untilRecorded(stoppedMs + 1_000, 3_000);
  const spans = ['gate', 'dock'].map((id) => {
    const recorded = all[id]!.recorded;
    return [recorded[0]!, recorded[1]!] as const;
  });
  before1 = [Math.max(...spans.map(([first]) => first[0])), Math.min(...spans.map(([first]) => first[1]))];
  gap = [Math.max(...spans.map(([first]) => first[1])), Math.min(...spans.map(([, second]) => second[0]))];
});

after(async () => {
  service?.process.kill('SIGKILL');
  await browser?.close();
  await camera?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Facts = {
  readonly phase: string;
  readonly timeMs: number;
  /** By camera: when what is shown was seen; null: nothing is. */
  readonly shown: Readonly<Record<string, number | null>>;
  readonly gaps: Readonly<Record<string, string>>;
};

const facts = (): Promise<Facts> =>
  page.page.evaluate(`(() => {
    const clock = document.querySelector('[data-phase]');
    const tiles = [...document.querySelectorAll('[data-camera]')];
    return {
      phase: clock?.dataset.phase ?? '',
      timeMs: Number(clock?.dataset.time),
      shown: Object.fromEntries(tiles.map(({ dataset }) =>
        [dataset.camera, dataset.shown === '' ? null : Number(dataset.shown)])),
      gaps: Object.fromEntries(tiles.flatMap((tile) => {
        const note = tile.querySelector('[data-gap]');
        return note === null ? [] : [[tile.dataset.camera, note.textContent]];
      })),
    };
  })()`);

const untilFacts = async (what: string, isSo: (facts: Facts) => boolean): Promise<Facts> => {
  let last: Facts | null = null;
  return until(
    what,
    async () => {
      last = await facts();
      return isSo(last) && last;
    },
    { deadlineMs: 45_000, describe: () => JSON.stringify({ last, faults: page.faults }) },
  );
};

/** What a tile shows. */
const tile = (id: string) => elementPicture(page.page, `[data-camera="${id}"] canvas`);

/** Which picture a page shows that was opened just now: what was drawn in a worker is on the screen a little later. */
const firstIndex = async (id: string): Promise<number> =>
  (await until('a picture is on the screen', () => shownNow(tile(id), pictures))).index;

const framesBetween = (from: Facts, to: Facts): number =>
  Math.round((to.shown['gate']! - from.shown['gate']!) / FRAME_MS);

const goTo = async (timeMs: number, query = ''): Promise<Facts> => {
  const at = new Date(timeMs).toISOString();
  await page.go(`/archive?cameras=gate,dock&t=${at}${query}`);
  return untilFacts('the moment', (now) => {
    const isShown = (id: string): boolean => now.shown[id] != null || now.gaps[id] !== undefined;
    return now.phase === 'paused' && Math.abs(now.timeMs - timeMs) < 2 && ['gate', 'dock'].every(isShown);
  });
};

const isStill = ({ phase }: Facts): boolean => phase === 'paused';
const modulo = (value: number): number => ((value % pictures.length) + pictures.length) % pictures.length;

test('a seek shows the picture of the moment; single steps go on and back by exactly one, over GOPs and files', async () => {
  const atMs = before1[0] + 3_600;
  const sought = await goTo(atMs);
  for (const id of ['gate', 'dock']) {
    const behindMs = atMs - sought.shown[id]!;
    assert.ok(behindMs >= -1 && behindMs < FRAME_MS + 2, `${id}: ${behindMs} ms`);
  }
  const first = await firstIndex('gate');
  // Another moment shows just the picture that was seen then.
  const other = await goTo(atMs - 2_000);
  let index = modulo(first + framesBetween(sought, other));
  await assertShows(tile('gate'), pictures, index);

  let last = other;
  const step = async (key: string, by: number): Promise<void> => {
    const from = last.shown['gate']!;
    for (let count = 0; count < Math.abs(by); count += 1) await page.page.keyboard.press(key);
    const isThere = (timeMs: number | null | undefined): boolean =>
      timeMs != null && Math.abs(timeMs - from - by * FRAME_MS) < FRAME_MS / 2;
    last = await untilFacts(`${by} pictures on from ${from}`, ({ shown }) => isThere(shown['gate']));
    index = modulo(index + by);
    await assertShows(tile('gate'), pictures, index);
  };
  for (const by of [1, 1, -1]) await step(by > 0 ? '.' : ',', by);
  // More than a GOP of 15, so that a keyframe is passed; as fast as keys are pressed, each counts.
  await step('.', 17);
  await step(',', -20);
});

test('play keeps two cameras in step, and goes backwards by single pictures', async () => {
  const sought = await goTo(before1[0] + 1_500);
  const first = await firstIndex('gate');
  await page.page.keyboard.press('Space');
  const begun = await untilFacts(
    'it plays',
    ({ phase, timeMs }) => phase === 'playing' && timeMs > before1[0] + 1_900,
  );
  for (let count = 0; count < 5; count += 1) {
    const { shown, timeMs, phase } = await facts();
    if (phase === 'end') break;
    // On a busy machine a picture may be late, never one of the future.
    for (const id of ['gate', 'dock']) assert.ok(shown[id]! <= timeMs + 1, `${id} is ahead`);
  }
  await untilFacts('it goes on', ({ timeMs }) => timeMs > begun.timeMs + 1_000);
  await page.page.keyboard.press('k');
  const paused = await untilFacts('it stands', isStill);
  for (const id of ['gate', 'dock']) {
    const behindMs = paused.timeMs - paused.shown[id]!;
    assert.ok(behindMs >= -1 && behindMs < FRAME_MS + 2, `${id}: ${behindMs} ms`);
  }
  const assertShown = (now: Facts): Promise<number> =>
    assertShows(tile('gate'), pictures, modulo(first + framesBetween(sought, now)));
  await assertShown(paused);
  await page.page.keyboard.press('j');
  await untilFacts('it goes back', ({ timeMs }) => timeMs < paused.timeMs - 800);
  await page.page.keyboard.press('k');
  const back = await untilFacts('it stands', isStill);
  const framesBack = framesBetween(back, paused);
  assert.ok(framesBack >= 10, `${framesBack} pictures back`);
  await assertShown(back);
});

test('a gap shows why and until when instead of a picture; play skips what no camera has, and says so', async () => {
  const inGap = await goTo((gap[0] + gap[1]) / 2);
  assert.deepEqual(inGap.shown, { gate: null, dock: null });
  assert.match(
    inGap.gaps['gate'] ?? '',
    /^No recording: recording was off.*\d\d:\d\d:\d\d to \d\d:\d\d:\d\d/,
  );
  const text = await page.page.getByRole('slider').getAttribute('aria-valuetext');
  assert.match(text ?? '', /^\d\d:\d\d:\d\d, No recording: recording was off.*, until \d\d:\d\d:\d\d$/);
  await goTo(gap[0] - 700);
  // It is told once, and for some seconds: somewhere on the way.
  const told = page.page
    .getByText(/Nothing was recorded for/)
    .first()
    .waitFor({ state: 'attached' });
  await page.page.keyboard.press('l');
  await untilFacts('it is behind the gap', ({ timeMs, shown }) => timeMs >= gap[1] && shown['gate'] !== null);
  await told;
  await page.page.keyboard.press('k');
  await untilFacts('it stands', isStill);
});

test('days of 25 and 23 hours are whole on the tape, and what clocks show twice has its offset', async () => {
  const zone = new Zone('Europe/Berlin');
  const hoursOf = (day: string): number => (zone.boundsOf(day).toMs - zone.boundsOf(day).fromMs) / HOUR_MS;
  const lastWith = (hours: number): string => {
    let day = addDays(zone.dayOf(Date.now()), -1);
    while (hoursOf(day) !== hours) day = addDays(day, -1);
    return day;
  };
  const tape = page.page.getByRole('slider');
  const spanHours = async (): Promise<number> =>
    (Number(await tape.getAttribute('aria-valuemax')) - Number(await tape.getAttribute('aria-valuemin'))) /
    3_600;
  for (const hours of [25, 23]) {
    const { fromMs } = zone.boundsOf(lastWith(hours));
    const texts: (string | null)[] = [];
    for (const hour of [2, 3]) {
      await goTo(fromMs + (hour + 0.5) * HOUR_MS);
      texts.push((await tape.getAttribute('aria-valuetext'))?.split(',')[0] ?? null);
      assert.equal(await spanHours(), hours);
    }
    const expected = hours === 25 ? ['02:30:00 +02:00', '02:30:00 +01:00'] : ['03:30:00', '04:30:00'];
    assert.deepEqual(texts, expected);
  }
});

test('an export of two cameras tells its size, and what is downloaded opens', async () => {
  await goTo(before1[0] + 1_500);
  await page.page.keyboard.press('i');
  await page.page.getByRole('button', { name: '+5 s' }).click();
  await untilFacts(
    '5 seconds later',
    ({ timeMs, phase }) => timeMs > before1[0] + 6_000 && phase === 'paused',
  );
  await page.page.keyboard.press('o');
  await page.page.keyboard.press('e');
  const all = page.page.getByRole('button', { name: /Download all as one zip \([\d.]+ [kM]?B\)/ });
  await all.waitFor();
  const ends = () =>
    page.asked.filter(({ method, path }) => method === 'DELETE' && /^\/api\/exports/.test(path));
  await page.page.keyboard.press('Escape');
  await until('an export that nobody downloads is ended', () => ends().length === 1);
  await page.page.keyboard.press('e');
  await all.waitFor();
  const [download] = await Promise.all([page.page.waitForEvent('download'), all.click()]);
  const zip = join(folder, 'export.zip');
  await download.saveAs(zip);
  execFileSync('unzip', ['-q', zip, '-d', join(folder, 'out')]);
  const names = readdirSync(join(folder, 'out')).sort();
  execFileSync('sha256sum', ['--strict', '--quiet', '-c', 'SHA256SUMS'], { cwd: join(folder, 'out') });
  const clips = names.filter((name) => name.endsWith('.mp4'));
  assert.equal(clips.length, 2, names.join());
  for (const name of clips) {
    const path = join(folder, 'out', name);
    const show = ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', path];
    const seconds = Number(execFileSync('ffprobe', show, { encoding: 'utf8' }));
    // Whole GOPs of a second.
    assert.ok(seconds > 4.9 && seconds < 8, `${name}: ${seconds} s`);
  }
  assert.deepEqual(await page.axe(), []);
  await page.page.keyboard.press('Escape');
  await page.page.keyboard.press('e');
  await all.waitFor();
  const made = page.asked.filter(({ method, path }) => method === 'POST' && path === '/api/exports');
  assert.deepEqual([made.length, ends().length], [2, 1], 'one that is downloaded is kept, and shown again');
  await page.page.keyboard.press('Escape');
});

test('events: a card opens beside its list with its time selected, is reviewed, and that is undone', async (t) => {
  await page.go('/events?period=all');
  const card = page.page.locator('[data-event]').first();
  await card.waitFor();
  let clicks = 0;
  const startMs = performance.now();
  const click = async (name: string | RegExp): Promise<void> => {
    clicks += 1;
    await page.page
      .getByRole('button', { name, exact: typeof name === 'string' })
      .first()
      .click();
  };
  await card.locator('button').click();
  clicks += 2; // With the one that led here.
  await untilFacts('its moment', isStill);
  assert.ok((await page.page.locator('[data-event]').count()) > 0, 'the list stays');
  await click('In');
  await click('+5 s');
  await click('Out');
  await click(/^Export/);
  const dialog = page.page.getByRole('dialog', { name: 'Export' });
  await dialog.waitFor();
  t.diagnostic(`${clicks} clicks, ${((performance.now() - startMs) / 1_000).toFixed(1)} s`);
  assert.ok(clicks <= 6, `${clicks} clicks`);
  await page.page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const fresh = page.page.getByRole('button', { name: /^All \d+ reviewed$/ });
  const label = await fresh.textContent();
  await fresh.click();
  await fresh.waitFor({ state: 'detached' });
  await page.page.getByRole('button', { name: 'Undo' }).click();
  await fresh.waitFor();
  assert.equal(await fresh.textContent(), label);
  assert.deepEqual(await page.axe(), []);
  // Of a camera that was away nothing was recorded: the others would be exported nevertheless.
  await page.page.locator('[data-event]', { hasText: 'Camera away' }).getByRole('checkbox').check();
  await page.page.getByRole('button', { name: 'Export 1' }).click();
  await dialog.getByText(/^yard, .*, is left out: /).waitFor();
  await page.page.keyboard.press('Escape');
  // A camera that was never there has no frames; what is being written may not be readable yet.
  const refused = page.asked.filter(({ status }) => status >= 400);
  assert.deepEqual(
    refused.filter(({ path, status }) => status !== 404 || !/\/frames|^\/api\/exports/.test(path)),
    [],
  );
  // The console tells of each of them, unless the worker that asked has ended by then; and of nothing else.
  assert.deepEqual(
    page.faults.filter((fault) => !fault.includes('status of 404')),
    [],
  );
  assert.ok(page.faults.length <= refused.length, page.faults.join());
});
