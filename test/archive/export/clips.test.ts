import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Clip } from '../../../src/archive/export/clip.js';
import { closedName } from '../../../src/archive/files/file-name.js';
import { decodedHashes, packetsOf, runQuietly, sourceHashes } from '../../fmp4/ffmpeg.js';
import { readWithMediabunny, readWithMp4Box } from '../../fmp4/third-party-readers.js';
import { fixturePath, fixtures } from '../../support/fixtures.js';
import { generateVideo } from '../../support/frame-generator.js';
import { looped } from '../../support/looped.js';
import { tempFolder } from '../../support/temp-folder.js';
import { CAMERA_ID, film, makeArchive, START_MS } from '../filmed.js';

const bytesOf = async (clip: Clip, startByte?: number, endByte?: number): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of clip.read(startByte, endByte)) pieces.push(piece);
  return Buffer.concat(pieces);
};

const fileOf = async (t: TestContext, clip: Clip): Promise<string> => {
  const bytes = await bytesOf(clip);
  clip.close();
  assert.equal(bytes.length, clip.contentBytes);
  const path = join(tempFolder(t), 'clip.mp4');
  writeFileSync(path, bytes);
  runQuietly('ffmpeg', ['-xerror', '-i', path, '-f', 'null', '-']);
  return path;
};

const cases = {
  'H.264 with AAC': { video: fixtures.h264High, audio: fixtures.aac, raw: 'h264-high.264' },
  'H.264 with B-frames': { video: fixtures.h264BFrames, audio: () => null, raw: 'h264-bframes.264' },
  'H.265 with AAC': { video: fixtures.h265Main, audio: fixtures.aac, raw: 'h265-main.265' },
} as const;

for (const [name, { video, audio, raw }] of Object.entries(cases)) {
  test(`${name}: a clip of all parts is the recording, one of some is cut at their borders`, async (t) => {
    const { playback, putClosed } = makeArchive(t);
    const fileName = putClosed(film({ video: video(), audio: audio() }));
    const source = sourceHashes(fixturePath(raw), 'v');
    const whole = await playback.clip(CAMERA_ID, { fileName });
    const path = await fileOf(t, whole);
    assert.deepEqual(decodedHashes(path, 'v'), source);
    assert.deepEqual(
      packetsOf(path, 'v').map(({ isKey }) => isKey),
      video().frames.map(({ isKey }) => isKey),
    );
    if (audio() !== null) {
      assert.deepEqual(decodedHashes(path, 'a'), sourceHashes(fixturePath('aac-48k.aac'), 'a'));
    }
    const part = await fileOf(t, await playback.clip(CAMERA_ID, { fileName, startSeq: 1, endSeq: 2 }));
    assert.deepEqual(decodedHashes(part, 'v'), source.slice(15, 45));
    assert.equal(packetsOf(part, 'v')[0]!.pts, 0);
    const duration = runQuietly('ffprobe', ['-show_entries', 'format=duration', '-of', 'csv=p=0', part]);
    assert.ok(Math.abs(Number(duration) - 2) < 0.05, `two seconds, not ${duration}`);
  });
}

test('any byte range is a slice of the whole, and the tag tells clips apart', async (t) => {
  const { playback, putClosed } = makeArchive(t);
  const video = generateVideo({ kbps: 8_000, gops: 3 });
  const fileName = putClosed(film({ video, audio: looped(fixtures.aac(), 1) }));
  const clip = await playback.clip(CAMERA_ID, { fileName });
  const whole = await bytesOf(clip);
  assert.ok(whole.length > 3 << 20, 'several pieces');
  const head = whole.indexOf('mdat') + 4;
  const ranges = [
    [0, 1],
    [head - 5, head + 5],
    [head, head],
    [1000, whole.length - 1000],
    [(1 << 20) - 1, (1 << 20) + 1],
    [whole.length - 1, whole.length],
    [whole.length - 10, whole.length + 10],
    [5, 3],
  ] as const;
  for (const [start, end] of ranges) {
    assert.ok(
      (await bytesOf(clip, start, end)).equals(whole.subarray(start, Math.max(start, end))),
      `${start}-${end}`,
    );
  }
  const again = await playback.clip(CAMERA_ID, { fileName });
  const other = await playback.clip(CAMERA_ID, { fileName, endSeq: 1 });
  assert.equal(again.etag, clip.etag);
  assert.match(clip.etag, /^"[\w-]{20,}"$/);
  assert.notEqual(other.etag, clip.etag);
  clip.close();
  await assert.rejects(bytesOf(clip), /closed/);
});

