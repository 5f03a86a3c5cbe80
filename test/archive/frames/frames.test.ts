import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { FramesWanted } from '../../../src/archive/frames/selection.js';
import { PictureConfig } from '../../../src/archive/frames/stream-config.js';
import type { Ticks } from '../../../src/base/clock.js';
import { buildAvcc } from '../../../src/codec/avcc.js';
import { keptSound } from '../../../src/flac/flac-track.js';
import { type FlacSink, SoundBlocks } from '../../../src/flac/sound-blocks.js';
import { videoConfigMessage } from '../../../src/wire/config-message.js';
import { streamInfoOf } from '../../fmp4/fragmented-file.js';
import { normaliseAccessUnit } from '../../support/access-units.js';
import type { AudioStream, StreamFrame } from '../../support/elementary-stream.js';
import { fixtures } from '../../support/fixtures.js';
import { tempFolder } from '../../support/temp-folder.js';
import { CAMERA_ID, film, makeArchive, START_MS } from '../filmed.js';
import { FRAGMENT_MS, type TestRecording, writeClosed, writeOpen } from '../recording-file.js';
import { configsOf, framesOf, gapsOf, readAll } from './read-all.js';

/** As recorders keep a camera's samples. */
const keptStream = (sent: AudioStream): AudioStream => {
  const frames: StreamFrame[] = [];
  const sink: FlacSink = {
    flacFrame: (bytes, lengthBytes, ptsTicks) => {
      const kept = Buffer.from(bytes.subarray(0, lengthBytes));
      frames.push({ bytes: kept, isKey: true, ptsTicks, dtsTicks: ptsTicks });
    },
  };
  const blocks = SoundBlocks.of(sent.track, sink)!;
  for (const { bytes, ptsTicks } of sent.frames) blocks.add(bytes, 0, bytes.length, ptsTicks as Ticks, false);
  blocks.flush();
  return { ...sent, track: keptSound(sent.track)!, frames };
};

const wanted = (over: Partial<FramesWanted>): FramesWanted => ({
  ...{ fromMs: START_MS, toMs: START_MS + 60_000, keysOnly: false, everyMs: null, isBackwards: false },
  ...over,
});

/** Recordings of GOPs of two seconds, ten frames each. */
const record = (t: TestContext, ...recordings: Partial<TestRecording>[]) => {
  const archive = makeArchive(t);
  for (const recording of recordings) {
    writeClosed(join(archive.archiveDir, CAMERA_ID), { startMs: START_MS, ...recording });
  }
  const read = async (over: Partial<FramesWanted>) =>
    readAll(await archive.frames.read(CAMERA_ID, wanted(over), 'eve'));
  const secondsOf = async (over: Partial<FramesWanted>) =>
    framesOf(await read(over)).map(({ wallUs }) => Math.round(wallUs / 1000 - START_MS) / 1000);
  return { ...archive, read, secondsOf };
};

test('whole GOPs cover a time', async (t) => {
  const { read } = record(t, { fragments: 10 });
  const messages = await read({ fromMs: START_MS + 3_000, toMs: START_MS + 4_500 });
  const frames = framesOf(messages);
  assert.deepEqual([messages[0]?.type, frames.length], ['config', 20]);
  assert.deepEqual(
    frames.flatMap(({ isKey }, index) => (isKey ? [index] : [])),
    [0, 10],
  );
  assert.deepEqual(
    frames.map(({ wallUs }) => wallUs),
    frames.map((_, index) => (START_MS + 2_000 + index * 200) * 1000),
  );
  assert.ok(frames.every(({ brokeOff }) => !brokeOff));
});

test('keyframes come alone, spaced, none twice, and backwards', async (t) => {
  const { secondsOf } = record(t, { fragments: 10 }, { startMs: START_MS + 10_000, fragments: 10 });
  const all = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18];
  assert.deepEqual(await secondsOf({ keysOnly: true }), all);
  assert.deepEqual(await secondsOf({ keysOnly: true, isBackwards: true }), all.toReversed());
  const spaced = { keysOnly: true, toMs: START_MS + 20_000 };
  assert.deepEqual(await secondsOf({ ...spaced, everyMs: 5_000 }), [0, 4, 10, 14]);
  assert.deepEqual(await secondsOf({ ...spaced, everyMs: 5_000, isBackwards: true }), [14, 10, 4, 0]);
  assert.deepEqual(await secondsOf({ ...spaced, everyMs: 100 }), all);
  assert.deepEqual(await secondsOf({ ...spaced, everyMs: 60_000 }), [0]);
  assert.deepEqual(await secondsOf({ ...spaced, fromMs: START_MS + 3_000, everyMs: 9_000 }), [2, 12]);
});

