import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brightRectangleModel } from '../support/bright-rectangle-model.js';
import { AppBrowser } from '../support/browser/app-page.js';
import { lampVideo } from '../support/lamp-video.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { RecordingService } from './recording-service.js';

/** Where a box lies in the tile's canvas, which is as large as the picture in a tile of its form. */
const BOX = `(() => {
  const canvas = document.querySelector('[data-camera] canvas').getBoundingClientRect();
  const scale = Math.min(canvas.width / 320, canvas.height / 180);
  const [width, height] = [320 * scale, 180 * scale];
  const [left, top] = [canvas.left + (canvas.width - width) / 2, canvas.top + (canvas.height - height) / 2];
  const box = [...document.querySelectorAll('[data-boxes] span')].find((each) => each.textContent.includes('lamp'));
  const found = box.getBoundingClientRect();
  return [(found.left - left) / width, (found.top - top) / height, found.width / width, found.height / height];
})()`;

test('what was detected is drawn over the recorded picture that it was seen in, and D hides that for good', async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'models'));
  writeFileSync(join(dataDir, 'models/bright.onnx'), brightRectangleModel(128));
  writeFileSync(join(dataDir, 'models/bright.json'), JSON.stringify({ labels: ['lamp'] }));
  const env = { DATA_DIR: dataDir, ARCHIVE_DIR: `${dataDir}/recordings`, DETECT_MODEL: 'bright.onnx' };
  const recording = await RecordingService.start(t, { gate: lampVideo(dataDir) }, env);
  await recording.call('PUT', '/api/cameras/gate', { detect: true });
  const from = new Date(Date.now() - 600_000).toISOString();
  const seen = await until(
    'it was seen in recorded pictures',
    async () => {
      const { body } = await recording.call('GET', `/api/cameras/gate/detections?from=${from}&label=lamp`);
      return body.length >= 4 && (body as { t: string }[]);
    },
    { deadlineMs: 90_000, describe: () => recording.service.out().slice(-3_000) },
  );
  const browser = await AppBrowser.launch();
  t.after(() => browser.close());
  const { url, adminPassword: password } = recording.service;
  const page = await browser.signedIn(url, { username: 'admin', password });
  const at = Date.parse(seen[1]!.t);
  // Its time is told in whole milliseconds, and may be a little before the picture.
  await page.go(`/archive?cameras=gate&t=${new Date(at + 1).toISOString()}`);
  await page.page.locator('[data-boxes=now]').waitFor();
  const box = await page.page.evaluate<number[]>(BOX);
  for (const [index, value] of [0.5, 0.5, 0.25, 0.5].entries())
    assert.ok(Math.abs((box[index] ?? 9) - value) < 0.04, box.join());
  await page.page.getByText(/^lamp 90/).waitFor();
  // The next picture shows it still, and says that it was seen before.
  await page.page.keyboard.press('.');
  await page.page.locator('[data-boxes=before]').waitFor();
  const toggle = page.page.getByRole('button', { name: 'Show what was detected' });
  await page.page.keyboard.press('d');
  await page.page.locator('[data-boxes]').waitFor({ state: 'detached' });
  assert.equal(await toggle.getAttribute('aria-pressed'), 'false');
  await page.settle();
  await page.go(`/archive?cameras=gate&t=${new Date(at + 1).toISOString()}`);
  await page.page.locator('[data-shown]:not([data-shown=""])').waitFor();
  assert.equal(await toggle.getAttribute('aria-pressed'), 'false', 'it is remembered');
  assert.equal(await page.page.locator('[data-boxes]').count(), 0);
  await toggle.click();
  await page.page.locator('[data-boxes]').waitFor();
  assert.deepEqual(await page.axe(), []);
  assert.deepEqual(page.faults, []);
});
