import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { splitNals } from '../support/access-units.js';
import { alternating } from '../support/alternating.js';
import { launchChromium } from '../support/browser/chromium.js';
import { assertShows, decodePictures, findShown } from '../support/browser/decoded-pictures.js';
import { playHls } from '../support/browser/hls-player.js';
import { playVideoFile } from '../support/browser/video-player.js';
import { playWebSocket } from '../support/browser/websocket-player.js';
import { playWhep } from '../support/browser/whep-player.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { type RunningService, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const video = alternating(fixtures.h264High(), fixtures.h264OtherPps());
const FRAME_SECONDS = 1 / video.frameRateHz;
const FRAMES_PER_GOP = 15;
/** A busy machine may be late with anything. */
const options = { deadlineMs: 60_000 };

/** What a viewer is to see. */
const sourcePictures = (folder: string): Buffer[] => {
  const path = join(folder, 'source.264');
  const nals = video.frames.flatMap(({ bytes }) => splitNals(bytes));
  writeFileSync(path, Buffer.concat(nals.flatMap((nal) => [Buffer.of(0, 0, 0, 1), nal])));
  return decodePictures(path);
};

const recordedGops = async (service: RunningService, token: string): Promise<number> => {
  const { body } = await service.call('GET', '/api/cameras/door/archive', { token });
  const file: string | undefined = body.at(-1)?.filename;
  if (file === undefined) return 0;
  const { text } = await service.call('GET', `/hls/door/archive.m3u8?file=${file}`);
  return text.split('segment.ts').length - 1;
};

test('in Chromium every output of a camera with another PPS each second shows its pictures', async (t) => {
  const folder = tempFolder(t);
  const pictures = sourcePictures(folder);
  await using camera = await FakeCamera.start({ mounts: { '/main': { video } } });
  const service = await startService({ DATA_DIR: folder });
  t.after(() => service.process.kill('SIGKILL'));
  const browser = await launchChromium();
  t.after(() => browser.close());
  const token = await service.login('admin', service.adminPassword);
  const body = { id: 'door', url: camera.url('/main'), record: true };
  await service.call('POST', '/api/cameras', { token, body });

  const watchHls = async (playlist: string): Promise<void> => {
    await using player = await playHls(browser, `${service.url}/stream/hls/door/${playlist}`);
    const first = await player.until('it plays', ({ framesDecoded }) => framesDecoded > 0, options);
    for (let second = 1; second <= 4; second += 1) {
      await player.until('on', ({ currentTime }) => currentTime > first.currentTime + second, options);
      await findShown(player, pictures);
    }
    const stats = await player.stats();
    assert.deepEqual(stats.fatalErrors, []);
    assert.equal(stats.buffered.length, 1, 'there is no hole');
    const { text } = await service.call('GET', `/stream/hls/door/${playlist}`);
    const border = text.search(/^#EXT-X-DISCONTINUITY$/m);
    // The first change alone, until it has left the playlist.
    assert.doesNotMatch(text.slice(border + 1), /^#EXT-X-DISCONTINUITY$/m);
  };
  /** As MPEG-TS, from its start. */
  const watchRecording = async (file: string): Promise<void> => {
    await using player = await playHls(browser, `${service.url}/hls/door/archive.m3u8?file=${file}`);
    for (let second = 1; second <= 4; second += 1) {
      await player.until('it plays', ({ currentTime }) => currentTime > second, options);
      await findShown(player, pictures);
    }
    assert.deepEqual((await player.stats()).fatalErrors, []);
  };

  const watchSockets = async (): Promise<void> => {
    const framesShown = 4 * FRAMES_PER_GOP;
    await using webSocket = await playWebSocket(
      browser,
      `${service.url.replace('http', 'ws')}/stream/ws/door`,
    );
    await using whep = await playWhep(browser, `${service.url}/stream/webrtc/whep/door`);
    const told = await webSocket.until('it plays', (stats) => stats.framesDecoded > framesShown, options);
    assert.deepEqual(told.faults, []);
    assert.ok(told.configs >= 4, `${told.configs} configurations`);
    await whep.until('it plays', ({ framesDecoded }) => framesDecoded > framesShown, options);
    await findShown(whep, pictures);
  };

  await watchHls('ll.m3u8');
  await watchHls('stream.m3u8');

  await watchSockets();

  const { body: files } = await service.call('GET', '/api/cameras/door/archive', { token });
  await watchRecording(files.at(-1).filename);
  await until('ten GOPs are recorded', async () => (await recordedGops(service, token)) >= 10, options);
  assert.equal(await service.stop(), 0);
  const closed = readdirSync(join(folder, 'recordings/door')).toSorted();
  assert.equal(closed.length, 2, closed.join());
  const recording = join(folder, 'recordings/door', closed[1]!);
  await using player = await playVideoFile(
    browser,
    browser.server.add('recording.mp4', readFileSync(recording)),
  );
  await player.play(4);
  const atEnd = await player.until(
    'it has ended',
    ({ isEnded, error }) => isEnded || error !== null,
    options,
  );
  assert.equal(atEnd.error, null);
  const recorded = decodePictures(recording);
  // Forth and back over changes.
  for (const index of [100, 5, 20, 47, 14, 15, 62]) {
    await player.seek((index + 0.5) * FRAME_SECONDS);
    await assertShows(
      player,
      pictures,
      pictures.findIndex((picture) => picture.equals(recorded[index]!)),
    );
  }
});