test('spaced keyframes are, for every step, the newest one by then', async (t) => {
  const { secondsOf } = record(
    t,
    { fragments: 14 },
    { startMs: START_MS + 14_000, fragments: 7, fragmentsAPart: 3, startReason: 'rollover' },
    { startMs: START_MS + 31_000, fragments: 9, fragmentsAPart: 1, startReason: 'camera_away' },
  );
  const times = fc.record({
    fromMs: fc.integer({ min: 0, max: 20_000 }),
    lengthMs: fc.integer({ min: 1, max: 40_000 }),
    everyMs: fc.integer({ min: 200, max: 20_000 }),
  });
  await fc.assert(
    fc.asyncProperty(times, async ({ fromMs, lengthMs, everyMs }) => {
      const range = { fromMs: START_MS + fromMs, toMs: START_MS + fromMs + lengthMs, keysOnly: true };
      const all = await secondsOf(range);
      const expected = new Set<number>();
      for (let stepMs = fromMs; stepMs < fromMs + lengthMs; stepMs += everyMs) {
        const newest = all.findLast((seconds) => seconds * 1000 <= stepMs);
        if (newest !== undefined) expected.add(newest);
      }
      assert.deepEqual(await secondsOf({ ...range, everyMs }), [...expected]);
    }),
    { numRuns: 40 },
  );
});

test('a moment is shown by the keyframe before it and what follows up to it, or by the keyframe alone', async (t) => {
  const { frames } = record(t, { fragments: 10 });
  const at = async (atMs: number, keysOnly: boolean) =>
    framesOf(await readAll(await frames.read(CAMERA_ID, { atMs: START_MS + atMs, keysOnly }, 'eve'))).map(
      ({ wallUs }) => wallUs / 1000 - START_MS,
    );
  assert.deepEqual(await at(4_500, false), [4_000, 4_200, 4_400]);
  assert.deepEqual(await at(4_400, false), [4_000, 4_200, 4_400]);
  assert.deepEqual(await at(4_399, false), [4_000, 4_200]);
  assert.deepEqual(await at(4_000, false), [4_000]);
  assert.deepEqual(await at(3_999, true), [2_000]);
  await assert.rejects(at(-1, true), { code: 'not_found' });
});

test('gaps are told where they were, with their reasons; a moment in one gets the last picture, and why', async (t) => {
  const { read, frames } = record(
    t,
    { fragments: 2 },
    { startMs: START_MS + 2_000, fragments: 4, startReason: 'rollover' },
    { startMs: START_MS + 30_000, fragments: 2, startReason: 'camera_away' },
  );
  const us = (seconds: number): number => (START_MS + seconds * 1000) * 1000;
  const gap = { type: 'gap', stream: 1, fromUs: us(6), toUs: us(30), reason: 'camera_away' };
  const range = { fromMs: START_MS, toMs: START_MS + 32_000 };
  const messages = await read(range);
  assert.deepEqual(gapsOf(messages), [gap]);
  assert.equal(
    framesOf(
      messages.slice(
        0,
        messages.findIndex(({ type }) => type === 'gap'),
      ),
    ).length,
    30,
  );
  assert.deepEqual(
    framesOf(messages).flatMap(({ brokeOff }, index) => (brokeOff ? [index] : [])),
    [0, 30],
  );
  assert.equal(configsOf(messages).length, 1);
  const backwards = await read({ ...range, isBackwards: true });
  assert.equal(
    framesOf(
      backwards.slice(
        0,
        backwards.findIndex(({ type }) => type === 'gap'),
      ),
    ).length,
    10,
  );
  const moment = await readAll(
    await frames.read(CAMERA_ID, { atMs: START_MS + 20_000, keysOnly: true }, 'eve'),
  );
  assert.deepEqual(
    moment.map(({ type }) => type),
    ['config', 'frame', 'gap'],
  );
  await assert.rejects(read({ fromMs: START_MS + 7_000, toMs: START_MS + 20_000 }), { code: 'not_found' });
});

test('of a file that is being written all that is whole is there, as one that is closed amid a reading', async (t) => {
  const { frames, archiveDir, time } = record(t);
  const name = writeOpen(join(archiveDir, CAMERA_ID), { startMs: START_MS, fragments: 7 });
  time.nowMs = START_MS + 7_500;
  const range = wanted({ toMs: START_MS + 10_000 });
  const read = async () => framesOf(await readAll(await frames.read(CAMERA_ID, range, 'eve')));
  assert.equal((await read()).length, 35);
  const moment = { atMs: START_MS + 6_500, keysOnly: false };
  assert.equal(framesOf(await readAll(await frames.read(CAMERA_ID, moment, 'eve'))).length, 3);
  const reading = await frames.read(CAMERA_ID, range, 'eve');
  const folder = join(archiveDir, CAMERA_ID);
  renameSync(join(folder, name), join(folder, name.replace('ongoing', 'to_08-30-07')));
  assert.equal(framesOf(await readAll(reading)).length, 35);
});

