import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { appendDetections } from '../../src/archive/detections/append-detections.js';
import { encodeRecord } from '../../src/archive/detections/detection-record.js';
import { KeptDetections } from '../../src/archive/detections/kept-detections.js';
import { closedName, openName } from '../../src/archive/files/file-name.js';
import { sidecarName } from '../../src/archive/files/sidecar-name.js';
import { JobPool } from '../../src/archive/jobs/job-pool.js';
import { Recordings } from '../../src/archive/list/recordings.js';
import { RecordingLocator } from '../../src/archive/play/locator.js';
import { Playback } from '../../src/archive/play/playback.js';
import { SubtitleTrack } from '../../src/archive/play/subtitle-track.js';
import { systemClock } from '../../src/base/clock.js';
import { cueText } from '../../src/detect/cue.js';
import { archiveRoutes } from '../../src/http/routes/archive.js';
import { film, START_MS } from '../archive/filmed.js';
import { nobodyWrites } from '../archive/nobody-writes.js';
import type { Browser } from '../support/browser/browser.js';
import { launchChromium } from '../support/browser/chromium.js';
import { assertShows, decodePictures } from '../support/browser/decoded-pictures.js';
import { type HlsStats, playHls } from '../support/browser/hls-player.js';
import { playVideoFile } from '../support/browser/video-player.js';
import { noDeletions, noFrames } from '../support/fake-archive.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { looped } from '../support/looped.js';
import { until } from '../support/until.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

const CAMERA_ID = 'locked';
const FRAME_SECONDS = 1 / 15;
const archiveDir = mkdtempSync(join(tmpdir(), 'framering-'));
const folder = join(archiveDir, CAMERA_ID);
const pool = new JobPool(
  { threads: 2, maxWaiting: 64, patienceMs: 30_000, deadlineMs: 30_000 },
  { clock: systemClock },
);
let server: WebServer;
let browser: Browser;

before(async () => {
  mkdirSync(folder);
  const recordings = new Recordings({ archiveDir }, { runner: pool, live: nobodyWrites });
  const deps = {
    locator: new RecordingLocator({ archiveDir }, { recordings, runner: pool }),
    runner: pool,
    clock: systemClock,
  };
  const playback = new Playback(deps);
  const detections = new KeptDetections({ archiveDir }, { recordings, runner: pool });
  const timeline = { intervals: async () => ({ intervals: [], gaps: [], broken: [] }) };
  const cameras = { has: (id: string) => server.cameras.has(id) };
  server = await startWebServer(
    archiveRoutes({
      clock: systemClock,
      cameras,
      recordings,
      timeline,
      playback,
      exports: playback,
      ...noDeletions,
      ...noFrames,
      subtitles: new SubtitleTrack({ ...deps, detections, cueText }),
    }),
  );
  browser = await launchChromium();
});
after(async () => {
  await browser.close();
  await server.stop();
  await pool.stop();
  rmSync(archiveDir, { recursive: true });
});

const put = (name: string, bytes: Buffer): string => {
  writeFileSync(join(folder, name), bytes);
  return name;
};
const putClosed = ({ bytes, startMs, endMs }: ReturnType<typeof film>): string =>
  put(closedName(startMs, endMs), bytes);

const addressOf = (playlist: string, query: Readonly<Record<string, string>>): string =>
  `${server.url}/hls/${CAMERA_ID}/${playlist}?${new URLSearchParams({ ...query, token: server.streamToken(CAMERA_ID) })}`;

const hasEnded = ({ isEnded, fatalErrors }: HlsStats): boolean => isEnded || fatalErrors.length > 0;

test('hls.js plays a recording to its end and finds each picture, with one token for all of it', async () => {
  const startMs = START_MS;
  const fileName = putClosed(
    film({ video: looped(fixtures.h264BFrames(), 3), audio: looped(fixtures.aac(), 3), startMs }),
  );
  await using player = await playHls(browser, addressOf('archive.m3u8', { file: fileName }));
  await player.play(4);
  const atEnd = await player.until('it has ended', hasEnded, { deadlineMs: 30_000 });
  assert.deepEqual(atEnd.fatalErrors, []);
  assert.equal(atEnd.buffered.length, 1, JSON.stringify(atEnd.buffered));
  assert.equal(atEnd.fragmentsLoaded, 12);
  const pictures = decodePictures(fixturePath('h264-bframes.264'));
  const [firstSeconds] = atEnd.buffered[0]!;
  for (const index of [100, 7, 170]) {
    await player.seek(firstSeconds + (index + 0.5) * FRAME_SECONDS);
    await assertShows(player, pictures, index % pictures.length);
  }
});

