import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runQuietly } from '../fmp4/ffmpeg.js';
import { launchChromium } from '../support/browser/chromium.js';
import { type HlsStats, playHls } from '../support/browser/hls-player.js';
import { playVideoFile } from '../support/browser/video-player.js';
import { cleanTry } from '../support/clean-try.js';
import type { AudioStream } from '../support/elementary-stream.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const options = { deadlineMs: 90_000 };
/** A block that ends early is filled up to 16 samples: with the last of a session alone. */
const LAST_BYTES = 32;

const cameras = {
  mu: { audio: fixtures.pcmu, codec: 'pcmu', format: 'mulaw' },
  a: { audio: fixtures.pcma, codec: 'pcma', format: 'alaw' },
} as const;

const soundOf = (path: string, ...format: readonly string[]): Buffer => {
  // Of sound without a head it guesses how long it is, and warns.
  const args = ['-v', 'error', ...format, '-i', path, '-map', '0:a', '-f', 's16le', '-'];
  const { stdout, stderr } = spawnSync('ffmpeg', args, { maxBuffer: 64 << 20 });
  assert.equal(`${stderr}`, '');
  return stdout;
};

const codecsOf = (path: string): string =>
  runQuietly('ffprobe', ['-show_entries', 'stream=codec_name,sample_rate', '-of', 'csv=p=0', path]).trim();

test('G.711 is recorded as FLAC, sample by sample, and heard in exports and in Chromium', async (t) => {
  const folder = tempFolder(t);
  await using camera = await FakeCamera.start({
    mounts: {
      '/mu': { video: fixtures.h264High(), audio: fixtures.pcmu() },
      '/a': { video: fixtures.h265Main(), audio: fixtures.pcma() },
    },
  });
  const service = await startService({ DATA_DIR: folder, RECORD_FILE_SECONDS: '4' });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  for (const id of Object.keys(cameras)) {
    const body = { id, url: camera.url(`/${id}`), record: true };
    await service.call('POST', '/api/cameras', { token, body });
  }
  /** What any stretch of the looped sound is a piece of. */
  const meantOf = (id: string, audio: AudioStream, format: string): Buffer => {
    const path = join(folder, `${id}.g711`);
    const once = Buffer.concat(audio.frames.map(({ bytes }) => bytes));
    writeFileSync(path, Buffer.concat(Array.from({ length: 10 }, () => once)));
    return soundOf(path, '-f', format, '-ar', '8000');
  };
  const assertHeard = (path: string, meant: Buffer, leastSeconds: number): void => {
    const heard = soundOf(path);
    const whole = heard.subarray(0, heard.length - LAST_BYTES);
    assert.ok(whole.length > leastSeconds * 16_000, `${whole.length} bytes of sound`);
    assert.ok(meant.includes(whole), 'what is heard is what was sent');
  };

  const files: Record<string, string> = {};
  for (const [id, { audio, codec, format }] of Object.entries(cameras)) {
    const closed = await until(
      `${id} has two closed files`,
      async () => {
        const { body } = await service.call('GET', `/api/cameras/${id}/archive`, { token });
        const names: string[] = body.map(({ filename }: { filename: string }) => filename);
        const whole = names.filter((name) => !name.includes('ongoing'));
        return whole.length >= 2 && whole;
      },
      options,
    );
    const meant = meantOf(id, audio(), format);
    const path = join(folder, 'recordings', id, closed[1]!);
    files[id] = path;
    assert.match(codecsOf(path), /flac,8000/);
    assertHeard(path, meant, 3);
    const { body: listed } = await service.call('GET', '/api/cameras', { token });
    assert.equal(listed.find((each: { id: string }) => each.id === id).audio_codec, codec);

    const bytesOf = async (address: string): Promise<Buffer> => {
      const answer = await fetch(`${service.url}${address}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal(answer.status, 200, address);
      return Buffer.from(await answer.arrayBuffer());
    };
    const clip = join(folder, `${id}-clip.mp4`);
    writeFileSync(clip, await bytesOf(`/api/cameras/${id}/export?file=${closed[1]}`));
    assert.match(codecsOf(clip), /flac,8000/);
    assertHeard(clip, meant, 3);
    const segment = join(folder, `${id}.ts`);
    writeFileSync(segment, await bytesOf(`/hls/${id}/segment.ts?file=${closed[1]}&seq=0`));
    assert.match(codecsOf(segment), /^h26[45]|^hevc/);
    assert.doesNotMatch(codecsOf(segment), /flac|audio/);
  }

  const browser = await launchChromium();
  t.after(() => browser.close());
  const recording = browser.server.add('recording.mp4', readFileSync(files['mu']!));
  await using player = await playVideoFile(browser, recording);
  const atEnd = await player.until(
    'it has ended',
    ({ isEnded, error }) => isEnded || error !== null,
    options,
  );
  assert.equal(atEnd.error, null);
  assert.ok(atEnd.soundBytesDecoded! > 0, 'its sound is decoded');
  const playLive = async (): Promise<HlsStats> => {
    await using live = await playHls(browser, `${service.url}/stream/hls/mu/index.m3u8`);
    const stats = await live.until('it plays', ({ currentTime }) => currentTime > 6, options);
    assert.deepEqual(stats.fatalErrors, []);
    assert.equal(stats.levels[0]!.codecs, 'avc1,flac');
    assert.ok(stats.soundBytesDecoded! > 0, 'its sound is decoded');
    return stats;
  };
  await cleanTry(t, playLive, ({ stalls }) => assert.deepEqual(stalls, []));
  assert.equal(await service.stop(), 0);
  assert.equal(service.err(), '');
});
