import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchChromium } from '../support/browser/chromium.js';
import { type HlsStats, playHls } from '../support/browser/hls-player.js';
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
  const audioCodec = async (): Promise<string> =>
    (await service.call('GET', '/api/cameras', { token })).body[0].audio_codec;

  const play = async (playlist: string): Promise<void> => {
    camera.faults.silentAudio = true;
    await using player = await playHls(browser, `${service.url}/stream/hls/door/${playlist}`, {
      recovers: true,
    });
    const goOn = async (seconds: number): Promise<HlsStats> => {
      const { currentTime } = await player.stats();
      const isOn = (stats: HlsStats) => stats.currentTime > currentTime + seconds;
      return player.until(`${playlist} goes on`, isOn, options);
    };
    await player.until('it plays', ({ framesDecoded }) => framesDecoded > 0, options);
    const silent = await goOn(4);
    assert.deepEqual([silent.fatalErrors, silent.recoveries, silent.stalls], [[], 0, []]);
    camera.faults.silentAudio = false;
    await goOn(6);
    assert.equal(await audioCodec(), 'aac');
    camera.faults.silentAudio = true;
    const atEnd = await goOn(10);
    assert.deepEqual(atEnd.fatalErrors, []);
    assert.equal(await audioCodec(), '');
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
