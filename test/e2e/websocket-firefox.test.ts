import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { launchFirefox } from '../support/browser/firefox.js';
import { playWebSocket } from '../support/browser/websocket-player.js';
import type { VideoStream } from '../support/elementary-stream.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** A service with one camera that plays this, and the address of its live picture. */
const liveUrl = async (t: TestContext, video: VideoStream) => {
  const camera = await FakeCamera.start({ mounts: { '/main': { video } } });
  t.after(() => camera[Symbol.asyncDispose]());
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  await service.call('POST', '/api/cameras', { token, body: { id: 'door', url: camera.url('/main') } });
  await until(
    'the camera streams',
    async () => (await service.call('GET', '/api/cameras', { token })).body[0].state === 'streaming',
  );
  return `${service.url.replace('http', 'ws')}/stream/ws/door`;
};

test('Firefox shows H.265 of a live camera, which Chromium here cannot', async (t) => {
  const url = await liveUrl(t, fixtures.h265Main());
  const browser = await launchFirefox();
  t.after(() => browser.close());
  await using player = await playWebSocket(browser, url);
  const stats = await player.until(
    'three seconds of pictures are decoded',
    ({ framesDecoded, faults }) => framesDecoded > 45 || faults.length > 0,
  );
  assert.deepEqual(stats.faults, []);
  assert.deepEqual([stats.codec, stats.configs, stats.width, stats.height], ['hev1.1.6.L60.90', 1, 320, 180]);
  assert.ok(stats.keyFrames >= 3 && stats.firstPictureMs !== null);
  assert.deepEqual(player.errors, []);
});
