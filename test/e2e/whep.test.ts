import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { openUdpDoor } from '../../src/live/whep/door/udp-door.js';
import { launchChromium } from '../support/browser/chromium.js';
import { playWhep } from '../support/browser/whep-player.js';
import type { AudioStream } from '../support/elementary-stream.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WhepClient } from '../support/whep-client.js';

type Scene = { readonly udpPorts?: string; readonly audio?: AudioStream | null };

const setUp = async (t: TestContext, { udpPorts = '51000-51049', audio = fixtures.pcmu() }: Scene = {}) => {
  const sound = audio === null ? {} : { audio };
  const camera = await FakeCamera.start({ mounts: { '/main': { video: fixtures.h264High(), ...sound } } });
  t.after(() => camera[Symbol.asyncDispose]());
  const service = await startService({ DATA_DIR: tempFolder(t), WEBRTC_UDP_PORTS: udpPorts });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  await call('POST', '/api/cameras', { id: 'door', url: camera.url('/main') });
  const door = async () => (await call('GET', '/api/cameras')).body[0];
  await until('the camera streams', async () => (await door()).state === 'streaming', { deadlineMs: 60_000 });
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

test('Chromium watches a camera whose sound WebRTC can not carry', async (t) => {
  const { service } = await setUp(t, { audio: fixtures.aac() });
  const browser = await launchChromium();
  t.after(() => browser.close());
  const player = await playWhep(browser, `${service.url}/stream/webrtc/whep/door`);
  const stats = await player.until(
    'pictures are decoded',
    ({ framesDecoded, failure }) => framesDecoded > 20 || failure !== null,
  );
  assert.deepEqual([stats.failure, stats.connectionState, stats.packetsLost], [null, 'connected', 0]);
  assert.deepEqual(player.errors, []);
});

for (const [sound, audio] of [
  ['sound that it knows', fixtures.pcmu],
  ['sound that WebRTC can not carry', fixtures.aac],
  ['no sound', () => null],
] as const) {
  test(`aiortc watches a camera with ${sound}`, async (t) => {
    const { service, door } = await setUp(t, { audio: audio() });
    const script = join(import.meta.dirname, '../../../test/support/aiortc-viewer.py');
    const url = `${service.url}/stream/webrtc/whep/door`;
    const { stdout } = await promisify(execFile)('/usr/bin/python3', [script, url], { timeout: 60_000 });
    assert.deepEqual(JSON.parse(stdout), { width: 320, height: 180 });
    await until('it is seen that nobody watches', async () => (await door()).viewers === 0, {
      deadlineMs: 60_000,
    });
  });
}

test('viewers of two threads share one UDP port', async (t) => {
  const door = await openUdpDoor({ first: 51_060, last: 51_089 }, () => {});
  const port = door!.port;
  door!.close();
  const { service, door: camera } = await setUp(t, { udpPorts: String(port) });
  const viewers = await Promise.all(Array.from({ length: 14 }, () => WhepClient.create({ countOnly: true })));
  t.after(() => viewers.forEach((viewer) => void viewer.close()));
  const begin = async (viewer: WhepClient): Promise<void> => {
    const answer = await fetch(`${service.url}/stream/webrtc/whep/door`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp' },
      body: viewer.offer,
    });
    assert.equal(answer.status, 201);
    viewer.start(await answer.text());
    assert.equal(viewer.answer.port, port);
  };
  const untilPictures = (some: readonly WhepClient[], least: number): Promise<boolean> =>
    until('they have pictures', () => some.every(({ packets }) => packets > least), {
      describe: () => some.map(({ packets }) => packets).join(' '),
    });
  // The service waits 15 s for a handshake: a busy machine has no time for all of them at once.
  for (let at = 0; at < viewers.length; at += 4) {
    const some = viewers.slice(at, at + 4);
    await Promise.all(some.map(begin));
    await untilPictures(some, 0);
  }
  await untilPictures(viewers, 20);
  assert.equal((await camera()).viewers, 14);
  assert.equal(await service.stop(), 0);
});

test('aiortc goes on after it stood still for 8 s', async (t) => {
  const { service } = await setUp(t);
  const script = join(import.meta.dirname, '../../../test/support/aiortc-viewer.py');
  const url = `${service.url}/stream/webrtc/whep/door`;
  const viewer = spawn('/usr/bin/python3', [script, url, '--on'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => viewer.kill('SIGKILL'));
  let pictures = 0;
  createInterface({ input: viewer.stdout }).on('line', () => {
    pictures += 1;
  });
  await until('it has pictures', () => pictures > 5, { deadlineMs: 60_000 });
  viewer.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  viewer.kill('SIGCONT');
  // What lay in its socket's buffer is shown first, in no time.
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  const before = pictures;
  await until('new pictures come', () => pictures > before + 20, { deadlineMs: 60_000 });
});
