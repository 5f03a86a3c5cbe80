import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { brightRectangleModel } from '../support/bright-rectangle-model.js';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { readVideoStream, type VideoStream } from '../support/elementary-stream.js';
import { realData } from '../support/real-data.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { RecordingService } from './recording-service.js';

const DEADLINE_MS = 120_000;
const guard = { username: 'guard', password: 'a password of its own' };
const PARTS = /\/assets\/(?:model-|ort-)/;

const videoOf = (folder: string, ...source: string[]): VideoStream => {
  const path = join(folder, 'camera.264');
  const encoder = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-g', '15', '-sc_threshold', '0', '-bf', '0'];
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...source, ...encoder, path]);
  return readVideoStream(path, { codec: 'h264', frameRateHz: 15 });
};

/** The boxes that are drawn, by label: where they lie in the picture. */
const BOXES = `[...document.querySelectorAll('[data-camera] span')].flatMap((each) => {
  const [, label] = /^([a-z ]+) \\d+ %$/.exec(each.textContent) ?? [];
  const box = each.parentElement?.closest('[style]');
  const frame = box?.parentElement?.getBoundingClientRect();
  if (label === undefined || frame === undefined || each.children.length > 0) return [];
  const at = box.getBoundingClientRect();
  return [[label, (at.left - frame.left) / frame.width, (at.top - frame.top) / frame.height,
    at.width / frame.width, at.height / frame.height]];
})`;

type Boxed = readonly [label: string, x: number, y: number, width: number, height: number];

const boxes = (of: AppPage): Promise<Boxed[]> => of.page.evaluate<Boxed[]>(BOXES);

const stageOf = async (t: TestContext, video: VideoStream, dataDir: string) => {
  const env = { DATA_DIR: dataDir, ARCHIVE_DIR: `${dataDir}/recordings` };
  const recording = await RecordingService.start(t, { gate: video }, env);
  await recording.call('POST', '/api/users', { ...guard, role: 'viewer' });
  const browser = await AppBrowser.launch();
  t.after(() => browser.close());
  return await browser.signedIn(recording.service.url, guard);
};

const assertBox = (found: Boxed | undefined, expected: readonly number[], within: number): void => {
  for (const [index, value] of expected.entries())
    assert.ok(Math.abs(Number(found?.[index + 1]) - value) < within, `${found} is not ${expected}`);
};

