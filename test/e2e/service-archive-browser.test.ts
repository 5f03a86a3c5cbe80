import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from '../support/browser/browser.js';
import { launchChromium } from '../support/browser/chromium.js';
import { assertShows, decodePictures, findShown } from '../support/browser/decoded-pictures.js';
import { assertWhole, type HlsStats, playHls, playToEnd } from '../support/browser/hls-player.js';
import { playVideoFile, type VideoPlayer } from '../support/browser/video-player.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { type RunningService, startService } from '../support/service.js';
import { until } from '../support/until.js';

const FRAME_RATE_HZ = 15;
const FILE_SECONDS = 3;

type Interval = { readonly start: string; readonly end: string; readonly filename: string };

const folder = mkdtempSync(join(tmpdir(), 'framering-archive-browser-'));
const pictures = decodePictures(fixturePath('h264-high.264'));
let browser: Browser;
let camera: FakeCamera;
let service: RunningService;
let token: string;
/** Two closed files that follow each other. */
let recorded: readonly [Interval, Interval];

const list = async (): Promise<Interval[]> =>
  (await service.call('GET', '/api/cameras/door/archive', { token })).body;

const isClosed = ({ filename }: Interval): boolean => !filename.includes('ongoing');

before(async () => {
  camera = await FakeCamera.start({
    mounts: { '/main': { video: fixtures.h264High(), audio: fixtures.aac() } },
  });
  service = await startService({ DATA_DIR: folder, RECORD_FILE_SECONDS: String(FILE_SECONDS) });
  token = await service.login('admin', service.adminPassword);
  await service.call('POST', '/api/cameras', {
    token,
    body: { id: 'door', url: camera.url('/main'), record: true, token_auth: true },
  });
  browser = await launchChromium();
  const intervals = await until(
    'six files are closed',
    async () => {
      const all = await list();
      return all.filter(isClosed).length >= 6 && all;
    },
    { describe: () => service.out().slice(-2_000) },
  );
  // The first one is shorter than the others, and what a first picture came late is made up for over ten seconds.
  recorded = [intervals[4]!, intervals[5]!];
});

