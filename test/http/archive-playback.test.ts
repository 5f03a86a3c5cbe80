import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Timeline } from '../../src/archive/list/timeline.js';
import { archiveRoutes } from '../../src/http/routes/archive.js';
import { CAMERA_ID, film, makeArchive, START_MS } from '../archive/filmed.js';
import { noDeletions, noFrames } from '../support/fake-archive.js';
import { FakeClock } from '../support/fake-clock.js';
import { fixtures } from '../support/fixtures.js';
import { startWebServer } from '../support/web-server.js';

/** The real archive behind its routes; its camera asks for tokens. */
const serve = async (t: TestContext) => {
  const archive = makeArchive(t);
  const { recordings, playback } = archive;
  const clock = new FakeClock(START_MS + 60_000);
  const timeline = new Timeline({ clock, recordings, whyNot: () => null });
  const cameras = { has: (id: string) => id === CAMERA_ID };
  const server = await startWebServer(
    archiveRoutes({
      clock,
      cameras,
      recordings,
      timeline,
      playback,
      exports: playback,
      ...noDeletions,
      ...noFrames,
    }),
  );
  t.after(() => server.stop());
  server.cameras.set(CAMERA_ID, { tokenAuth: true, isDisabled: false });
  const bytesAt = async (address: string, headers: Record<string, string> = {}) => {
    const response = await fetch(new URL(address, server.url), { headers });
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const authorization = `Bearer ${server.accessToken('viewer')}`;
  return { ...archive, server, bytesAt, authorization };
};

test('a player with a stream token gets from the playlist to every segment, by relative addresses', async (t) => {
  const { server, playback, putClosed, bytesAt } = await serve(t);
  const filmed = film({ video: fixtures.h264High(), audio: fixtures.aac() });
  const fileName = putClosed(filmed);
  const address = `${server.url}/hls/${CAMERA_ID}/archive.m3u8?file=${fileName}&token=${server.streamToken(CAMERA_ID)}`;
  const playlist = (await bytesAt(address)).bytes.toString();
  const children = playlist.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.equal(children.length, filmed.parts.length);
  server.clock.advance(59_000);
  for (const [seq, child] of children.entries()) {
    const { status, bytes } = await bytesAt(new URL(child, address).href);
    assert.equal(status, 200, child);
    assert.ok(bytes.equals((await playback.segment(CAMERA_ID, { fileName, seq })).bytes), child);
    server.clock.advance(50_000);
  }
  const beyond = await bytesAt(
    new URL(children[0]!.replace('seq=0', `seq=${children.length}`), address).href,
  );
  assert.deepEqual([beyond.status, JSON.parse(beyond.bytes.toString()).code], [400, 'bad_seq']);
});

test('an export is the clip, in one piece and in any other', async (t) => {
  const { playback, putClosed, bytesAt, authorization } = await serve(t);
  const fileName = putClosed(film({ video: fixtures.h264High() }));
  const clip = await playback.clip(CAMERA_ID, { fileName, startSeq: 1 });
  const pieces: Buffer[] = [];
  for await (const piece of clip.read()) pieces.push(piece);
  const expected = Buffer.concat(pieces);
  clip.close();
  const address = `/api/cameras/${CAMERA_ID}/export?file=${fileName}&start_seq=1`;
  const whole = await bytesAt(address, { authorization });
  assert.deepEqual([whole.status, whole.bytes.length], [200, expected.length]);
  assert.ok(whole.bytes.equals(expected));
  const middle = Math.floor(expected.length / 3);
  const tail = await bytesAt(address, { authorization, range: `bytes=${middle}-` });
  assert.equal(tail.status, 206);
  assert.ok(tail.bytes.equals(expected.subarray(middle)));
  const backwards = await bytesAt(`${address}&end_seq=0`, { authorization });
  assert.equal(backwards.status, 400);
});

test('lists show what is there, and names that were put there by others lead nowhere', async (t) => {
  const { archiveDir, folder, server, putClosed, bytesAt, authorization } = await serve(t);
  const filmed = film({ video: fixtures.h264High() });
  const fileName = putClosed(filmed);
  const secret = '2026-11-21_07-00-00_to_07-10-00.mp4';
  writeFileSync(join(archiveDir, secret), filmed.bytes);
  symlinkSync(join(archiveDir, secret), join(folder, secret));
  const get = (path: string) => server.call('GET', path, { headers: { authorization } });
  const { body } = await get(`/api/cameras/${CAMERA_ID}/archive`);
  const [start, end] = [filmed.startMs, filmed.endMs].map((timeMs) => new Date(timeMs).toISOString());
  assert.deepEqual(body, [{ start, end, filename: fileName }]);
  const recorded = await get(`/api/cameras/${CAMERA_ID}/recordings`);
  assert.deepEqual(recorded.body.intervals, [{ start, end }]);
  for (const name of [secret, `../${secret}`, `..%2f${secret}`, join(archiveDir, secret)]) {
    for (const path of [
      `/hls/${CAMERA_ID}/archive.m3u8?`,
      `/hls/${CAMERA_ID}/segment.ts?seq=0&`,
      `/api/cameras/${CAMERA_ID}/export?`,
    ]) {
      const { status } = await bytesAt(`${path}file=${name}`, { authorization });
      assert.equal(status, name === secret ? 404 : 400, path + name);
    }
  }
});
