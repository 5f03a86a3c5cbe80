import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brightRectangleModel } from '../support/bright-rectangle-model.js';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { readVideoStream, type VideoStream } from '../support/elementary-stream.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { RecordingService } from './recording-service.js';

const DEADLINE_MS = 60_000;
const guard = { username: 'guard', password: 'a password of its own' };

/** A lamp in the dark: a quarter as wide as the picture, in the right half of its lower half. */
const lamp = (folder: string): VideoStream => {
  const path = join(folder, 'lamp.264');
  const source =
    'color=black:size=320x180:rate=15:duration=4,drawbox=x=160:y=90:w=80:h=90:color=white:t=fill';
  const encoder = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-g', '15', '-sc_threshold', '0', '-bf', '0'];
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...encoder, path]);
  return readVideoStream(path, { codec: 'h264', frameRateHz: 15 });
};

/** Where the box lies in the picture that is shown, which lies in the middle of its frame. */
const BOX = `(() => {
  const frame = document.querySelector('[data-camera="gate"] canvas, [data-camera="gate"] video')?.getBoundingClientRect();
  const label = [...document.querySelectorAll('[data-camera="gate"] span')].find((each) => /^lamp \\d+ %$/.test(each.textContent));
  if (frame === undefined || label === undefined) return null;
  const box = label.parentElement === null ? null : label.closest('[style]')?.getBoundingClientRect();
  if (box === undefined || box === null) return null;
  const width = Math.min(frame.width, (frame.height * 16) / 9), height = (width * 9) / 16;
  const left = frame.left + (frame.width - width) / 2, top = frame.top + (frame.height - height) / 2;
  return [(box.left - left) / width, (box.top - top) / height, box.width / width, box.height / height];
})()`;

const untilBox = (of: AppPage): Promise<number[]> =>
  until('the lamp is boxed', () => of.page.evaluate<number[] | null>(BOX), { deadlineMs: DEADLINE_MS });

const areaOf = (of: AppPage, id: string): Promise<number> =>
  of.page.evaluate<number>(`(() => {
    const shown = document.querySelector('[data-camera="${id}"] :is(canvas, video, img)')?.getBoundingClientRect();
    return shown === undefined ? 0 : (shown.width * shown.height) / (innerWidth * innerHeight);
  })()`);