test('a model of the service runs in the browser, on a camera’s newest picture, and is loaded nowhere else', async (t) => {
  const dataDir = tempFolder(t);
  const models = join(dataDir, 'models');
  mkdirSync(models);
  for (const name of ['bright', 'undescribed'])
    writeFileSync(join(models, `${name}.onnx`), brightRectangleModel(128));
  writeFileSync(join(models, 'bright.json'), JSON.stringify({ labels: ['lamp'] }));
  writeFileSync(join(models, 'text.onnx'), 'no network');
  writeFileSync(join(models, 'wrong.onnx'), brightRectangleModel(8_192));
  const source =
    'color=black:size=320x180:rate=15:duration=4,drawbox=x=160:y=90:w=80:h=90:color=white:t=fill';
  const visitor = await stageOf(t, videoOf(dataDir, '-f', 'lavfi', '-i', source), dataDir);
  const { page } = visitor;
  for (const path of ['/wall/all', '/camera/gate', '/events', '/archive']) await visitor.go(path);
  const parts = () => visitor.asked.filter(({ path }) => PARTS.test(path)).map(({ path }) => path);
  assert.deepEqual(parts(), [], 'nothing of it is loaded where it is not wanted');

  await visitor.go('/camera/gate');
  await page.getByRole('button', { name: 'Find objects in this browser' }).click();
  const choice = page.getByRole('combobox', { name: 'Model' });
  await choice.selectOption('bright.onnx');
  const lamp = await until('the lamp is boxed', async () => (await boxes(visitor))[0], {
    deadlineMs: DEADLINE_MS,
  });
  assert.equal(lamp[0], 'lamp');
  assertBox(lamp, [0.5, 0.5, 0.25, 0.5], 0.03);
  assert.match(page.url(), /\/camera\/gate\?model=bright\.onnx$/);
  const panel = page.getByRole('complementary', { name: 'Find objects in this browser' });
  await until('figures are told', async () =>
    /A picture takes\d+ ms.*Pictures a second[\d.]+.*boxes came[\d.]+ s.*lamp 90 %/.test(
      (await panel.textContent()) ?? '',
    ),
  );
  assert.equal(new Set(parts().filter((path) => path.endsWith('.wasm'))).size, 1, parts().join(', '));
  assert.deepEqual(await visitor.axe(), []);
  const shots = process.env['SCREENSHOTS'];
  for (const theme of ['dark', 'light'] as const)
    for (const width of [1_440, 390]) {
      await visitor.look({ width, theme });
      if (shots !== undefined) await visitor.screenshot(join(shots, `model-${theme}-${width}.png`));
      assert.deepEqual(await visitor.overflow(), []);
    }
  await visitor.look({ width: 1_440, theme: 'dark' });

  // Without a description the common names are those of the classes.
  await choice.selectOption('undescribed.onnx');
  await until('the lamp is somebody', async () => (await boxes(visitor))[0]?.[0] === 'person', {
    deadlineMs: DEADLINE_MS,
  });
  await choice.selectOption('text.onnx');
  await panel.getByText('Loading or running this model').waitFor();
  assert.deepEqual(await boxes(visitor), []);
  await choice.selectOption('wrong.onnx');
  await panel.getByText('Reading what this model says').waitFor();
  await panel.getByText('4096 pixels').waitFor();
  await visitor.go('/camera/gate?model=gone.onnx');
  await panel.getByText('The service has no model gone.onnx.').waitFor();

  // A link leads to it, and its end ends the worker with all that it held.
  await visitor.go('/camera/gate?model=bright.onnx');
  await until('the lamp is boxed', async () => (await boxes(visitor)).length === 1, {
    deadlineMs: DEADLINE_MS,
  });
  const running = () => page.workers().filter((worker) => worker.url().includes('model-worker')).length;
  assert.equal(running(), 1);
  await panel.getByRole('button', { name: 'Find no objects any more' }).click();
  await until('the worker is gone', async () => running() === 0);
  assert.deepEqual(await boxes(visitor), []);
  assert.deepEqual(visitor.faults, []);
});

test('a real detector finds dog, car and bicycle in the browser', {
  skip: !existsSync(join(realData, 'models/yolox_nano.onnx')),
}, async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'models'));
  copyFileSync(join(realData, 'models/yolox_nano.onnx'), join(dataDir, 'models/yolox_nano.onnx'));
  const picture = ['-loop', '1', '-framerate', '15', '-i', join(realData, 'pictures/dog.jpg'), '-t', '4'];
  const visitor = await stageOf(t, videoOf(dataDir, ...picture), dataDir);
  await visitor.go('/camera/gate?model=yolox_nano.onnx');
  const found = await until(
    'all three are boxed',
    async () => {
      const now = await boxes(visitor);
      return ['dog', 'car', 'bicycle'].every((label) => now.some((each) => each[0] === label)) ? now : null;
    },
    { deadlineMs: DEADLINE_MS },
  );
  for (const [label, left, top, right, bottom] of [
    ['dog', 133, 206, 324, 543],
    ['car', 467, 78, 693, 171],
    ['bicycle', 80, 133, 572, 428],
  ] as const)
    assertBox(
      found.find((each) => each[0] === label),
      [left / 768, top / 576, (right - left) / 768, (bottom - top) / 576],
      // Edges of a thin thing move with the colours, which are as the browser shows them.
      0.08,
    );
  const shots = process.env['SCREENSHOTS'];
  if (shots !== undefined) await visitor.screenshot(join(shots, 'model-dog.png'));
  assert.deepEqual(visitor.faults, []);
});