test('hls.js plays a range over files and a gap, and tells its dates', async () => {
  const startMs = START_MS + 3_600_000;
  for (const laterMs of [0, 4_000, 20_000]) {
    putClosed(film({ video: fixtures.h264High(), audio: fixtures.aac(), startMs: startMs + laterMs }));
  }
  const query = {
    from: new Date(startMs + 2_500).toISOString(),
    to: new Date(startMs + 22_500).toISOString(),
  };
  await using player = await playHls(browser, addressOf('range.m3u8', query));
  await player.play(4);
  const atEnd = await player.until('it has ended', hasEnded, { deadlineMs: 30_000 });
  assert.deepEqual(atEnd.fatalErrors, []);
  assert.equal(atEnd.fragmentsLoaded, 2 + 4 + 3);
  assert.ok(Math.abs(atEnd.currentTime - 9) < 0.2, `${atEnd.currentTime}`);
  const pictures = decodePictures(fixturePath('h264-high.264'));
  // 2 s of the first file, 4 s of the second: then the third, 20 s after the first began.
  await player.seek(6 + 20.5 * FRAME_SECONDS);
  // hls.js joins by the sound, whose frames don't end with the pictures: up to 21 ms a border.
  await assertShows(player, pictures, 20, 1);
  const { playingDateMs } = await player.stats();
  const lateMs = playingDateMs! - (startMs + 20_000 + 20.5 * 1000 * FRAME_SECONDS);
  assert.ok(Math.abs(lateMs) < 150, `${lateMs} ms`);
});

/** Says of each picture which one it is. */
const seePictures = (startMs: number, count: number): void => {
  const records = Array.from({ length: count }, (_, index) => {
    const objects = [{ label: `${index}`, score: 1, box: [0, 0, 1, 1] as const, zone: '' }];
    return encodeRecord({ wallMs: startMs + index * 1_000 * FRAME_SECONDS, source: 'model', objects });
  });
  const sidecar = sidecarName(startMs);
  const append = {
    cameraId: CAMERA_ID,
    sidecar,
    knownBytes: null,
    isNew: true,
    records: Buffer.concat(records),
    isLast: true,
  };
  const [result] = appendDetections({ archiveDir, appends: [append] });
  assert.ok(result !== undefined && 'fileBytes' in result, JSON.stringify(result));
};

/** The pictures that the shown subtitles speak of. */
const saidOf = ({ activeCues }: HlsStats): number[] =>
  activeCues.map(({ text }) => Number(JSON.parse(text).objects[0].label));

test('hls.js shows what was seen over the very picture, also after a seek, and behind gaps of a range', async () => {
  const startMs = START_MS + 18_000_000;
  for (const laterMs of [0, 4_000, 20_000]) {
    putClosed(film({ video: fixtures.h264High(), audio: fixtures.aac(), startMs: startMs + laterMs }));
    seePictures(startMs + laterMs, 60);
  }
  const pictures = decodePictures(fixturePath('h264-high.264'));
  const file = closedName(startMs, startMs + 4_000);
  const range = {
    from: new Date(startMs + 500).toISOString(),
    to: new Date(startMs + 22_500).toISOString(),
  };
  for (const [playlist, query, places] of [
    ['archive-master.m3u8', { file }, [3, 50, 20, 21, 59, 0]],
    ['range-master.m3u8', range, [3, 50, 61, 119, 121, 150, 20]],
  ] as const) {
    await using player = await playHls(browser, addressOf(playlist, query), { autoplay: false });
    const { subtitleTracks } = await player.until('it is loaded', ({ readyState }) => readyState >= 2);
    assert.deepEqual(subtitleTracks, ['AI Detections']);
    const { buffered } = await player.until(
      'all of it is',
      (stats) => (stats.buffered.at(-1)?.[1] ?? 0) > 3.5,
    );
    for (const place of places) {
      await player.seek(buffered[0]![0] + (place + 0.5) * FRAME_SECONDS);
      let seen = '';
      // After a seek a busy browser shows the picture, and the subtitles, of before for a while.
      const isSaidOfIt = async (): Promise<boolean> => {
        const index = await assertShows(player, pictures, place % 60, 1);
        const said = saidOf(await player.stats());
        seen = `${playlist}: ${said} is said of ${index}`;
        // Times of subtitles are whole milliseconds.
        return said.includes(index) && said.length <= 2;
      };
      await until('it is said of the picture', isSaidOfIt, { describe: () => seen });
    }
    await player.play(2);
    const atEnd = await player.until('it has ended', hasEnded, { deadlineMs: 40_000 });
    assert.deepEqual(atEnd.fatalErrors, []);
  }
});

