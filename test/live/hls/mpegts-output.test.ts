import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { AudioStream, VideoStream } from '../../support/elementary-stream.js';
import { fixturePath, fixtures } from '../../support/fixtures.js';
import { FIRST, fileBytes, HlsCamera, makeHls, viewer } from './hls-camera.js';
import { addressesOf, parse } from './playlist-reader.js';

const run = (tool: 'ffmpeg' | 'ffprobe', ...args: readonly string[]): string => {
  const { stdout, stderr, status } = spawnSync(tool, ['-v', 'warning', ...args], { encoding: 'utf8' });
  assert.equal(stderr, '', `${tool} ${args.join(' ')}`);
  assert.equal(status, 0);
  return stdout;
};

/** What the pictures look like: hashes alone, without times. */
const picturesOf = (...input: readonly string[]): string[] =>
  run('ffmpeg', ...input, '-map', '0:v', '-fps_mode', 'passthrough', '-f', 'framemd5', '-')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(',').at(-1)!.trim());

const cases: readonly {
  name: string;
  file: string;
  video: () => VideoStream;
  audio: (() => AudioStream) | null;
  format: string;
}[] = [
  {
    name: 'H.264 with AAC',
    file: 'h264-high.264',
    video: fixtures.h264High,
    audio: fixtures.aac,
    format: 'h264',
  },
  {
    name: 'H.264 with B-frames',
    file: 'h264-bframes.264',
    video: fixtures.h264BFrames,
    audio: fixtures.aac,
    format: 'h264',
  },
  {
    name: 'H.265',
    file: 'h265-main.265',
    video: fixtures.h265Main,
    audio: fixtures.aac,
    format: 'hevc',
  },
];

describe('ffmpeg reads what live HLS serves', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hls-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const { name, file, video, audio, format } of cases) {
    test(`${name}: both outputs show each picture once, in order, and join cleanly`, async () => {
      const { clock, cameras, hls, errors } = makeHls();
      const camera = new HlsCamera(clock, video(), audio?.() ?? null);
      cameras.set('door', camera);
      const first = hls.video('door', viewer);
      camera.play(8.5);
      await first;
      const source = picturesOf('-f', format, '-i', fixturePath(file));
      const expected = [...source, ...source];

      const ts = addressesOf(parse(await hls.video('door', viewer)));
      assert.deepEqual(ts, [
        `segment_${FIRST}.ts`,
        `segment_${FIRST + 1}.ts`,
        `segment_${FIRST + 2}.ts`,
        `segment_${FIRST + 3}.ts`,
      ]);
      const tsBytes = await Promise.all(ts.map(async (address) => await fileBytes(hls, address)));
      const tsPath = join(folder, 'joined.ts');
      writeFileSync(tsPath, Buffer.concat(tsBytes));
      assert.deepEqual(picturesOf('-i', tsPath), expected);

      const mp4 = addressesOf(parse(await hls.lowLatency('door', viewer, null)));
      assert.deepEqual(mp4, [
        `segment_${FIRST}.m4s`,
        `segment_${FIRST + 1}.m4s`,
        `segment_${FIRST + 2}.m4s`,
        `segment_${FIRST + 3}.m4s`,
      ]);
      const init = await fileBytes(hls, `init_${FIRST}.mp4`);
      const mp4Bytes = await Promise.all(mp4.map(async (address) => await fileBytes(hls, address)));
      const mp4Path = join(folder, 'joined.mp4');
      writeFileSync(mp4Path, Buffer.concat([init, ...mp4Bytes]));
      assert.deepEqual(picturesOf('-i', mp4Path), expected);
      const entry = run(
        'ffprobe',
        '-select_streams',
        'v',
        '-show_entries',
        'stream=codec_tag_string',
        '-of',
        'csv=p=0',
        mp4Path,
      );
      assert.equal(entry.trim(), format === 'hevc' ? 'hvc1' : 'avc1');
      for (const path of [tsPath, mp4Path]) {
        const audioCodec = run(
          'ffprobe',
          '-select_streams',
          'a',
          '-show_entries',
          'stream=codec_name',
          '-of',
          'csv=p=0',
          path,
        );
        assert.equal(audioCodec.trim().split('\n')[0], 'aac');
      }
      assert.deepEqual(errors, []);
      hls.stop();
    });
  }
});
