import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { START_OFFSET_TICKS, toTimestamp } from '../../src/mpegts/timestamp.js';
import type { AudioStream, VideoStream } from '../support/elementary-stream.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { demux } from './demuxer.js';
import { earlyTicks, muxAll } from './mux.js';

/** Runs a tool of ffmpeg's; whatever it has to complain about fails the test. */
const run = (tool: 'ffmpeg' | 'ffprobe', ...args: readonly string[]): string => {
  const { stdout, stderr, status } = spawnSync(tool, ['-v', 'warning', ...args], { encoding: 'utf8' });
  assert.equal(stderr, '', `${tool} ${args.join(' ')}`);
  assert.equal(status, 0);
  return stdout;
};

type Packet = { readonly pts: number; readonly dts: number; readonly size: number; readonly flags: string };

const packetsOf = (input: string, stream: 'v' | 'a'): Packet[] => {
  const json = run('ffprobe', '-select_streams', stream, '-show_packets', '-of', 'json', input);
  const { packets } = JSON.parse(json) as { packets: (Omit<Packet, 'size'> & { size: string })[] };
  return packets.map(({ pts, dts, size, flags }) => ({ pts, dts, size: Number(size), flags }));
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
}[] = [
  { name: 'H.264 High with AAC', file: 'h264-high.264', video: fixtures.h264High, audio: fixtures.aac },
  {
    name: 'H.264 Baseline, two slices',
    file: 'h264-baseline.264',
    video: fixtures.h264Baseline,
    audio: null,
  },
  {
    name: 'H.264 with B-frames and AAC',
    file: 'h264-bframes.264',
    video: fixtures.h264BFrames,
    audio: fixtures.aac,
  },
  { name: 'H.265 with AAC', file: 'h265-main.265', video: fixtures.h265Main, audio: fixtures.aac },
];

describe('ffmpeg reads our segments', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mpegts-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const { name, file, video, audio } of cases) {
    for (const continuity of ['carried', 'standalone'] as const) {
      test(`${name}, ${continuity}: times exact, pictures as in the source, joins clean`, () => {
        const segments = muxAll(video(), audio?.() ?? null, continuity);
        assert.equal(segments.length, 4);
        const paths = segments.map(({ bytes }, index) => {
          const path = join(folder, `${continuity}-${index}.ts`);
          writeFileSync(path, bytes);
          return path;
        });
        const joined = `concat:${paths.join('|')}`;
        const packets = packetsOf(joined, 'v');
        const source = video().frames;
        const early = earlyTicks(video());
        assert.deepEqual(
          packets.map(({ pts, dts, flags }) => [pts, dts, flags.startsWith('K')]),
          source.map((frame) => [
            frame.ptsTicks + START_OFFSET_TICKS,
            frame.dtsTicks - early + START_OFFSET_TICKS,
            frame.isKey,
          ]),
        );
        assert.deepEqual(picturesOf('-i', joined), picturesOf('-i', fixturePath(file)));
        // Each one alone is a segment that plays.
        assert.equal(paths.flatMap((path) => picturesOf('-i', path)).length, source.length);
        if (audio !== null) assertAudio(packetsOf(joined, 'a'), audio());
      });
    }
  }

  test('time goes on over the 33-bit wrap', () => {
    const wrapSeconds = Math.floor((2 ** 33 - START_OFFSET_TICKS) / 90_000) - 2;
    const segments = muxAll(fixtures.h264High(), fixtures.aac(), 'standalone', wrapSeconds);
    const path = join(folder, 'wrap.ts');
    writeFileSync(path, Buffer.concat(segments.map(({ bytes }) => bytes)));
    const expected = fixtures
      .h264High()
      .frames.map(({ ptsTicks }) => toTimestamp(ptsTicks + wrapSeconds * 90_000, 90_000));
    assert.ok(expected.at(0)! > 2 ** 32 && expected.at(-1)! < 2 ** 20, 'the test is about the wrap');
    const video = demux(...segments.map(({ bytes }) => bytes)).pes.filter(({ pid }) => pid === 0x100);
    assert.deepEqual(
      video.map(({ pts }) => pts),
      expected,
    );
    const steps = packetsOf(path, 'v').map(({ pts }, index, all) => pts - (all[index - 1]?.pts ?? pts));
    assert.deepEqual(steps, [0, ...Array.from({ length: 59 }, () => 6000)]);
    assert.equal(picturesOf('-i', path).length, 60);
  });
});

const assertAudio = (packets: readonly Packet[], { frames, clockRateHz }: AudioStream): void => {
  assert.equal(packets.length, frames.length);
  packets.forEach(({ pts, size }, index) => {
    const exact = (frames[index]!.ptsTicks / clockRateHz) * 90_000 + START_OFFSET_TICKS;
    assert.ok(Math.abs(pts - exact) <= 1, `audio frame ${index} is at ${pts}, not ${exact}`);
    assert.equal(size, frames[index]!.bytes.length + 7);
  });
};
