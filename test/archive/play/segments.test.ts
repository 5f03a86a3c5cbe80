import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { START_OFFSET_TICKS } from '../../../src/mpegts/timestamp.js';
import { decodedHashes, packetsOf, runQuietly, sourceHashes } from '../../fmp4/ffmpeg.js';
import { samplesOf } from '../../fmp4/fragmented-file.js';
import { demux } from '../../mpegts/demuxer.js';
import { fixturePath, fixtures } from '../../support/fixtures.js';
import { tempFolder } from '../../support/temp-folder.js';
import { CAMERA_ID, film, makeArchive } from '../filmed.js';

const VIDEO_PID = 0x100;
const MAX_CLOCK_STEP_TICKS = 9_000;

const cases = {
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
} as const;

for (const [name, { video, audio, raw }] of Object.entries(cases)) {
  test(`${name}: the segments joined are the recording, and each plays alone`, async (t) => {
    const { playback, putClosed } = makeArchive(t);
    const { parts, ...filmed } = film({ video: video(), audio: audio() });
    const fileName = putClosed({ parts, ...filmed });
    const folder = tempFolder(t);
    const segments: Buffer[] = [];
    for (const seq of parts.keys()) {
      const { bytes } = await playback.segment(CAMERA_ID, { fileName, seq });
      const path = join(folder, `${seq}.ts`);
      writeFileSync(path, bytes);
      assert.equal(decodedHashes(path, 'v').length, 15, `pictures of segment ${seq} alone`);
      segments.push(bytes);
    }
    const joined = join(folder, 'joined.ts');
    writeFileSync(joined, Buffer.concat(segments));
    assert.deepEqual(decodedHashes(joined, 'v'), sourceHashes(fixturePath(raw), 'v'));
    assert.equal(runQuietly('ffmpeg', ['-xerror', '-i', joined, '-f', 'null', '-']), '');

    const { pes, clocks } = demux(...segments);
    const samples = samplesOf(video(), null);
    assert.deepEqual(
      pes.filter(({ pid }) => pid === VIDEO_PID).map(({ pts, dts }) => ({ pts, dts })),
      samples.map(({ ptsTicks, dtsTicks }) => ({
        pts: ptsTicks + START_OFFSET_TICKS,
        dts: dtsTicks + START_OFFSET_TICKS,
      })),
    );
    assert.equal(pes.filter(({ isDiscontinuity }) => isDiscontinuity).length, 0);
    for (const [index, clock] of clocks.entries()) {
      if (index === 0) continue;
      const stepTicks = clock - clocks[index - 1]!;
      assert.ok(stepTicks > 0 && stepTicks <= MAX_CLOCK_STEP_TICKS, `clock ${index} is ${stepTicks} later`);
    }
    const frames = audio()?.frames ?? [];
    if (frames.length > 0) {
      assert.deepEqual(
        packetsOf(joined, 'a').map(({ size }) => size - 7),
        frames.map(({ bytes }) => bytes.length),
      );
      assert.deepEqual(decodedHashes(joined, 'a'), sourceHashes(fixturePath('aac-48k.aac'), 'a'));
    }
  });
}

test('a part is muxed the same, whether its file is open, without index, or closed', async (t) => {
  const { playback, putClosed, putOpen } = makeArchive(t);
  const closed = film({ video: fixtures.h264High(), audio: fixtures.aac() });
  const bare = film({
    video: fixtures.h264High(),
    audio: fixtures.aac(),
    hasIndex: false,
    startMs: closed.startMs + 60_000,
  });
  const open = film({
    video: fixtures.h264High(),
    audio: fixtures.aac(),
    hasIndex: false,
    startMs: closed.startMs + 120_000,
  });
  const names = [putClosed(closed), putClosed(bare), putOpen(open)];
  for (const seq of [0, 1, 2]) {
    const segments = await Promise.all(
      names.map((fileName) => playback.segment(CAMERA_ID, { fileName, seq })),
    );
    assert.deepEqual(segments[1]!.bytes, segments[0]!.bytes);
    assert.deepEqual(segments[2]!.bytes, segments[0]!.bytes);
    assert.equal(new Set(segments.map(({ etag }) => etag)).size, 3);
    const again = await playback.segment(CAMERA_ID, { fileName: names[0]!, seq });
    assert.equal(again.etag, segments[0]!.etag);
  }
});

test('a number that no part has is refused, and so is a name that is none', async (t) => {
  const { playback, putClosed } = makeArchive(t);
  const fileName = putClosed(film({ video: fixtures.h264High() }));
  for (const seq of [-1, 4, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
    await assert.rejects(playback.segment(CAMERA_ID, { fileName, seq }), { code: 'bad_seq' }, String(seq));
  }
  for (const name of ['', '../door.mp4', `../door/${fileName}`, `${fileName}\0`, '/etc/passwd']) {
    await assert.rejects(playback.segment(CAMERA_ID, { fileName: name, seq: 0 }), { code: 'bad_file_name' });
  }
  for (const cameraId of ['nobody', '..', '.', '../door', '']) {
    await assert.rejects(playback.segment(cameraId, { fileName, seq: 0 }), { code: 'not_found' }, cameraId);
  }
  const other = fileName.replace('08-30-00', '08-30-01');
  await assert.rejects(playback.segment(CAMERA_ID, { fileName: other, seq: 0 }), { code: 'not_found' });
});