test('hls.js follows a recording while it grows, from its start to the end that it gets', async () => {
  const startMs = START_MS + 7_200_000;
  const { bytes, parts, endMs } = film({
    video: looped(fixtures.h264High(), 2),
    audio: looped(fixtures.aac(), 2),
    startMs,
  });
  const border = parts[3]!.startBytes + 2_000;
  const fileName = put(openName(startMs), bytes.subarray(0, border));
  await using player = await playHls(browser, addressOf('archive.m3u8', { file: fileName }));
  const atFirst = await player.until('it plays', ({ currentTime }) => currentTime > 0.2);
  assert.ok(atFirst.currentTime < 3, 'from the start, not from the edge');
  appendFileSync(join(folder, fileName), bytes.subarray(border));
  renameSync(join(folder, fileName), join(folder, closedName(startMs, endMs)));
  const atEnd = await player.until('it has ended', hasEnded, { deadlineMs: 40_000 });
  assert.deepEqual(atEnd.fatalErrors, []);
  assert.equal(atEnd.fragmentsLoaded, 8);
});

test('Chromium seeks in an export by ranges', async () => {
  const startMs = START_MS + 10_800_000;
  putClosed(film({ video: looped(fixtures.h264High(), 2), audio: looped(fixtures.aac(), 2), startMs }));
  putClosed(film({ video: fixtures.h264High(), audio: fixtures.aac(), startMs: startMs + 8_000 }));
  const from = new Date(startMs + 1_000).toISOString();
  const to = new Date(startMs + 12_000).toISOString();
  const headers = { authorization: `Bearer ${server.accessToken('viewer')}` };
  const origin = browser.server.proxy(server.url, headers);
  const url = `${origin}/api/cameras/${CAMERA_ID}/export?from=${from}&to=${to}`;
  await using player = await playVideoFile(browser, url, { autoplay: false });
  const pictures = decodePictures(fixturePath('h264-high.264'));
  for (const index of [150, 3, 104, 105]) {
    await player.seek((index + 0.5) * FRAME_SECONDS);
    await assertShows(player, pictures, (index + 15) % pictures.length);
  }
  assert.deepEqual((await player.stats()).error, null);
});

test('Chromium shows the last picture over a gap in an export, and goes on behind it', async () => {
  const startMs = START_MS + 14_400_000;
  for (const laterMs of [0, 20_000]) {
    putClosed(film({ video: fixtures.h264High(), audio: fixtures.aac(), startMs: startMs + laterMs }));
  }
  const [from, to] = [startMs, startMs + 30_000].map((ms) => new Date(ms).toISOString());
  const headers = { authorization: `Bearer ${server.accessToken('viewer')}` };
  const origin = browser.server.proxy(server.url, headers);
  const url = `${origin}/api/cameras/${CAMERA_ID}/export?from=${from}&to=${to}`;
  await using player = await playVideoFile(browser, url, { autoplay: false });
  const pictures = decodePictures(fixturePath('h264-high.264'));
  for (const [seconds, index] of [
    [22, 30],
    [3, 45],
    [5, 59],
    [19.9, 59],
    [20, 0],
  ] as const) {
    await player.seek(seconds + FRAME_SECONDS / 2);
    await assertShows(player, pictures, index);
  }
  await player.seek(3.5);
  await player.play(4);
  const atEnd = await player.until('it has ended', ({ isEnded, error }) => isEnded || error !== null);
  assert.equal(atEnd.error, null);
  assert.ok(Math.abs(atEnd.duration! - 24) < 0.1, `${atEnd.duration} s`);
});
