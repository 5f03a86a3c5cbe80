import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixtures } from '../support/fixtures.js';
import { GstServer } from '../support/gst-server.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const SECONDS = 20;

const ffmpeg = (...args: readonly string[]): Buffer =>
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], { maxBuffer: 64 << 20 });

const samplesIn = (path: string): Buffer => ffmpeg('-i', path, '-map', '0:a', '-f', 's16le', '-');

const kinds = {
  pcmu: { codec: 'pcm_mulaw', rateHz: 8000, channels: 1, pay: 'rtppcmupay name=pay1 pt=0' },
  pcma: { codec: 'pcm_alaw', rateHz: 8000, channels: 1, pay: 'rtppcmapay name=pay1 pt=8' },
  l16: { codec: 'pcm_s16le', rateHz: 16_000, channels: 2, pay: 'audioconvert ! rtpL16pay name=pay1 pt=97' },
} as const;

test("GStreamer's G.711 and PCM are recorded sample by sample", async (t) => {
  const folder = tempFolder(t);
  const inFolder = (name: string): string => join(folder, name);
  const speech = inFolder('speech.ulaw');
  const once = Buffer.concat(fixtures.pcmu().frames.map(({ bytes }) => bytes));
  writeFileSync(speech, Buffer.concat(Array.from({ length: SECONDS / 2 }, () => once)));
  const size = `testsrc2=size=160x120:rate=15:duration=${SECONDS}`;
  ffmpeg('-f', 'lavfi', '-i', size, '-c:v', 'libx264', '-g', '15', '-bf', '0', inFolder('video.mp4'));
  const mounts: Record<string, string> = {};
  for (const [name, { codec, rateHz, channels, pay }] of Object.entries(kinds)) {
    const wav = inFolder(`${name}.wav`);
    const format = ['-c:a', codec, '-ar', String(rateHz), '-ac', String(channels)];
    ffmpeg('-f', 'mulaw', '-ar', '8000', '-i', speech, ...format, wav);
    mounts[`/${name}`] =
      `( filesrc location=${inFolder('video.mp4')} ! qtdemux ! h264parse ! rtph264pay name=pay0 pt=96 ` +
      `filesrc location=${wav} ! wavparse ! ${pay} )`;
  }
  await using server = await GstServer.start({ mounts });
  const service = await startService({ DATA_DIR: folder, RECORD_FILE_SECONDS: '4' });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  for (const id of Object.keys(kinds)) {
    const body = { id, url: `rtsp://127.0.0.1:${server.port}/${id}`, record: true };
    await service.call('POST', '/api/cameras', { token, body });
  }
  for (const [id, { rateHz, channels }] of Object.entries(kinds)) {
    const [, second] = await until(
      `${id} has two closed files`,
      async () => {
        const { body } = await service.call('GET', `/api/cameras/${id}/archive`, { token });
        const names: string[] = body.map(({ filename }: { filename: string }) => filename);
        const closed = names.filter((name) => !name.includes('ongoing'));
        return closed.length >= 2 && closed;
      },
      { deadlineMs: 60_000 },
    );
    const heard = samplesIn(join(folder, 'recordings', id, second!));
    assert.ok(heard.length > 3 * rateHz * channels * 2, `${id}: ${heard.length} bytes of sound`);
    assert.ok(samplesIn(inFolder(`${id}.wav`)).includes(heard), `${id}: what is heard is what was sent`);
  }
  assert.equal(await service.stop(), 0);
  assert.equal(service.err(), '');
});
