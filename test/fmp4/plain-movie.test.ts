import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PlainMovie } from '../../src/fmp4/plain-movie.js';
import { SampleColumns } from '../../src/fmp4/sample-columns.js';
import type { AudioStream, VideoStream } from '../support/elementary-stream.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { decodedHashes, packetsOf, runQuietly, sourceHashes } from './ffmpeg.js';
import { recordFile, samplesOf, scanFile, streamInfoOf } from './fragmented-file.js';
import { exportOf, shiftsOf } from './plain-export.js';

const recorded = (video: VideoStream, audio: AudioStream | null) => {
  const file = recordFile(streamInfoOf(video, audio?.track ?? null), samplesOf(video, audio), {
    maxSamples: 30,
  });
  return { file, scanner: scanFile(file).scanner };
};

const formatDuration = (path: string): number =>
  Number(runQuietly('ffprobe', ['-show_entries', 'format=duration', '-of', 'csv=p=0', path]));

const cases = {
  'H.264': { video: fixtures.h264High, audio: () => null, raw: 'h264-high.264' },
  'H.264 with B-frames and AAC': {
    video: fixtures.h264BFrames,
    audio: fixtures.aac,
    raw: 'h264-bframes.264',
  },
  'H.265 with AAC': { video: fixtures.h265Main, audio: fixtures.aac, raw: 'h265-main.265' },
} as const;

for (const [name, { video, audio, raw }] of Object.entries(cases)) {
  test(`${name}: an export holds the same frames, from time 0, with exact durations`, (t) => {
    const source = recorded(video(), audio());
    const { file } = source;
    const plan = exportOf([{ file, shiftTicks: shiftsOf(file) }]);
    const exported = plan.bytes;
    assert.equal(exported.length, plan.contentBytes);
    const path = join(tempFolder(t), 'export.mp4');
    writeFileSync(path, exported);
    const samples = samplesOf(video(), null);
    const startTicks = samples[0]!.ptsTicks;
    assert.deepEqual(
      packetsOf(path, 'v'),
      samples.map(({ dtsTicks, ptsTicks, bytes, isKey }) => ({
        pts: ptsTicks - startTicks,
        dts: dtsTicks - startTicks,
        duration: 6000,
        size: bytes.length,
        isKey,
      })),
    );
    assert.deepEqual(decodedHashes(path, 'v'), sourceHashes(fixturePath(raw), 'v'));
    assert.ok(Math.abs(formatDuration(path) * 1000 - plan.durationMs) < 1);
    if (startTicks > 0) return;
    const frames = audio()?.frames ?? [];
    assert.equal(plan.durationMs, Math.max(4000, (frames.length * 1024) / 48));
    if (frames.length === 0) return;
    assert.deepEqual(
      packetsOf(path, 'a').map(({ pts, size }) => [pts, size]),
      frames.map(({ ptsTicks, bytes }) => [ptsTicks, bytes.length]),
    );
    assert.deepEqual(decodedHashes(path, 'a'), sourceHashes(fixturePath('aac-48k.aac'), 'a'));
  });
}

test('a cut of two files joins them, and what comes before the first picture is trimmed', (t) => {
  const first = recorded(fixtures.h264High(), fixtures.aac());
  const second = recorded(fixtures.h264High(), fixtures.aac());
  const key = first.scanner.columns[0]!.isKey.indexOf(1, 20);
  const { bytes } = exportOf([
    { file: first.file, from: [key, 90], shiftTicks: [-2 * 90_000, -2 * 48_000] },
    { file: second.file, shiftTicks: [2 * 90_000, fixtures.aac().frames.length * 1024 - 2 * 48_000] },
  ]);
  const path = join(tempFolder(t), 'export.mp4');
  writeFileSync(path, bytes);
  const source = sourceHashes(fixturePath('h264-high.264'), 'v');
  assert.deepEqual(decodedHashes(path, 'v'), [...source.slice(key), ...source]);
  const packets = packetsOf(path, 'v');
  assert.deepEqual(
    packets.map(({ pts }) => pts),
    packets.map((_, index) => index * 6000),
  );
  // 90 frames of AAC are 1.92 s, 80 ms before the keyframe at 2 s: nearly four of them aren't heard.
  const audio = packetsOf(path, 'a');
  assert.equal(audio.find(({ pts }) => pts >= 0)!.pts, 94 * 1024 - 2 * 48_000);
});

test('beyond 4 GB offsets and sizes have 64 bits', () => {
  const columns = new SampleColumns();
  for (let index = 0; index < 3; index += 1) {
    const at = columns.push();
    columns.dtsTicks[at] = index * 3600;
    columns.durationTicks[at] = 3600;
    columns.sizeBytes[at] = 0x8000_0000;
    columns.offsetBytes[at] = index * 0x8000_0010;
    columns.isKey[at] = 1;
  }
  const { scanner } = recorded(fixtures.h264High(), null);
  const movie = new PlainMovie();
  movie.addTrack(scanner.movie!.tracks[0]!);
  for (let index = 0; index < 3; index += 1) movie.addChunk(0, columns, index, index + 1, 0);
  const plan = movie.finish(null);
  const head = Buffer.from(plan.head);
  assert.equal(plan.contentBytes, head.length + 3 * 0x8000_0000);
  assert.equal(head.readBigUInt64BE(head.length - 8), BigInt(3 * 0x8000_0000 + 16));
  const co64 = head.indexOf('co64') + 12;
  const offsets = [0, 1, 2].map((index) => Number(head.readBigUInt64BE(co64 + index * 8)));
  assert.deepEqual(
    offsets,
    [0, 1, 2].map((index) => head.length + index * 0x8000_0000),
  );
});
