import assert from 'node:assert/strict';
import { linkSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { closedName, openName } from '../../../src/archive/files/file-name.js';
import { Frames } from '../../../src/archive/frames/frames.js';
import type { Recording } from '../../../src/archive/list/recording.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { RecordingLocator } from '../../../src/archive/play/locator.js';
import { Playback } from '../../../src/archive/play/playback.js';
import { systemClock } from '../../../src/base/clock.js';
import { decodedHashes, sourceHashes } from '../../fmp4/ffmpeg.js';
import type { VideoStream } from '../../support/elementary-stream.js';
import { fixturePath, fixtures } from '../../support/fixtures.js';
import { tempFolder } from '../../support/temp-folder.js';
import { CAMERA_ID, film, START_MS, textOf } from '../filmed.js';
import { framesOf, gapsOf, readAll } from '../frames/read-all.js';
import { InlineRunner } from '../inline-runner.js';
import { nobodyWrites } from '../nobody-writes.js';

/** Four parts of fifteen frames. */
const video = fixtures.h264High();
const FRAME_MS = 1000 / video.frameRateHz;
const source = sourceHashes(fixturePath('h264-high.264'), 'v');
const [FROM_MS, TO_MS] = [START_MS - 1_000, START_MS + 10_000];

/** Frames [first, end) of it. */
const cut = (first: number, end: number): VideoStream => {
  const { dtsTicks: fromTicks } = video.frames[first]!;
  const frames = video.frames.slice(first, end).map((frame) => ({
    ...frame,
    ptsTicks: frame.ptsTicks - fromTicks,
    dtsTicks: frame.dtsTicks - fromTicks,
  }));
  const durationTicks = (video.durationTicks / video.frames.length) * frames.length;
  return { ...video, frames, durationTicks };
};

/** Two boxes' recordings of one camera, as `north` has both. */
const twoBoxes = (t: TestContext) => {
  const archiveDir = tempFolder(t);
  const runner = new InlineRunner();
  const epochs: Record<string, number> = { north: 1, south: 2 };
  const listed = (dir: string, box: string) =>
    new Recordings(
      { archiveDir: dir },
      { runner, live: nobodyWrites, maker: { box, epochsOf: () => () => epochs[box]! } },
    );
  const folder = join(archiveDir, CAMERA_ID);
  const state = { isSouthAway: false };
  const [own, other] = [listed(archiveDir, 'north'), listed(folder, 'south')];
  const unheard: string[] = [];
  const recordings = {
    isShared: true,
    unheard: () => unheard,
    list: async () => {
      const ofSouth = (await other.list('south')).map(
        (one): Recording => (state.isSouthAway ? { ...one, isAway: true } : one),
      );
      return [...(await own.list(CAMERA_ID)), ...ofSouth].sort((a, b) => a.startMs - b.startMs);
    },
    find: (_: string, fileName: string, box: string | null = null) =>
      box === null || box === 'north' ? own.find(CAMERA_ID, fileName) : other.find(box, fileName),
  };
  const locator = new RecordingLocator({ archiveDir, box: 'north' }, { recordings, runner });
  const playback = new Playback({ locator, runner, clock: systemClock });
  const frames = new Frames({ clock: systemClock, locator, runner, whyNot: () => null });
  const write = (box: string, name: string, bytes: Buffer): string => {
    const dir = box === 'north' ? folder : join(folder, box);
    mkdirSync(dir, { recursive: true });
    const path = join(dir, name);
    writeFileSync(path, bytes);
    // By what tells it from this box's own, as if its disk were at hand.
    if (box !== 'north') linkSync(path, `${join(folder, basename(path))} ${box}`);
    return path;
  };
  const put = (box: string, first: number, end: number, lateMs = 0): string => {
    const startMs = START_MS + first * FRAME_MS + lateMs;
    const { bytes, endMs } = film({ video: cut(first, end), startMs });
    return write(box, closedName(startMs, endMs), bytes);
  };
  const putBegun = (box: string, first: number): string =>
    write(box, openName(START_MS + first * FRAME_MS), Buffer.alloc(0));
  const clip = async (fromMs = FROM_MS, toMs = TO_MS): Promise<string[]> => {
    const made = await playback.clip(CAMERA_ID, { fromMs, toMs });
    const pieces: Buffer[] = [];
    for await (const piece of made.read()) pieces.push(piece);
    made.close();
    const path = join(tempFolder(t), 'clip.mp4');
    writeFileSync(path, Buffer.concat(pieces));
    return decodedHashes(path, 'v');
  };
  const playlist = async (): Promise<string> =>
    textOf(await playback.rangePlaylist(CAMERA_ID, { fromMs: FROM_MS, toMs: TO_MS, session: null }));
  const messages = async () =>
    readAll(
      await frames.read(
        CAMERA_ID,
        { fromMs: FROM_MS, toMs: TO_MS, keysOnly: false, everyMs: null, isBackwards: false },
        'eve',
      ),
    );
  const read = async (): Promise<number> => framesOf(await messages()).length;
  return {
    archiveDir,
    epochs,
    unheard,
    state,
    put,
    putBegun,
    clip,
    playlist,
    messages,
    read,
    playback,
    frames,
  };
};

test('over a hand-over each frame that the camera sent is exported, played and handed out once', async (t) => {
  const { put, clip, playlist, read, playback } = twoBoxes(t);
  put('north', 0, 38);
  put('south', 15, 60, 7);
  assert.deepEqual(await clip(), source);
  assert.equal(await read(), 60);
  const segments = (await playlist()).split('\n').filter((line) => line.startsWith('segment.ts'));
  assert.deepEqual(
    segments.map((line) => [line.includes('box=south'), line.match(/seq=(\d+)/)?.[1]]),
    [
      [false, '0'],
      [true, '0'],
      [true, '1'],
      [true, '2'],
    ],
  );
  const query = new URL(segments[1]!, 'http://box/').searchParams;
  const wanted = { fileName: query.get('file')!, box: query.get('box'), seq: Number(query.get('seq')) };
  assert.ok((await playback.segment(CAMERA_ID, wanted)).bytes.length > 188);
  await assert.rejects(playback.segment(CAMERA_ID, { ...wanted, box: 'west' }), { code: 'not_found' });
});

test('over a box that was killed what it had is shown up to there, be the box that has more the earlier one', async (t) => {
  const { put, clip, read } = twoBoxes(t);
  put('south', 15, 37, 5);
  put('north', 0, 60);
  assert.deepEqual(await clip(), source);
  assert.equal(await read(), 60);
});

test('where neither box has some of it there is a gap, and nothing is there twice', async (t) => {
  const { put, clip } = twoBoxes(t);
  put('north', 0, 20);
  put('south', 45, 60);
  const shown = await clip();
  assert.deepEqual(shown, [...source.slice(0, 20), ...source.slice(45)]);
});

test('a recording that can not be played hides none', async (t) => {
  const { put, clip, playlist, read, playback, frames } = twoBoxes(t);
  put('north', 0, 60);
  truncateSync(put('south', 15, 45), 40);
  assert.deepEqual(await clip(), source);
  assert.equal(await read(), 60);
  assert.ok(!(await playlist()).includes('box=south'));
  const moment = await frames.read(CAMERA_ID, { atMs: START_MS + 20 * FRAME_MS, keysOnly: true }, 'eve');
  assert.equal(framesOf(await readAll(moment)).length, 1);
  // What nobody else has is told of where all is wanted, and left out where somebody watches.
  truncateSync(put('south', 30, 60, 5_000), 40);
  assert.equal(await read(), 60);
  await assert.rejects(playback.clip(CAMERA_ID, { fromMs: FROM_MS, toMs: TO_MS }), {
    code: 'recording_unreadable',
  });
});

test('what another box has no more makes no clip shorter: all is listed anew', async (t) => {
  const { put, clip, playlist } = twoBoxes(t);
  put('north', 0, 30);
  const path = put('south', 0, 60, 5_000);
  rmSync(`${join(dirname(dirname(path)), basename(path))} south`);
  await assert.rejects(clip(), { code: 'recording_changed' });
  assert.ok(!(await playlist()).includes('box=south'));
  rmSync(path);
  assert.deepEqual(await clip(), source.slice(0, 30));
});

test('of a moment the picture is that of the later claim, of one that it has not that of the other box', async (t) => {
  const { put, frames, epochs } = twoBoxes(t);
  put('north', 0, 60);
  put('south', 15, 30, 7);
  const wallOf = async (frame: number): Promise<number> => {
    const wanted = { atMs: START_MS + (frame + 0.9) * FRAME_MS, keysOnly: true };
    const [picture] = framesOf(await readAll(await frames.read(CAMERA_ID, wanted, 'eve')));
    return Math.round(picture!.wallUs / 1000 - START_MS);
  };
  const keyMs = (frame: number): number => Math.round(frame * FRAME_MS);
  assert.deepEqual([await wallOf(20), await wallOf(50)], [keyMs(15) + 7, keyMs(45)]);
  epochs['south'] = 0;
  assert.equal(await wallOf(20), keyMs(15));
});

test('of a moment that a box has the picture is shown while another one with a later claim has written nothing of it yet', async (t) => {
  const { put, putBegun, frames } = twoBoxes(t);
  put('north', 0, 60);
  putBegun('south', 30);
  const wanted = { atMs: START_MS + 2_500, keysOnly: true };
  const [picture] = framesOf(await readAll(await frames.read(CAMERA_ID, wanted, 'eve')));
  assert.equal(Math.round(picture!.wallUs / 1000 - START_MS), 2_000);
});

test('where it is not known what a box has, a clip is refused unless all of its time is shown; players get the rest', async (t) => {
  const { put, clip, playlist, read, unheard } = twoBoxes(t);
  put('north', 0, 60);
  unheard.push('south');
  await assert.rejects(clip(), { code: 'box_unavailable', message: /the box south/ });
  assert.match(await playlist(), /segment\.ts/);
  assert.equal(await read(), 60);
  assert.ok((await clip(START_MS + 1, START_MS + 59 * FRAME_MS)).length > 0);
  unheard.pop();
  assert.deepEqual(await clip(), source);
});

test('where the box is away that has a moment no earlier picture is taken for it, and frames of a time say so', async (t) => {
  const { put, frames, messages, playlist, read, state } = twoBoxes(t);
  put('north', 0, 15);
  put('south', 0, 60, 5_000);
  put('north', 0, 15, 9_000);
  const pictureMs = async (atMs: number): Promise<number> => {
    const wanted = { atMs: START_MS + atMs, keysOnly: true };
    const [picture] = framesOf(await readAll(await frames.read(CAMERA_ID, wanted, 'eve')));
    return Math.round(picture!.wallUs / 1000 - START_MS);
  };
  const gaps = async () =>
    gapsOf(await messages())
      .filter(({ fromUs }) => fromUs > START_MS * 1000)
      .map(({ reason, fromUs }) => [reason, Math.round(fromUs / 1000 - START_MS) >= 4_990]);
  assert.equal(await pictureMs(6_000), 5_000 + Math.round(15 * FRAME_MS));
  assert.equal((await gaps()).filter(([reason]) => reason === 'box_unavailable').length, 0);
  state.isSouthAway = true;
  const refused = { code: 'box_unavailable', details: { box: 'south', retryAfterSec: 5 } };
  await assert.rejects(pictureMs(6_000), refused);
  // Its last picture may be that of the gap behind it.
  await assert.rejects(pictureMs(8_500), refused);
  assert.equal(await pictureMs(3_000), 0, 'before it there is nothing of that box');
  assert.equal(await pictureMs(9_100), 9_000);
  assert.equal(await read(), 30);
  assert.deepEqual(
    (await gaps()).filter(([reason]) => reason === 'box_unavailable'),
    [['box_unavailable', true]],
  );
  assert.ok(!(await playlist()).includes('box=south'));
});
