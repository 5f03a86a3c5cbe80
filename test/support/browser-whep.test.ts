import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchChromium } from './browser/chromium.js';
import { playWhep } from './browser/whep-player.js';
import { fixtures } from './fixtures.js';
import { WeriftWhep } from './werift-whep.js';

test('Chromium watches a WHEP server, and says goodbye', async (t) => {
  const browser = await launchChromium();
  t.after(() => browser.close());
  await using server = await WeriftWhep.start(fixtures.h264Baseline());
  const player = await playWhep(browser, server.url, { token: 'a.b.c', audio: false });
  const stats = await player.until(
    'pictures are decoded',
    ({ framesDecoded, failure, videoWidth }) => (framesDecoded > 20 && videoWidth > 0) || failure !== null,
  );
  assert.equal(stats.failure, null);
  assert.deepEqual(
    [stats.status, stats.location, stats.connectionState],
    [201, '/whep/session', 'connected'],
  );
  assert.deepEqual([stats.videoWidth, stats.videoHeight, stats.packetsLost], [320, 180, 0]);
  assert.ok(stats.codecs.includes('video/H264') && stats.keyFramesDecoded > 0 && stats.firstPictureMs! > 0);
  assert.deepEqual(player.errors, []);
  await player.close();
  assert.equal(server.isWatched, false);
  assert.deepEqual(server.authorizations, ['Bearer a.b.c', 'Bearer a.b.c']);
});