test('what is detected is drawn where it is, enlarges a tile where that is wanted, and a day is a drag away', async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'models'));
  writeFileSync(join(dataDir, 'models/bright.onnx'), brightRectangleModel(128));
  writeFileSync(join(dataDir, 'models/bright.json'), JSON.stringify({ labels: ['lamp'] }));
  const env = { DATA_DIR: dataDir, ARCHIVE_DIR: `${dataDir}/recordings`, DETECT_MODEL: 'bright.onnx' };
  const video = lamp(dataDir);
  const recording = await RecordingService.start(t, { gate: video, yard: video, dock: video }, env);
  await recording.call('POST', '/api/users', { ...guard, role: 'viewer' });
  const browser = await AppBrowser.launch();
  t.after(() => browser.close());
  const visitor = await browser.signedIn(recording.service.url, guard);
  const { page } = visitor;

  await visitor.go('/wall/all?grid=2x2');
  await until('there are pictures', async () => (await areaOf(visitor, 'gate')) > 0);
  const small = await areaOf(visitor, 'gate');
  await page.getByRole('button', { name: 'Tour and events' }).click();
  await page.getByRole('menuitem', { name: 'Enlarge a tile' }).click();
  assert.equal(await areaOf(visitor, 'gate'), small, 'nothing has happened yet');
  const dock = () => page.locator('[data-camera="dock"]').boundingBox();
  const dockBefore = await dock();
  await recording.call('PUT', '/api/cameras/gate', { detect: true, detection: { min_score: 0.5 } });
  await until('the tile is enlarged', async () => (await areaOf(visitor, 'gate')) > 2 * small, {
    deadlineMs: DEADLINE_MS,
  });
  await untilBox(visitor);
  assert.deepEqual(await dock(), dockBefore, 'the others stay where they are');
  await page.keyboard.press('Escape');
  await until('it is as it was', async () => (await areaOf(visitor, 'gate')) < 1.1 * small);

  await visitor.follow('/camera/gate');
  const box = await untilBox(visitor);
  for (const [index, value] of [0.5, 0.5, 0.25, 0.5].entries())
    assert.ok(Math.abs((box[index] ?? 9) - value) < 0.03, JSON.stringify(box));
  await page.keyboard.press('d');
  await until('nothing is boxed', async () => (await page.evaluate(BOX)) === null);
  await page.getByRole('button', { name: 'Show what is detected' }).click();
  await untilBox(visitor);
  assert.deepEqual(await visitor.axe(), []);

  // A minute ago, by keys, is in the archive; T leads back.
  await page.getByRole('slider').focus();
  const pressedMs = Date.now();
  await page.keyboard.press('Shift+ArrowLeft');
  await page.waitForURL(/\/archive\?/);
  const shown = new URL(page.url()).searchParams;
  const shownMs = Date.parse(shown.get('t') ?? '');
  const isAgo = shownMs > pressedMs - 70_000 && shownMs < Date.now() - 55_000;
  assert.deepEqual([shown.get('cameras'), isAgo], ['gate', true], `${pressedMs - shownMs}`);
  // The archive's keys are there as soon as the page is.
  await page.locator('[data-phase]').waitFor();
  await visitor.settle();
  await page.keyboard.press('t');
  await page.waitForURL(/\/camera\/gate$/);
  await page.getByRole('slider').waitFor();
  await visitor.settle();
  // So is what is dragged to.
  const strip = await page.getByRole('slider').boundingBox();
  assert.ok(strip !== null);
  await page.mouse.move(strip.x + strip.width * 0.8, strip.y + strip.height - 20);
  await page.mouse.down();
  await page.mouse.move(strip.x + strip.width * 0.5, strip.y + strip.height - 20, { steps: 5 });
  assert.match(page.url(), /\/camera\/gate$/);
  await page.mouse.up();
  await page.waitForURL(/\/archive\?/);
  const draggedMs = Date.now() - Date.parse(new URL(page.url()).searchParams.get('t') ?? '');
  assert.ok(Math.abs(draggedMs / 3_600_000 - 11.5) < 0.5, `${draggedMs}`);
  assert.deepEqual(visitor.faults, []);
});

test('a wall turns its pages where that is wanted, as long as nobody touches it', async (t) => {
  const dataDir = tempFolder(t);
  const env = { DATA_DIR: dataDir, ARCHIVE_DIR: `${dataDir}/recordings` };
  const video = lamp(dataDir);
  const recording = await RecordingService.start(t, { gate: video, yard: video }, env);
  await recording.call('POST', '/api/users', { ...guard, role: 'viewer' });
  const browser = await AppBrowser.launch();
  t.after(() => browser.close());
  const visitor = await browser.signedIn(recording.service.url, guard);
  const { page } = visitor;
  await visitor.go('/wall/all?grid=2x2');
  await page.getByRole('button', { name: 'Tour and events' }).click();
  const every = page.getByRole('menuitemradio', { name: 'Next page every 10 s' });
  assert.equal(await every.getAttribute('aria-disabled'), 'true', 'there is one page');
  await page.keyboard.press('Escape');
  await visitor.go('/wall/all?grid=1x1');
  await page.getByRole('button', { name: 'Tour and events' }).click();
  const startMs = performance.now();
  await every.click();
  await page.getByText('Tour, 10 s').waitFor();
  // What is told of cameras all the time is no reason to stay.
  let changes = 0;
  await until(
    'the page is turned',
    async () => {
      changes += 1;
      await recording.call('PUT', '/api/cameras/yard', { comment: `The yard ${changes}` });
      return page.url().includes('page=2');
    },
    { deadlineMs: DEADLINE_MS },
  );
  assert.ok(performance.now() - startMs > 9_900);
  await page.locator('[data-camera="yard"]').waitFor();
  await page.waitForURL((url) => !url.search.includes('page'), { timeout: DEADLINE_MS });
  await page.getByRole('button', { name: 'Tour and events' }).click();
  await page.getByRole('menuitemradio', { name: 'No tour' }).click();
  await page.getByText('Tour, 10 s').waitFor({ state: 'detached' });
  assert.deepEqual(visitor.faults, []);
});
