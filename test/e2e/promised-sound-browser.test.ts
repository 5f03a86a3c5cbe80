import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchChromium } from '../support/browser/chromium.js';
import { type HlsStats, playHls } from '../support/browser/hls-player.js';
import type { VideoPlayer } from '../support/browser/video-player.js';
import { cleanTry } from '../support/clean-try.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** A busy machine may be late with anything. */
const options = { deadlineMs: 60_000 };

test('hls.js in Chromium plays a camera whose sound is announced and missing, begins late and falls silent', async (t) => {
  await using camera = await FakeCamera.start({
    mounts: { '/main': { video: fixtures.h264High(), audio: fixtures.aac() } },
    faults: { silentAudio: true },
  });
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const browser = await launchChromium();
  t.after(() => browser.close());
  const token = await service.login('admin', service.adminPassword);
  await service.call('POST', '/api/cameras', { token, body: { id: 'door', url: camera.url('/main') } });
  const untilAudioIs = (codec: string): Promise<boolean> =>
    until(`the sound is "${codec}"`, async () => {
      const { body } = await service.call('GET', '/api/cameras', { token });
      return body[0].audio_codec === codec;
    });

  const open = (playlist: string): Promise<VideoPlayer<HlsStats>> =>
    playHls(browser, `${service.url}/stream/hls/door/${playlist}`, { recovers: true });
  const goOn = async (player: VideoPlayer<HlsStats>, seconds: number): Promise<HlsStats> => {
    const { currentTime } = await player.stats();
    return player.until('it goes on', (stats) => stats.currentTime > currentTime + seconds, options);
  };
  const playSilent = async (player: VideoPlayer<HlsStats>): Promise<HlsStats> => {
    await player.until('it plays', ({ framesDecoded }) => framesDecoded > 0, options);
    const silent = await goOn(player, 4);
    assert.deepEqual([silent.fatalErrors, silent.recoveries], [[], 0]);
    return silent;
  };

  const play = async (playlist: string): Promise<void> => {
    camera.faults.silentAudio = true;
    const playBriefly = async (): Promise<HlsStats> => {
      await using player = await open(playlist);
      return await playSilent(player);
    };
    await cleanTry(t, playBriefly, ({ stalls }) => assert.deepEqual(stalls, []));
    await using player = await open(playlist);
    await playSilent(player);
    camera.faults.silentAudio = false;
    // A player that recovers may jump: its time says nothing of the camera's.
    await untilAudioIs('aac');
    await goOn(player, 6);
    camera.faults.silentAudio = true;
    await untilAudioIs('');
    const atEnd = await goOn(player, 10);
    assert.deepEqual(atEnd.fatalErrors, []);
  };
  await play('ll.m3u8');
  // Who begins with sound meets its end, and that is not what the next one is to try first.
  await until('what had sound has left the playlist', async () => {
    const { text } = await service.call('GET', '/stream/hls/door/stream.m3u8');
    return !text.includes('#EXT-X-DISCONTINUITY\n');
  });
  await play('stream.m3u8');
  assert.equal(await service.stop(), 0);
});