test('a range over three files has their pictures one behind another, and sound beside them', async (t) => {
  const { playback, putClosed } = makeArchive(t);
  for (const ms of [0, 4_000, 20_000]) {
    putClosed(film({ video: fixtures.h264BFrames(), audio: fixtures.aac(), startMs: START_MS + ms }));
  }
  const clip = await playback.clip(CAMERA_ID, { fromMs: START_MS + 3_000, toMs: START_MS + 22_000 });
  const path = await fileOf(t, clip);
  const source = sourceHashes(fixturePath('h264-bframes.264'), 'v');
  const pictures = decodedHashes(path, 'v');
  // The first picture is shown some time after the file's start: a cut on a whole second takes the part before.
  const first = pictures.length - 30 - 60 > 15 ? 30 : 45;
  const third = pictures.length - (60 - first) - 60;
  assert.deepEqual(pictures, [...source.slice(first), ...source, ...source.slice(0, third)]);
  const packets = packetsOf(path, 'v');
  // Twelve seconds between the second file and the third are in which nothing was recorded.
  const gapAt = pictures.length - third;
  assert.deepEqual(
    packets.map(({ dts }) => dts - packets[0]!.dts),
    packets.map((_, index) => index * 6000 + (index < gapAt ? 0 : 12 * 90_000)),
  );
  const sound = packetsOf(path, 'a');
  const seconds = pictures.length / 15;
  assert.ok(Math.abs(sound.length - (seconds * 48_000) / 1024) < 4, `${sound.length} frames of sound`);
  const last = sound.at(-1)!;
  // Pictures are shown two frames after they are decoded, and the sound was recorded beside the decoding.
  assert.ok(Math.abs((last.pts + 1024) / 48_000 - seconds - 12) < 0.2, 'sound and pictures end together');
  const border = sound.findIndex(({ pts }, index) => pts - (sound[index - 1]?.pts ?? pts) > 2 * 48_000);
  const soundOfGap = [sound[border - 1]!.pts / 48_000, sound[border]!.pts / 48_000];
  const shownSeconds = gapAt / 15;
  assert.ok(
    Math.abs(soundOfGap[0]! - shownSeconds) < 0.3 && Math.abs(soundOfGap[1]! - shownSeconds - 12) < 0.3,
  );
});

/** What ffprobe says of a file and its first two streams. */
const tagsOf = (path: string) => {
  const entries = 'format_tags:stream_tags:format=duration';
  const text = runQuietly('ffprobe', ['-show_entries', entries, '-of', 'json', path]);
  return JSON.parse(text) as {
    format: { duration: string; tags: Record<string, string> };
    streams: { tags: Record<string, string> }[];
  };
};

test('an export says when it was recorded: time in it is wall time, over gaps, too', async (t) => {
  const { playback, putClosed } = makeArchive(t);
  const starts = [0, 4_000, 7_000_000, 50_000_000].map((ms) => START_MS + ms);
  for (const startMs of starts) {
    putClosed(film({ video: fixtures.h264High(), audio: fixtures.aac(), startMs }));
  }
  const clip = await playback.clip(CAMERA_ID, { fromMs: START_MS, toMs: START_MS + 80_000_000 });
  assert.equal(Math.round(clip.durationMs / 1000), 50_004);
  const path = await fileOf(t, clip);
  const { format, streams } = tagsOf(path);
  assert.equal(format.tags['creation_time'], '2026-11-21T08:30:00.000000Z');
  assert.equal(format.tags['com.apple.quicktime.creationdate'], new Date(START_MS).toISOString());
  for (const { tags } of streams) assert.equal(tags['creation_time'], '2026-11-21T08:30:00.000000Z');
  assert.ok(Math.abs(Number(format.duration) - 50_004) < 0.1, format.duration);
  const wallMsOf = (index: number): number => starts[Math.floor(index / 60)]! + ((index % 60) * 1000) / 15;
  const bytes = readFileSync(path);
  const readers = { mp4box: readWithMp4Box(bytes).tracks, mediabunny: await readWithMediabunny(bytes) };
  for (const [name, [video, audio]] of Object.entries(readers)) {
    const shown = video!.samples.map(({ seconds }) => START_MS + seconds * 1000).sort((a, b) => a - b);
    assert.equal(shown.length, 240);
    for (const [index, wallMs] of shown.entries()) {
      assert.ok(Math.abs(wallMs - wallMsOf(index)) < 1, `${name}: picture ${index} at ${wallMs - START_MS}`);
    }
    assert.ok(Math.abs(audio!.samples.at(-1)!.seconds - 50_004) < 0.2, name);
  }
  const seconds = runQuietly('ffprobe', [
    '-select_streams',
    'v',
    '-show_entries',
    'packet=pts_time',
    '-of',
    'csv=p=0',
    path,
  ]);
  for (const [index, line] of seconds.trim().split('\n').entries()) {
    assert.ok(
      Math.abs(START_MS + Number.parseFloat(line) * 1000 - wallMsOf(index)) < 1,
      `ffprobe: ${index} ${line}`,
    );
  }
  assert.equal(decodedHashes(path, 'v').length, 240);
});