test('a moment is shown by what was recorded before it while nothing is written yet of the file that follows', async (t) => {
  const { frames, putClosed, putOpen, time } = makeArchive(t);
  time.nowMs = START_MS + 5_000;
  putClosed(film({ video: fixtures.h264High() }));
  const at = async (atMs: number): Promise<number> => {
    const moment = { atMs: START_MS + atMs, keysOnly: true };
    const [frame] = framesOf(await readAll(await frames.read(CAMERA_ID, moment, 'eve')));
    return Math.round(frame!.wallUs / 1000 - START_MS);
  };
  const next = film({ video: fixtures.h264High(), startMs: START_MS + 4_000 });
  // The beginning, all that describes it, and most of its first picture.
  for (const bytes of [0, 300, 693, 793, next.parts[0]!.startBytes + 1_000]) {
    putOpen(next, bytes);
    assert.deepEqual([await at(3_900), await at(4_100)], [3_000, 3_000]);
  }
});

test('another description is told where it begins, in either direction', async (t) => {
  const { frames, putClosed } = makeArchive(t);
  const first = film({ video: fixtures.h264High(), audio: fixtures.aac() });
  const second = film({ video: fixtures.h265Main(), startMs: first.endMs });
  const third = film({ video: fixtures.h265Main(), startMs: second.endMs });
  for (const filmed of [first, second, third]) putClosed(filmed);
  const kinds = async (isBackwards: boolean) => {
    const all = wanted({ keysOnly: true, isBackwards, toMs: third.endMs });
    return (await readAll(await frames.read(CAMERA_ID, all, 'eve'))).map((message) =>
      message.type === 'config' ? message.codec.slice(0, 4) : message.type[0],
    );
  };
  const keys = (count: number) => Array.from({ length: count }, () => 'f');
  assert.deepEqual(await kinds(false), ['avc1', ...keys(4), 'hvc1', ...keys(8)]);
  assert.deepEqual(await kinds(true), ['hvc1', ...keys(8), 'avc1', ...keys(4)]);
});

test('G.711, which is recorded as FLAC, is there with what its decoder needs, block by block', async (t) => {
  const { frames, putClosed } = makeArchive(t);
  const audio = keptStream(fixtures.pcmu());
  const filmed = film({ video: fixtures.h264High(), audio });
  putClosed(filmed);
  const messages = await readAll(await frames.read(CAMERA_ID, wanted({ toMs: filmed.endMs }), 'eve'));
  assert.deepEqual(
    framesOf(messages, 2).map(({ bytes }) => bytes),
    audio.frames.map(({ bytes }) => bytes),
  );
  const config = configsOf(messages).find(({ stream }) => stream === 2);
  assert.deepEqual([config?.codec, config?.width, config?.height], ['flac', 1, 0]);
  const file = join(tempFolder(t), 'sound.flac');
  writeFileSync(file, Buffer.concat([config!.description, ...audio.frames.map(({ bytes }) => bytes)]));
  const samples = spawnSync('ffmpeg', ['-v', 'error', '-i', file, '-f', 's16le', '-']);
  assert.deepEqual([samples.stdout.length, `${samples.stderr}`], [2 * 16_000, '']);
});

test('the config of a keyframe has the parameter sets that it brings along', () => {
  const [video, other] = [fixtures.h264High(), fixtures.h264OtherPps()];
  const config = new PictureConfig({ codec: 'h264', config: buildAvcc(streamInfoOf(video, null).video) });
  const bare = normaliseAccessUnit('h264', video.frames[0]!.bytes);
  const withSets = other.frames[0]!.bytes;
  const first = config.messageFor(bare);
  assert.deepEqual(first, videoConfigMessage(1, streamInfoOf(video, null).video));
  assert.deepEqual(config.messageFor(video.frames[0]!.bytes), first);
  const changed = config.messageFor(withSets);
  assert.deepEqual(changed, videoConfigMessage(1, streamInfoOf(other, null).video));
  assert.notDeepEqual(changed, first);
});

test('so many are read at once, of one viewer and of all, and no more', async (t) => {
  const { frames } = record(t, { fragments: 4 });
  const open = (viewer: string) => frames.read(CAMERA_ID, wanted({}), viewer);
  const mine = await Promise.all(Array.from({ length: 24 }, () => open('eve')));
  await assert.rejects(open('eve'), { code: 'archive_busy' });
  const others = await Promise.all(Array.from({ length: 72 }, (_, at) => open(`viewer ${at % 6}`)));
  await assert.rejects(open('mallory'), { code: 'archive_busy' });
  mine[0]!.close();
  mine[0]!.close();
  assert.equal(framesOf(await readAll(await open('eve'))).length, 20);
  for (const reading of [...mine, ...others]) reading.close();
  assert.equal(frames.open, 0);
});

test('nothing is read beyond what is sent and one batch more, and nothing once it is closed', async (t) => {
  const { frames, runner } = record(t, { fragments: 400, fragmentsAPart: 4, frameBytes: 20_000 });
  const reading = await frames.read(CAMERA_ID, wanted({ toMs: START_MS + 400 * FRAGMENT_MS }), 'eve');
  const batches = reading.read();
  const first = await batches.next();
  const bytes = (first.value as Buffer).length;
  assert.ok(bytes >= 512 << 10 && bytes < 600_000, `${bytes} bytes at once`);
  await new Promise((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(runner.countOf('readFrames'), 2);
  reading.close();
  await batches.next();
  await assert.rejects(batches.next());
  assert.equal(runner.countOf('readFrames'), 2);
});