after(async () => {
  service?.process.kill('SIGKILL');
  await camera?.[Symbol.asyncDispose]();
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An address of the recordings that a player without headers can open. */
const playlistUrl = async (name: string, query: Readonly<Record<string, string>>): Promise<string> => {
  const { body } = await service.call('GET', '/api/cameras/door/stream-token', { token });
  return `${service.url}/hls/door/${name}?${new URLSearchParams({ ...query, token: body.token })}`;
};

/** By the durations in its playlist. */
const framesIn = async ({ filename, start, end }: Interval): Promise<number> => {
  const text = await (await fetch(await playlistUrl('archive.m3u8', { file: filename }))).text();
  const seconds = [...text.matchAll(/^#EXTINF:([\d.]+),$/gm)].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );
  assert.ok(seconds >= FILE_SECONDS && seconds < FILE_SECONDS + 1.1, text);
  // A camera's clock is known better once it has sent a report.
  assert.ok(
    Math.abs((Date.parse(end) - Date.parse(start)) / 1000 - seconds) < 1,
    `${start} ${end} ${seconds} s`,
  );
  return Math.round(seconds * FRAME_RATE_HZ);
};

/** An address of an export, with the header that a `<video>` can't send. */
const exportUrl = (query: Readonly<Record<string, string>>): string => {
  const origin = browser.server.proxy(service.url, { authorization: `Bearer ${token}` });
  return `${origin}/api/cameras/door/export?${new URLSearchParams(query)}`;
};

/**
 * Each of these pictures is where the camera had it; the first one may be any of its loop. hls.js joins files by the sound,
 * whose frames don't end with the pictures: all that are behind a `border` may be late by the same part of a frame.
 */
const showsInPlace = async (
  player: VideoPlayer<unknown>,
  indexes: readonly number[],
  border: number | null = null,
): Promise<void> => {
  await player.seek(0.5 / FRAME_RATE_HZ);
  const { index: first } = await findShown(player, pictures);
  const placeOf = (index: number): number => (first + index) % pictures.length;
  const showsAt = async (index: number, lateFrames: number, mostBeside = 0): Promise<number> => {
    await player.seek((index + 0.5 + lateFrames) / FRAME_RATE_HZ);
    return assertShows(player, pictures, placeOf(index), mostBeside);
  };
  let lateFrames = 0;
  if (border !== null) {
    // Files begin with a keyframe, which the loop has at its start and each 15 pictures: the sixth one is not at its end.
    const index = border + 5;
    lateFrames = (placeOf(index) - (await showsAt(index, 0, 1))) / 2;
    assert.ok(lateFrames >= 0, 'a picture is missing at the border');
  }
  for (const index of indexes) await showsAt(index, border !== null && index >= border ? lateFrames : 0);
};

const assertPlayed = (stats: HlsStats, frames: number): void => {
  const [, seconds] = assertWhole(stats);
  assert.equal(stats.isLive, false);
  assert.ok(Math.abs(seconds - frames / FRAME_RATE_HZ) < 0.15, `${seconds} s of ${frames} frames`);
};

test('Chromium plays an export of a file to its end and seeks', async () => {
  const [file] = recorded;
  await using player = await playVideoFile(browser, exportUrl({ file: file.filename }));
  await player.play(4);
  const stats = await player.until('it has ended', ({ isEnded, error }) => isEnded || error !== null);
  assert.equal(stats.error, null);
  const frames = await framesIn(file);
  assert.ok(
    Math.abs(stats.duration! - frames / FRAME_RATE_HZ) < 0.15,
    `${stats.duration} s, ${frames} frames`,
  );
  await showsInPlace(player, [frames - 1, Math.floor(frames / 2), 15, 14, 1]);
  assert.deepEqual(player.errors, []);
});

test('Chromium plays an export of a time that lies in two files', async () => {
  const from = new Date(Date.parse(recorded[0].end) - 1500).toISOString();
  const to = new Date(Date.parse(recorded[1].start) + 1500).toISOString();
  await using player = await playVideoFile(browser, exportUrl({ from, to }));
  await player.play(4);
  const stats = await player.until('it has ended', ({ isEnded, error }) => isEnded || error !== null);
  assert.equal(stats.error, null);
  // Whole parts: from the keyframe at or before the start.
  assert.ok(stats.duration! > 2.9 && stats.duration! < 5.2, `${stats.duration} s`);
  const frames = Math.floor(stats.duration! * FRAME_RATE_HZ) - 1;
  await showsInPlace(player, [frames - 1, 35, 30, 29, 22, 15, 1]);
});

test('hls.js plays a file from start to end and seeks, with a token in its first address alone', async () => {
  const [file] = recorded;
  const frames = await framesIn(file);
  await using player = await playHls(browser, await playlistUrl('archive.m3u8', { file: file.filename }), {
    autoplay: false,
  });
  assertPlayed(await playToEnd(player), frames);
  await showsInPlace(player, [frames - 1, Math.floor(frames / 2), 15, 14, 1]);
  const stats = await player.stats();
  assertPlayed(stats, frames);
  // It stands in the middle of the second picture.
  const offMs = stats.playingDateMs! - Date.parse(file.start) - 1500 / FRAME_RATE_HZ;
  assert.ok(Math.abs(offMs) < 20, `its wall time is off by ${offMs} ms`);
  assert.deepEqual(player.errors, []);
});

test('hls.js plays a time over the border of two files without losing a picture', async () => {
  const [first, second] = recorded;
  const border = await framesIn(first);
  const frames = border + (await framesIn(second));
  // Half a frame off the border on both sides: times are told in milliseconds, frames are finer.
  const from = new Date(Date.parse(first.start) + 30).toISOString();
  const to = new Date(Date.parse(second.end) - 30).toISOString();
  const url = await playlistUrl('range.m3u8', { from, to });
  await using player = await playHls(browser, url, { autoplay: false });
  assertPlayed(await playToEnd(player), frames);
  await showsInPlace(player, [frames - 1, border + 1, border, border - 1, border - 2, 15, 1], border);
});

test('hls.js plays the file that is being written from its start, and goes on as it grows', async () => {
  // One that was begun this moment has nothing to show yet, and says 503.
  const url = await until('there is something in the open file', async () => {
    const open = (await list()).find((one) => !isClosed(one));
    if (open === undefined) return null;
    const address = await playlistUrl('archive.m3u8', { file: open.filename });
    return (await fetch(address)).status === 200 && address;
  });
  await using player = await playHls(browser, url, { autoplay: false });
  const { currentTime, buffered } = await player.until('it is loaded', ({ readyState }) => readyState >= 2);
  assert.ok(currentTime < 0.5 && buffered[0]![0] < 0.5, `it begins at ${currentTime} of ${buffered}`);
  await player.play();
  const later = await player.until('it has played for a while', ({ currentTime }) => currentTime > 2.2);
  assert.deepEqual(later.fatalErrors, []);
  assert.deepEqual(player.errors, []);
});