test('an open file is exported up to its last whole part, and on while it is closed', async (t) => {
  const { playback, putOpen, folder } = makeArchive(t);
  const filmed = film({ video: fixtures.h264High(), audio: fixtures.aac(), hasIndex: false });
  const fileName = putOpen(filmed);
  const clip = await playback.clip(CAMERA_ID, { fileName });
  const [start, end] = [await bytesOf(clip, 0, 50_000), clip.contentBytes];
  renameSync(join(folder, fileName), join(folder, closedName(filmed.startMs, filmed.endMs)));
  const rest = await bytesOf(clip, 50_000, end);
  const path = join(tempFolder(t), 'clip.mp4');
  writeFileSync(path, Buffer.concat([start, rest]));
  assert.deepEqual(decodedHashes(path, 'v'), sourceHashes(fixturePath('h264-high.264'), 'v').slice(0, 45));
  await assert.rejects(playback.clip(CAMERA_ID, { fileName, startSeq: 2, endSeq: 4 }), { code: 'bad_seq' });
  await assert.rejects(playback.clip(CAMERA_ID, { fileName, startSeq: 2, endSeq: 1 }), { code: 'bad_seq' });
});

test('a file that is deleted, cut or written to while it is read ends the reading with an error', async (t) => {
  const harms = {
    deleted: rmSync,
    cut: (path: string) => truncateSync(path, 9_000),
    'written to': (path: string) => writeFileSync(path, Buffer.alloc(100), { flag: 'a' }),
    replaced: (path: string) => {
      rmSync(path);
      writeFileSync(path, Buffer.alloc(1 << 20));
    },
  };
  for (const [name, harm] of Object.entries(harms)) {
    const { playback, putClosed, folder } = makeArchive(t);
    const fileName = putClosed(film({ video: fixtures.h264High() }));
    const clip = await playback.clip(CAMERA_ID, { fileName });
    harm(join(folder, fileName));
    await assert.rejects(bytesOf(clip), { name: 'AppError' }, name);
  }
});

test('files of different formats make no clip, and the error says where they change', async (t) => {
  const { playback, putClosed } = makeArchive(t);
  putClosed(film({ video: fixtures.h264High() }));
  putClosed(film({ video: fixtures.h265Main(), startMs: START_MS + 4_000 }));
  await assert.rejects(
    playback.clip(CAMERA_ID, { fromMs: START_MS, toMs: START_MS + 8_000 }),
    (fault: Error & { code: string }) =>
      fault.code === 'mixed_formats' && fault.message.includes(new Date(START_MS + 4_000).toISOString()),
  );
});

test('clips that are asked for at the same moment wait for their turn, and all are made', async (t) => {
  const { playback, putClosed } = makeArchive(t);
  const fileName = putClosed(film({ video: fixtures.h264High() }));
  const clips = await Promise.all(Array.from({ length: 12 }, () => playback.clip(CAMERA_ID, { fileName })));
  assert.equal(new Set(clips.map(({ etag }) => etag)).size, 1);
  for (const clip of clips) clip.close();
});

test('only so many clips are open at once, and closing one makes room', async (t) => {
  const { playback, putClosed } = makeArchive(t);
  const fileName = putClosed(film({ video: fixtures.h264High() }));
  const clips: Clip[] = [];
  const busy = async (): Promise<void> => {
    for (;;) clips.push(await playback.clip(CAMERA_ID, { fileName }));
  };
  await assert.rejects(busy(), { code: 'archive_busy' });
  assert.ok(clips.length >= 8);
  clips[0]!.close();
  clips[0]!.close();
  clips.push(await playback.clip(CAMERA_ID, { fileName }));
  await assert.rejects(playback.clip(CAMERA_ID, { fileName }), { code: 'archive_busy' });
});
