import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cameraAt, Engine, FrameLog } from '../support/engine.js';
import type { AuthOptions } from '../support/fake-camera/auth.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { until } from '../support/until.js';

const login = { user: 'admin', password: 'p@ss:w/rd#1%' };

const logins: readonly (readonly [string, Omit<AuthOptions, 'user' | 'password'>, boolean])[] = [
  ['Basic', { schemes: ['basic'] }, false],
  ['Digest as of RFC 2069', { schemes: ['digest-md5'] }, false],
  ['Digest with SHA-256 and qop, over TLS', { schemes: ['digest-sha256'], hasQop: true }, true],
  ['the best of three', { schemes: ['basic', 'digest-md5', 'digest-sha256'], hasQop: true }, false],
  [
    'a nonce that is stale after each request',
    { schemes: ['digest-md5'], hasQop: true, nonceRequests: 1 },
    false,
  ],
  [
    'Digest offered although Basic alone works',
    { schemes: ['digest-md5', 'basic'], accepts: ['basic'] },
    false,
  ],
];

for (const [name, auth, isTls] of logins) {
  test(`the engine logs in: ${name}`, async () => {
    const mounts = { '/cam0': { video: fixtures.h264High() } };
    await using camera = await FakeCamera.start({ mounts, isTls, auth: { ...login, ...auth } });
    await using engine = new Engine();
    engine.cameras.setAll([cameraAt('cam', camera.url('/cam0', login))]);
    using log = new FrameLog(engine.cameras, 'cam');
    await until('frames come', () => log.video.length >= 2, {
      describe: () => JSON.stringify(engine.records),
    });
    assert.equal(engine.cameras.get('cam')?.status().reconnects, 0);
    assert.equal(camera.connectionsSeen, 1);
  });
}

test('a wrong password is refused, said so, and never shown', async () => {
  const mounts = { '/cam0': { video: fixtures.h264High() } };
  await using camera = await FakeCamera.start({
    mounts,
    auth: { ...login, schemes: ['digest-md5', 'basic'] },
  });
  await using engine = new Engine();
  engine.cameras.setAll([cameraAt('cam', camera.url('/cam0', { user: 'admin', password: 'sesame77' }))]);
  await until('the fault is told', () => engine.cameras.get('cam')?.status().lastError !== '');
  assert.match(engine.cameras.get('cam')?.status().lastError ?? '', /password|401|auth|login|credential/i);
  assert.doesNotMatch(JSON.stringify(engine.records), /sesame77/);
});
