import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { launchChromium } from '../support/browser/chromium.js';
import { playWhep } from '../support/browser/whep-player.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const setUp = async (t: TestContext) => {
  const camera = await FakeCamera.start({
    mounts: { '/main': { video: fixtures.h264High(), audio: fixtures.pcmu() } },
  });
  t.after(() => camera[Symbol.asyncDispose]());
  const service = await startService({ DATA_DIR: tempFolder(t), WEBRTC_UDP_PORTS: '51000-51049' });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  await call('POST', '/api/cameras', { id: 'door', url: camera.url('/main') });
  const door = async () => (await call('GET', '/api/cameras')).body[0];
  await until('the camera streams', async () => (await door()).state === 'streaming', { deadlineMs: 20_000 });
  return { service, door };
};

test('Chromium watches a camera by WHEP, with sound, and says goodbye', async (t) => {
  const { service, door } = await setUp(t);
  const browser = await launchChromium();
  t.after(() => browser.close());
  const player = await playWhep(browser, `${service.url}/stream/webrtc/whep/door`);
  const stats = await player.until(
    'pictures are decoded, and sound comes',
    ({ framesDecoded, audioPacketsReceived, failure, videoWidth }) =>
      (framesDecoded > 40 && audioPacketsReceived > 40 && videoWidth > 0) || failure !== null,
  );
  assert.equal(stats.failure, null);
  assert.deepEqual([stats.status, stats.connectionState], [201, 'connected']);
  assert.deepEqual([stats.videoWidth, stats.videoHeight, stats.packetsLost], [320, 180, 0]);
  assert.ok(stats.codecs.includes('video/H264') && stats.codecs.includes('audio/PCMU'));
  t.diagnostic(`first picture after ${Math.round(stats.firstPictureMs ?? -1)} ms`);
  assert.equal((await door()).viewers, 1);
  await player.close();
  await until('nobody watches any more', async () => (await door()).viewers === 0);
  assert.deepEqual(player.errors, []);
  assert.equal(await service.stop(), 0);
});

test('aiortc watches the same camera', async (t) => {
  const { service, door } = await setUp(t);
  const script = join(import.meta.dirname, '../../../test/support/aiortc-viewer.py');
  const url = `${service.url}/stream/webrtc/whep/door`;
  const { stdout } = await promisify(execFile)('/usr/bin/python3', [script, url], { timeout: 60_000 });
  assert.deepEqual(JSON.parse(stdout), { width: 320, height: 180 });
  await until('it is seen that nobody watches', async () => (await door()).viewers === 0, {
    deadlineMs: 20_000,
  });
});
