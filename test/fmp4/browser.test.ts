import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from '../support/browser/browser.js';
import { launchChromium } from '../support/browser/chromium.js';
import { assertShows, decodePictures } from '../support/browser/decoded-pictures.js';
import { launchFirefox } from '../support/browser/firefox.js';
import { playVideoFile } from '../support/browser/video-player.js';
import type { AudioStream, VideoStream } from '../support/elementary-stream.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { recordFile, samplesOf, streamInfoOf } from './fragmented-file.js';
import { exportWhole } from './plain-export.js';

type Case = { readonly video: VideoStream; readonly audio: AudioStream | null; readonly raw: string };

const FRAMES = 60;
const FRAME_SECONDS = 1 / 15;
const recorded = ({ video, audio }: Case): Buffer =>
  recordFile(streamInfoOf(video, audio?.track ?? null), samplesOf(video, audio), { maxSamples: 25 });

type Expected = {
  readonly raw: string;
  /** When the first picture is shown. */
  readonly firstSeconds?: number;
  readonly seeks?: readonly number[];
};

/** Plays to the end, then looks at pictures all over the file, each of which is the right one. */
const playsAndSeeks = async (
  browser: Browser,
  name: string,
  file: Buffer,
  { raw, firstSeconds = 0, seeks = [0, 14, 15, 31, 44, 59, 3] }: Expected,
): Promise<void> => {
  await using player = await playVideoFile(browser, browser.server.add(`${name}.mp4`, file));
  await player.play(4);
  const atEnd = await player.until('it has ended', ({ isEnded, error }) => isEnded || error !== null);
  assert.equal(atEnd.error, null);
  assert.deepEqual([atEnd.videoWidth, atEnd.videoHeight], [320, 180]);
  assert.ok(Math.abs(atEnd.duration! - 4 - firstSeconds) < 0.05, `${atEnd.duration} s`);
  const pictures = decodePictures(fixturePath(raw));
  assert.equal(pictures.length, FRAMES);
  for (const index of seeks) {
    await player.seek(firstSeconds + (index + 0.5) * FRAME_SECONDS);
    await assertShows(player, pictures, index);
  }
  assert.deepEqual(player.errors, []);
};

const h264 = { video: fixtures.h264High(), audio: fixtures.aac(), raw: 'h264-high.264' };
const reordered = { video: fixtures.h264BFrames(), audio: fixtures.aac(), raw: 'h264-bframes.264' };
const h265 = { video: fixtures.h265Main(), audio: fixtures.aac(), raw: 'h265-main.265' };
/** What a stream with B-frames has to be held back by, in fragmented files. */
const holdSeconds = ({ video, audio }: Case): number => samplesOf(video, audio)[0]!.ptsTicks / 90_000;

describe('Chromium', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  test('plays and seeks a recording', async () => {
    await playsAndSeeks(browser, 'recording', recorded(h264), { raw: h264.raw });
  });
  test('plays and seeks a recording with B-frames', async () => {
    const firstSeconds = holdSeconds(reordered);
    // FFmpeg's demuxer, which Chromium has, looks for the keyframe by decode time where there is no edit list:
    // for the last two pictures of a GOP it finds that of the next.
    const seeks = [0, 12, 15, 31, 42, 59, 3];
    await playsAndSeeks(browser, 'recording-b', recorded(reordered), {
      raw: reordered.raw,
      firstSeconds,
      seeks,
    });
  });
  test('plays and seeks an export', async () => {
    await playsAndSeeks(browser, 'export', exportWhole(recorded(h264)), { raw: h264.raw });
  });
  test('plays and seeks an export with B-frames', async () => {
    const file = exportWhole(recorded(reordered));
    await playsAndSeeks(browser, 'export-b', file, { raw: reordered.raw });
  });
});

describe('Firefox', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchFirefox();
  });
  after(() => browser.close());

  test('plays and seeks an H.265 recording', async () => {
    await playsAndSeeks(browser, 'h265', recorded(h265), { raw: h265.raw });
  });
  test('plays and seeks an H.265 export', async () => {
    await playsAndSeeks(browser, 'h265-export', exportWhole(recorded(h265)), {
      raw: h265.raw,
      firstSeconds: 0,
    });
  });
});
