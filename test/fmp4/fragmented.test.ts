import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AudioStream, VideoStream } from '../support/elementary-stream.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { decodedHashes, packetsOf, runQuietly, sourceHashes } from './ffmpeg.js';
import { recordFile, START_WALL_MS, samplesOf, scanFile, streamInfoOf } from './fragmented-file.js';

const ORIGIN_TICKS = 123_456_789_012;

const cases: Readonly<
  Record<string, { video: () => VideoStream; audio: () => AudioStream | null; raw: string }>
> = {
  'H.264 with AAC': { video: fixtures.h264High, audio: fixtures.aac, raw: 'h264-high.264' },
  'H.264 with two slices a picture': {
    video: fixtures.h264Baseline,
    audio: () => null,
    raw: 'h264-baseline.264',
  },
  'H.264 with B-frames and AAC': {
    video: fixtures.h264BFrames,
    audio: fixtures.aac,
    raw: 'h264-bframes.264',
  },
  'H.265 with AAC': { video: fixtures.h265Main, audio: fixtures.aac, raw: 'h265-main.265' },
};

for (const [name, { video, audio, raw }] of Object.entries(cases)) {
  test(`${name}: ffprobe and ffmpeg see in the file what the camera sent`, (t) => {
    const samples = samplesOf(video(), audio(), ORIGIN_TICKS);
    const file = recordFile(streamInfoOf(video(), audio()?.track ?? null), samples, {
      maxSamples: 20,
      originTicks: ORIGIN_TICKS,
    });
    const path = join(tempFolder(t), 'file.mp4');
    writeFileSync(path, file);
    const expected = samples
      .filter(({ track }) => track === 0)
      .map(({ dtsTicks, ptsTicks, bytes, isKey }) => ({
        pts: ptsTicks - ORIGIN_TICKS,
        dts: dtsTicks - ORIGIN_TICKS,
        duration: 6000,
        size: bytes.length,
        isKey,
      }));
    assert.deepEqual(packetsOf(path, 'v'), expected);
    assert.deepEqual(decodedHashes(path, 'v'), sourceHashes(fixturePath(raw), 'v'));
    if (audio() === null) return;
    const frames = audio()!.frames;
    assert.deepEqual(
      packetsOf(path, 'a'),
      frames.map(({ ptsTicks, bytes }) => ({
        pts: ptsTicks,
        dts: ptsTicks,
        duration: 1024,
        size: bytes.length,
        isKey: true,
      })),
    );
    assert.deepEqual(decodedHashes(path, 'a'), sourceHashes(fixturePath('aac-48k.aac'), 'a'));
  });
}

for (const codec of ['pcmu', 'pcma'] as const) {
  test(`${codec} beside H.264 comes out of ffmpeg as it was sent`, (t) => {
    const [video, audio] = [fixtures.h264High(), fixtures[codec]()];
    const file = recordFile(streamInfoOf(video, audio.track), samplesOf(video, audio), { maxSamples: 40 });
    const path = join(tempFolder(t), 'file.mp4');
    writeFileSync(path, file);
    assert.equal(packetsOf(path, 'a').length, audio.frames.length);
    const name = codec === 'pcmu' ? 'pcmu-8k.ulaw' : 'pcma-8k.alaw';
    const copied = runQuietly(
      'ffmpeg',
      ['-i', path, '-map', '0:a', '-c', 'copy', '-f', 'data', '-'],
      'latin1',
    );
    assert.ok(Buffer.from(copied, 'latin1').equals(readFileSync(fixturePath(name))));
  });
}

test('the scanner reads heads alone and finds every sample, its bytes and the wall time', () => {
  const [video, audio] = [fixtures.h264BFrames(), fixtures.aac()];
  const samples = samplesOf(video, audio, ORIGIN_TICKS);
  const file = recordFile(streamInfoOf(video, audio.track), samples, {
    maxSamples: 30,
    originTicks: ORIGIN_TICKS,
  });
  const { scanner } = scanFile(file);
  assert.equal(scanner.fault, null);
  assert.equal(scanner.wholeBytes, file.length);
  assert.deepEqual(
    scanner.movie!.tracks.map(({ codec, timescaleHz, width, height, channels }) => [
      codec,
      timescaleHz,
      width,
      height,
      channels,
    ]),
    [
      ['h264', 90_000, 320, 180, 0],
      ['aac', 48_000, 0, 0, 2],
    ],
  );
  assert.deepEqual(scanner.movie!.tracks[1]!.config, audio.track.config);
  for (const track of [0, 1] as const) {
    const columns = scanner.columns[track]!;
    const sent = samples.filter((sample) => sample.track === track);
    assert.equal(columns.count, sent.length);
    for (const [index, sample] of sent.entries()) {
      const offset = columns.offsetBytes[index]!;
      assert.ok(file.subarray(offset, offset + columns.sizeBytes[index]!).equals(sample.bytes));
      assert.equal(columns.dtsTicks[index], sample.dtsTicks - (track === 0 ? ORIGIN_TICKS : 0));
      assert.equal(columns.compositionTicks[index], sample.ptsTicks - sample.dtsTicks);
      assert.equal(columns.isKey[index] === 1, sample.isKey);
    }
  }
  for (const { wall } of scanner.fragments) {
    if (wall === null) continue;
    assert.ok(Math.abs(wall.wallMs - (START_WALL_MS + wall.wallTicks / 90)) < 0.002);
  }
  assert.ok(scanner.fragments[0]!.wall !== null);
});
