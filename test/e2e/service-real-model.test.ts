import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { launchChromium } from '../support/browser/chromium.js';
import { playHls } from '../support/browser/hls-player.js';
import { readVideoStream, type VideoStream } from '../support/elementary-stream.js';
import { realData } from '../support/real-data.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { RecordingService } from './recording-service.js';

const [WIDTH, HEIGHT] = [768, 576];
const MOST_OFF = 0.05;
/** In pixels: left, top, right, bottom. */
const expected = [
  ['dog', 133, 206, 324, 543],
  ['car', 467, 78, 693, 171],
  ['bicycle', 80, 133, 572, 428],
] as const;

const patient = { deadlineMs: 120_000 };

/** A camera that looks at a picture. */
const still = (folder: string, picture: string): VideoStream => {
  const path = join(folder, 'still.264');
  const encoder = ['-t', '4', '-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-g', '10', '-bf', '0', path];
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-loop', '1', '-framerate', '10', '-i', picture, ...encoder]);
  return readVideoStream(path, { codec: 'h264', frameRateHz: 10 });
};

type Seen = { readonly label: string; readonly box: readonly [number, number, number, number] };

const assertBoxes = (objects: readonly Seen[]): void => {
  for (const [label, ...corners] of expected) {
    const found = objects.filter((object) => object.label === label);
    assert.equal(found.length, 1, JSON.stringify(objects));
    const [x, y, width, height] = found[0]!.box;
    const pixels = [x * WIDTH, y * HEIGHT, (x + width) * WIDTH, (y + height) * HEIGHT];
    for (const [index, value] of corners.entries()) {
      const off = Math.abs(pixels[index]! - value) / (index % 2 === 0 ? WIDTH : HEIGHT);
      assert.ok(off < MOST_OFF, `${label}: ${pixels}`);
    }
  }
};

test('dog, car and bicycle are in subtitles in Chromium, live and recorded, in one event each, and in its picture', {
  skip: !existsSync(join(realData, 'models/yolox_nano.onnx')),
}, async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'models'));
  copyFileSync(join(realData, 'models/yolox_nano.onnx'), join(dataDir, 'models/yolox_nano.onnx'));
  const env = { DATA_DIR: dataDir, ARCHIVE_DIR: `${dataDir}/recordings`, DETECT_MODEL: 'yolox_nano.onnx' };
  const video = still(dataDir, join(realData, 'pictures/dog.jpg'));
  const recording = await RecordingService.start(t, { yard: video }, env);
  const get = (path: string) => recording.call('GET', path);
  await recording.call('PUT', '/api/cameras/yard', { detect: true });
  const events = await until(
    'there are events',
    async () => {
      const { body } = await get('/api/events?type=detection');
      const labels = body.map(({ label }: { label: string }) => label);
      return expected.every(([label]) => labels.includes(label)) && body;
    },
    { ...patient, describe: () => recording.service.out().slice(-3_000) },
  );
  const browser = await launchChromium();
  t.after(() => browser.close());
  const { url } = recording.service;
  const from = new Date(Date.now() - 600_000).toISOString();
  await until(
    'it is kept',
    async () => (await get(`/api/cameras/yard/detections?from=${from}`)).body.length > 3,
    patient,
  );
  const range = `${url}/hls/yard/range-master.m3u8?from=${from}&to=${new Date().toISOString()}`;
  for (const address of [`${url}/stream/hls/yard/index.m3u8`, range]) {
    await using player = await playHls(browser, address);
    const { cues } = await player.until('cues are shown', (stats) => stats.cues.length >= 3, patient);
    for (const { text } of cues) assertBoxes(JSON.parse(text).objects);
  }
  for (const [label] of expected) {
    const ofLabel = events.filter((event: { label: string }) => event.label === label);
    assert.equal(ofLabel.length, 1, `${label}: one event, not one a second`);
    const picture = await until('its picture is there', async () => {
      const answer = await fetch(`${url}/api/events/${ofLabel[0].id}/thumbnail.jpg`, {
        headers: { authorization: `Bearer ${recording.token}` },
      });
      return answer.status === 200 && Buffer.from(await answer.arrayBuffer());
    });
    assert.ok(picture.length > 5_000 && picture.readUInt16BE(0) === 0xffd8);
  }
  const { body: last } = await get('/api/events?type=detection');
  for (const [label] of expected)
    assert.equal(last.filter((event: { label: string }) => event.label === label).length, 1, label);
});
