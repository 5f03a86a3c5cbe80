import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchChromium } from '../support/browser/chromium.js';
import { assertNoErrors, type HlsStats, playHls } from '../support/browser/hls-player.js';
import { cleanTry } from '../support/clean-try.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const PLAYED_SECONDS = 8;
/** Until the playlist is as long as a delta update asks for. */
const LONGER_SECONDS = 24;
/** A busy machine may be late with anything. */
const DEADLINE_MS = 60_000;

test('hls.js in Chromium plays both outputs of a camera that asks for a token, and takes parts where it may choose, with B-frames and AAC', async (t) => {
  await using camera = await FakeCamera.start({
    mounts: { '/main': { video: fixtures.h264BFrames(), audio: fixtures.aac() } },
  });
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const browser = await launchChromium();
  t.after(() => browser.close());
  const token = await service.login('admin', service.adminPassword);
  const settings = { id: 'door', url: camera.url('/main'), token_auth: true };
  await service.call('POST', '/api/cameras', { token, body: settings });

  const viewersNow = async (): Promise<number> =>
    (await service.call('GET', '/api/cameras', { token })).body[0].viewers;

  const play = async (playlist: string, seconds = PLAYED_SECONDS): Promise<HlsStats> => {
    const { body } = await service.call('GET', '/api/cameras/door/stream-token', { token });
    const url = `${service.url}/stream/hls/door/${playlist}?token=${body.token}`;
    await using player = await playHls(browser, url);
    const options = { deadlineMs: DEADLINE_MS };
    const first = await player.until('it plays', ({ framesDecoded }) => framesDecoded > 0, options);
    const isDone = ({ currentTime }: HlsStats) => currentTime > first.currentTime + seconds;
    const stats = await player.until('it has played for a while', isDone, options);
    assert.ok((await viewersNow()) > 0);
    assert.deepEqual(stats.fatalErrors, []);
    assert.deepEqual([stats.videoWidth, stats.videoHeight, stats.isLive], [320, 180, true]);
    assert.equal(stats.buffered.length, 1, 'there is no hole');
    return stats;
  };
  const playChosen = async (): Promise<HlsStats> => {
    const stats = await play('index.m3u8', LONGER_SECONDS);
    assert.deepEqual(stats.subtitleTracks, ['AI Detections']);
    // Only parts have them.
    const isOfParts = stats.levelsPlayed.every((uri) => uri.includes('/ll.m3u8'));
    assert.ok(stats.deltaUpdates > 0 || !isOfParts, 'it reads delta updates');
    return stats;
  };

  // With parts a second or two lie ahead: whatever stands still for longer leaves the player behind.
  const assertClose = ({ latencySeconds }: HlsStats): void =>
    assert.ok(latencySeconds < 6, `${latencySeconds} s behind`);
  const [whole] = await Promise.all([play('stream.m3u8'), cleanTry(t, () => play('ll.m3u8'), assertClose)]);
  assert.ok(whole.latencySeconds < 20, `${whole.latencySeconds} s behind`);
  await cleanTry(t, playChosen, (chosen) => {
    assertClose(chosen);
    assertNoErrors(chosen);
    assert.equal(chosen.levelsPlayed.length, 1, 'it stays with the variant that it began with');
    assert.match(chosen.levelsPlayed[0]!, /\/ll\.m3u8\?session=/);
  });
  await until('the viewers are gone', async () => (await viewersNow()) === 0);
  assert.equal(await service.stop(), 0);
  assert.equal(service.err(), '');
});
