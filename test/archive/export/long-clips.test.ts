import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, linkSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { closedName } from '../../../src/archive/files/file-name.js';
import { JobPool } from '../../../src/archive/jobs/job-pool.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { RecordingLocator } from '../../../src/archive/play/locator.js';
import { Playback } from '../../../src/archive/play/playback.js';
import { systemClock } from '../../../src/base/clock.js';
import { FragmentBuilder } from '../../../src/fmp4/fragment.js';
import { AUDIO_TRACK_ID, buildInitSegment, VIDEO_TRACK_ID } from '../../../src/fmp4/init-segment.js';
import { PartTable } from '../../../src/fmp4/part-table.js';
import { buildMfra } from '../../../src/fmp4/random-access.js';
import { streamInfoOf } from '../../fmp4/fragmented-file.js';
import { fixtures } from '../../support/fixtures.js';
import { tempFolder } from '../../support/temp-folder.js';
import { nobodyWrites } from '../nobody-writes.js';

const START_MS = Date.UTC(2026, 10, 21);
const HOUR_MS = 3_600_000;
const PRFT_BYTES = 32;
const [FRAME_BYTES, SOUND_BYTES] = [2_000, 200];
/** 25 pictures and as much sound as AAC has, in a second. */
const [FRAMES, FRAME_TICKS, SOUND_TICKS] = [25, 3_600, 1_024];

/** An hour without media: the heads of its fragments are there, and holes where the pictures and the sound would be. */
const writeHour = (path: string): { pictures: number; sounds: number } => {
  const fd = openSync(path, 'wx');
  const builder = new FragmentBuilder([
    { trackId: VIDEO_TRACK_ID, kind: 'video', originTicks: 0, usualDurationTicks: FRAME_TICKS },
    { trackId: AUDIO_TRACK_ID, kind: 'audio', originTicks: 0, usualDurationTicks: SOUND_TICKS },
  ]);
  const parts = new PartTable();
  const init = buildInitSegment(streamInfoOf(fixtures.h264High(), fixtures.aac().track));
  let at = writeSync(fd, init, 0, init.length, 0);
  let soundTicks = 0;
  for (let second = 0; second < 3_600; second += 1) {
    const ticks = second * FRAMES * FRAME_TICKS;
    builder.setWall(START_MS + second * 1_000, ticks);
    for (let frame = 0; frame < FRAMES; frame += 1) {
      builder.add(0, ticks + frame * FRAME_TICKS, ticks + frame * FRAME_TICKS, FRAME_BYTES, frame === 0);
    }
    for (; soundTicks / 48_000 < second + 1; soundTicks += SOUND_TICKS) {
      builder.add(1, soundTicks, soundTicks, SOUND_BYTES, true);
    }
    parts.add(ticks, at + PRFT_BYTES);
    const head = Buffer.alloc(builder.headBytes);
    const { dataBytes } = builder;
    builder.finish(head, 0, [ticks + FRAMES * FRAME_TICKS, soundTicks]);
    writeSync(fd, head, 0, head.length, at);
    at += head.length + dataBytes;
  }
  const mfra = buildMfra(VIDEO_TRACK_ID, parts);
  writeSync(fd, mfra, 0, mfra.length, at);
  closeSync(fd);
  return { pictures: 3_600 * FRAMES, sounds: soundTicks / SOUND_TICKS };
};

const makeArchive = (t: TestContext) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'door');
  mkdirSync(folder);
  const runner = new JobPool(
    { threads: 1, maxWaiting: 64, patienceMs: null, deadlineMs: 60_000 },
    { clock: systemClock },
  );
  t.after(() => runner.stop());
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites });
  return {
    folder,
    playback: new Playback({
      locator: new RecordingLocator({ archiveDir }, { recordings, runner }),
      runner,
      clock: systemClock,
    }),
  };
};

test('a day with sound is exported, in bounded memory', async (t) => {
  const { folder, playback } = makeArchive(t);
  const nameOf = (hour: number): string =>
    join(folder, closedName(START_MS + hour * HOUR_MS, START_MS + (hour + 1) * HOUR_MS));
  const { pictures, sounds } = writeHour(nameOf(0));
  // The same hour over and over; what its own clock says is far from the name, so that goes by the name.
  for (let hour = 1; hour < 24; hour += 1) linkSync(nameOf(0), nameOf(hour));
  const range = { fromMs: START_MS, toMs: START_MS + 24 * HOUR_MS };
  const before = process.memoryUsage.rss();
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() - before);
  }, 20);
  const clip = await playback.clip('door', range);
  clearInterval(watching);
  t.diagnostic(`${Math.round(most / 1e6)} MB more while it was planned`);
  assert.ok(most < 400e6, `${most} bytes`);
  assert.equal(clip.durationMs, 24 * HOUR_MS);
  assert.ok(clip.contentBytes > 24 * (pictures * FRAME_BYTES + 3_600 * 46 * SOUND_BYTES));

  // What a reader makes of the head; the media behind it is a hole.
  const path = join(tempFolder(t), 'day.mp4');
  const fd = openSync(path, 'wx');
  let headBytes = 0;
  for await (const piece of clip.read(0, 64 << 20)) {
    writeSync(fd, piece, 0, piece.length, headBytes);
    headBytes += piece.length;
  }
  ftruncateSync(fd, clip.contentBytes);
  closeSync(fd);
  assert.equal(statSync(path).size, clip.contentBytes);
  const entries = ['-show_entries', 'stream=nb_frames,duration', '-of', 'csv=p=0'];
  // It says that there is nothing in the pictures.
  const probed = execFileSync('ffprobe', ['-v', 'quiet', ...entries, path], { encoding: 'utf8' });
  const streams = probed.trim().split('\n');
  const [video, audio] = streams.map((line) => line.split(',').map(Number));
  assert.deepEqual([Math.round(video![0]!), video![1]], [86_400, 24 * pictures]);
  assert.ok(Math.abs(audio![0]! - 86_400) < 1 && Math.abs(audio![1]! - 24 * sounds) < 24 * 2, String(audio));

  // And what lies at its end is read like what lies at its beginning.
  let endBytes = 0;
  for await (const piece of clip.read(clip.contentBytes - 3_000_000)) endBytes += piece.length;
  assert.equal(endBytes, 3_000_000);
  clip.close();
});
