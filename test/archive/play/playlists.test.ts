import assert from 'node:assert/strict';
import { appendFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import * as HLS from 'hls-parser';
import { closedName, openName } from '../../../src/archive/files/file-name.js';
import { RecordedParts } from '../../../src/archive/parts/recorded-parts.js';
import { Playlists } from '../../../src/archive/play/playlist.js';
import { collectGarbage } from '../../../src/base/collect-garbage.js';
import { fixtures } from '../../support/fixtures.js';
import { until } from '../../support/until.js';
import { CAMERA_ID, film, makeArchive, START_MS, textOf } from '../filmed.js';

type MediaPlaylist = HLS.types.MediaPlaylist;

before(() => HLS.setOptions({ strictMode: true }));

const parse = (text: string): MediaPlaylist => {
  const playlist = HLS.parse(text);
  assert.ok(!playlist.isMasterPlaylist);
  return playlist;
};

/** Walks a playlist as a player does: the parts it names, and when each begins by the dates and durations. */
const partsIn = (text: string) => {
  let nextMs = Number.NaN;
  return parse(text).segments.map(({ uri, duration, programDateTime, discontinuity }) => {
    const startMs = programDateTime?.getTime() ?? nextMs;
    nextMs = startMs + duration * 1000;
    const query = new URL(uri, 'http://host/hls/door/').searchParams;
    return {
      file: query.get('file'),
      seq: Number(query.get('seq')),
      startMs,
      duration,
      discontinuity: discontinuity === true,
    };
  });
};

const oneFile = (fileName: string, session: string | null = null) => ({ fileName, session });

for (const [name, video] of Object.entries({
  'in order': fixtures.h264High,
  'with B-frames': fixtures.h264BFrames,
})) {
  test(`a closed file's playlist is whole, with exact times (pictures ${name})`, async (t) => {
    const { playback, putClosed } = makeArchive(t);
    const indexed = film({ video: video(), audio: fixtures.aac() });
    const bare = film({ video: video(), audio: fixtures.aac(), hasIndex: false, startMs: START_MS + 60_000 });
    for (const filmed of [indexed, bare]) {
      const fileName = putClosed(filmed);
      const text = textOf(await playback.archivePlaylist(CAMERA_ID, oneFile(fileName)));
      const playlist = parse(text);
      assert.equal(playlist.playlistType, 'VOD');
      assert.equal(playlist.endlist, true);
      assert.equal(playlist.independentSegments, true);
      assert.equal(playlist.mediaSequenceBase, 0);
      assert.equal(playlist.targetDuration, 1);
      assert.match(text, /^#EXTINF:1\.000000,$/m);
      const firstTicks = filmed.parts[0]!.ptsTicks;
      assert.deepEqual(
        partsIn(text),
        filmed.parts
          .map(({ ptsTicks }, seq) => ({
            file: fileName,
            seq,
            startMs: filmed.startMs + ptsTicks / 90,
            duration:
              (seq < 3 ? filmed.parts[seq + 1]!.ptsTicks - ptsTicks : firstTicks + 360_000 - ptsTicks) /
              90_000,
            discontinuity: false,
          }))
          .map((part) => ({ ...part, startMs: Math.round(part.startMs) })),
      );
    }
  });
}

test('child addresses are relative, and carry the viewing session', async (t) => {
  const { playback, putClosed } = makeArchive(t);
  const fileName = putClosed(film({ video: fixtures.h264High() }));
  const text = textOf(await playback.archivePlaylist(CAMERA_ID, oneFile(fileName, 'a/b&c')));
  assert.deepEqual(
    parse(text).segments.map(({ uri }) => uri),
    [0, 1, 2, 3].map((seq) => `segment.ts?file=${fileName}&seq=${seq}&session=a%2Fb%26c`),
  );
});

test('an open file grows by whole parts, only ever at its end, and goes on to play once it is closed', async (t) => {
  const { playback, runner, putOpen, folder } = makeArchive(t);
  const filmed = film({ video: fixtures.h264BFrames(), audio: fixtures.aac(), hasIndex: false });
  const { bytes, parts, startMs, endMs } = filmed;
  let length = parts[0]!.endBytes;
  const fileName = putOpen(filmed, length);
  const grow = (to: number): void => {
    appendFileSync(join(folder, fileName), bytes.subarray(length, to));
    length = to;
  };
  const get = async (): Promise<string> =>
    textOf(await playback.archivePlaylist(CAMERA_ID, oneFile(fileName)));
  await assert.rejects(get(), { code: 'recording_not_ready' }, 'the first part may go on');
  const borders = [parts[1]!.startBytes + 90, parts[1]!.endBytes, parts[2]!.endBytes, parts[3]!.endBytes];
  const counts: number[] = [];
  let lines: string[] = [];
  for (const to of borders) {
    grow(to);
    const text = await get().catch(() => '');
    if (text === '') continue;
    const playlist = parse(text);
    assert.equal(playlist.playlistType, 'EVENT');
    assert.equal(playlist.endlist, false);
    assert.deepEqual(text.trimEnd().split('\n').slice(0, lines.length), lines, 'nothing but the end changes');
    lines = text.trimEnd().split('\n');
    counts.push(playlist.segments.length);
  }
  assert.deepEqual(counts, [1, 2, 3], 'a part is listed when the next one has begun');
  const froms = runner.inputs.flatMap((input) => (input as { fromBytes?: number }).fromBytes ?? []);
  assert.equal(Math.max(...froms), parts[2]!.startBytes, 'only what is new is read');
  await assert.rejects(playback.segment(CAMERA_ID, { fileName, seq: 3 }), { code: 'bad_seq' });

  renameSync(join(folder, fileName), join(folder, closedName(startMs, endMs)));
  const ended = await get();
  assert.equal(parse(ended).endlist, true);
  assert.deepEqual(
    partsIn(ended).map(({ file, seq }) => [file, seq]),
    [0, 1, 2, 3].map((seq) => [fileName, seq]),
    'under the address that the player has',
  );
  const { bytes: last } = await playback.segment(CAMERA_ID, { fileName, seq: 3 });
  assert.ok(last.length > 0);
});

test('a range joins the parts of its files, and says where times begin anew', async (t) => {
  const { playback, putClosed, time } = makeArchive(t);
  const starts = [0, 4_000, 20_000].map((ms) => START_MS + ms);
  const names = starts.map((startMs) => putClosed(film({ video: fixtures.h264High(), startMs })));
  const get = async (fromMs: number, toMs: number): Promise<string> =>
    textOf(await playback.rangePlaylist(CAMERA_ID, { fromMs, toMs, session: null }));
  const text = await get(START_MS + 2_500, START_MS + 21_001);
  const expected = [
    [names[0], 2, 2_000, false],
    [names[0], 3, 3_000, false],
    [names[1], 0, 4_000, true],
    [names[1], 1, 5_000, false],
    [names[1], 2, 6_000, false],
    [names[1], 3, 7_000, false],
    [names[2], 0, 20_000, true],
    [names[2], 1, 21_000, false],
  ];
  assert.deepEqual(
    partsIn(text).map(({ file, seq, startMs, discontinuity }) => [
      file,
      seq,
      startMs - START_MS,
      discontinuity,
    ]),
    expected,
  );
  assert.equal(parse(text).playlistType, 'VOD');
  // Borders: a range that ends where a part begins has none of it.
  assert.equal(partsIn(await get(START_MS + 1_000, START_MS + 2_000)).length, 1);
  await assert.rejects(get(START_MS + 9_000, START_MS + 19_000), { code: 'not_found' });
  await assert.rejects(get(START_MS, START_MS), { code: 'bad_range' });
  await assert.rejects(get(Number.NaN, START_MS), { code: 'bad_range' });
  await assert.rejects(get(START_MS, START_MS + 86_400_001), { code: 'range_too_large' });
  // Just closed: the next file may be about to begin.
  time.nowMs = START_MS + 25_000;
  assert.equal(parse(await get(START_MS, START_MS + 60_000)).playlistType, 'EVENT');
  time.nowMs = START_MS + 60_000;
  assert.equal(parse(await get(START_MS, START_MS + 60_000)).playlistType, 'VOD');
  // The clock was set back since.
  time.nowMs = START_MS - 3_600_000;
  assert.equal(parse(await get(START_MS, START_MS + 60_000)).playlistType, 'VOD');
});

test('the listed start of a file, which is cut to the millisecond, brings nothing of the file before', async (t) => {
  const { playback, recordings, putClosed } = makeArchive(t);
  const starts = [0.6, 4_000.6, 8_000.6].map((ms) => START_MS + ms);
  const names = starts.map((startMs) => putClosed(film({ video: fixtures.h264High(), startMs })));
  const [, second, third] = (await recordings.list(CAMERA_ID)).map(({ startMs }) => Math.floor(startMs));
  assert.equal(second, START_MS + 4_000);
  const range = { fromMs: second!, toMs: third!, session: null };
  const files = partsIn(textOf(await playback.rangePlaylist(CAMERA_ID, range))).map(({ file }) => file);
  assert.deepEqual(files, [names[1], names[1], names[1], names[1]]);
  // The same at the end, where what begins then is listed to begin a moment later.
  const late = { fromMs: second!, toMs: third! + 1, session: null };
  assert.equal(partsIn(textOf(await playback.rangePlaylist(CAMERA_ID, late))).at(-1)?.file, names[1]);
});

test('a range that reaches past an open file grows; one that ends before is whole', async (t) => {
  const { playback, putClosed, putOpen } = makeArchive(t);
  putClosed(film({ video: fixtures.h264High() }));
  putOpen(film({ video: fixtures.h264High(), startMs: START_MS + 4_000, hasIndex: false }));
  const get = async (toMs: number): Promise<string> =>
    textOf(
      await playback.rangePlaylist(CAMERA_ID, { fromMs: START_MS, toMs: START_MS + toMs, session: null }),
    );
  const growing = parse(await get(60_000));
  assert.equal(growing.playlistType, 'EVENT');
  assert.equal(growing.segments.length, 7, 'the last part is not whole');
  assert.equal(parse(await get(7_000)).playlistType, 'VOD');
  assert.equal(parse(await get(7_000)).segments.length, 7);
});

for (const [name, bytes] of Object.entries({
  'nothing is written yet': Buffer.alloc(0),
  'the beginning alone was written, be it of what describes it': film({
    video: fixtures.h264High(),
  }).bytes.subarray(0, 300),
  'there is nothing but zeros since the power failed': Buffer.alloc(4_096),
}))
  test(`a file of which ${name} hides nothing that was recorded before it`, async (t) => {
    const { playback, subtitles, keyFrames, putClosed, folder, time } = makeArchive(t);
    time.nowMs = START_MS + 5_000;
    putClosed(film({ video: fixtures.h264High() }));
    const fileName = openName(START_MS + 4_000);
    writeFileSync(join(folder, fileName), bytes);
    utimesSync(join(folder, fileName), START_MS / 1_000 + 4, START_MS / 1_000 + 4);
    const range = { fromMs: START_MS, toMs: START_MS + 60_000, session: null };
    const playlist = parse(textOf(await playback.rangePlaylist(CAMERA_ID, range)));
    assert.equal(playlist.segments.length, 4);
    assert.equal(playlist.playlistType, 'EVENT');
    const clip = await playback.clip(CAMERA_ID, { fromMs: range.fromMs, toMs: range.toMs });
    clip.close();
    const notReady = { code: 'recording_not_ready' };
    await assert.rejects(playback.archivePlaylist(CAMERA_ID, oneFile(fileName)), notReady);
    await assert.rejects(playback.segment(CAMERA_ID, { fileName, seq: 0 }), notReady);
    await assert.rejects(subtitles.segmentSubtitles(CAMERA_ID, { fileName, seq: 0 }), notReady);
    await assert.rejects(keyFrames.content(CAMERA_ID, { fileName }), notReady);
  });

test('a range is ended where what has begun behind it was left by somebody long ago, or lies before', async (t) => {
  const { playback, putClosed, putOpen, folder, time } = makeArchive(t);
  putClosed(film({ video: fixtures.h264High() }));
  time.nowMs = START_MS + 3_600_000;
  for (const startMs of [START_MS - 10_000, START_MS + 4_000]) {
    const begun = film({ video: fixtures.h264High(), startMs, hasIndex: false });
    const path = join(folder, putOpen(begun, begun.parts[0]!.endBytes));
    utimesSync(path, startMs / 1_000 + 1, startMs / 1_000 + 1);
    const range = { fromMs: START_MS - 20_000, toMs: START_MS + 60_000, session: null };
    const { playlistType } = parse(textOf(await playback.rangePlaylist(CAMERA_ID, range)));
    assert.equal(playlistType, 'VOD');
    rmSync(path);
  }
});

test('a range is not ended while a file behind it has begun, however long its first part takes', async (t) => {
  const { playback, putClosed, putOpen, folder, time } = makeArchive(t);
  putClosed(film({ video: fixtures.h264High() }));
  const next = film({ video: fixtures.h264High(), startMs: START_MS + 4_000, hasIndex: false });
  const types: unknown[] = [];
  for (const [bytes, passedMs] of [
    [0, 5_000],
    [0, 20_000],
    [next.parts[0]!.endBytes, 24_000],
    [next.parts[2]!.endBytes, 25_000],
  ] as const) {
    const writtenSec = START_MS / 1_000 + Math.min(passedMs / 1_000, 5);
    utimesSync(join(folder, putOpen(next, bytes)), writtenSec, writtenSec);
    time.nowMs = START_MS + passedMs;
    const range = { fromMs: START_MS, toMs: START_MS + 60_000, session: null };
    types.push(parse(textOf(await playback.rangePlaylist(CAMERA_ID, range))).playlistType);
  }
  assert.deepEqual(types, ['EVENT', 'EVENT', 'EVENT', 'EVENT']);
});

/** An hour of GOPs of a second, and what is added to it. */
const hourOfParts = (hour: number, count = 3600): RecordedParts => {
  const parts = new RecordedParts();
  addParts(parts, hour, count);
  return parts;
};
const addParts = (parts: RecordedParts, hour: number, count: number): void => {
  for (let added = 0; added < count; added += 1) {
    const part = parts.count;
    const ticks = part * 90_000 + (part % 7);
    const wallMs = START_MS + hour * 3_600_000 + part * 1000;
    parts.add(part * 500_000, part * 500_000 + 400_000, ticks, ticks + 90_000, wallMs);
  }
};
const sectionOf = (parts: RecordedParts, hour: number) => ({
  fileName: closedName(START_MS + hour * 3_600_000, START_MS + (hour + 1) * 3_600_000),
  box: null,
  parts,
  first: 0,
  end: parts.count,
});

test('of a day that is asked for again and again only what is new is made', () => {
  const day = Array.from({ length: 23 }, (_, hour) => sectionOf(hourOfParts(hour), hour));
  const open = hourOfParts(23, 1000);
  const playlists = new Playlists();
  const options = { cameraId: CAMERA_ID, isEnded: false, session: 'abcdefghijkl' };
  const poll = () => playlists.build([...day, sectionOf(open, 23)], options);
  let before = poll();
  assert.ok(Buffer.concat(before).length > 7_000_000, 'it is large');
  for (let polls = 0; polls < 40; polls += 1) {
    addParts(open, 23, 3);
    const now = poll();
    const fresh = now.filter((piece) => !before.includes(piece)).reduce((sum, { length }) => sum + length, 0);
    // The head, three parts, and now and then all of the open file put together.
    assert.ok(fresh < 150_000, `${fresh} new bytes at poll ${polls}`);
    before = now;
  }
  const anew = new Playlists().build([...day, sectionOf(open, 23)], options);
  assert.ok(Buffer.concat(before).equals(Buffer.concat(anew)));
  // A file that was replaced has another table, and a range that ends sooner has less.
  const other = hourOfParts(40, 1000);
  assert.ok(textOf(playlists.build([sectionOf(other, 23)], options)).includes('2026-11-23'));
  assert.equal(partsIn(textOf(playlists.build([{ ...sectionOf(other, 23), end: 7 }], options))).length, 7);
});

test('what is kept of playlists is bounded, and tells cameras and sessions apart', () => {
  const playlists = new Playlists({ maxBytes: 700_000 });
  const sections = [sectionOf(hourOfParts(0), 0)];
  const build = (session: string | null, cameraId = CAMERA_ID) =>
    playlists.build(sections, { cameraId, isEnded: true, session });
  const [, first] = build('a');
  assert.equal(build('a')[1], first);
  assert.ok(textOf(build('b')).includes('session=b') && !textOf(build('b')).includes('session=a'));
  build(null, 'yard');
  assert.notEqual(build('a')[1], first, 'forgotten for the others');
});

test('what is kept of playlists holds no tables of parts, and nothing small for ever', async () => {
  const playlists = new Playlists({ maxBytes: 1 << 20 });
  let collected = 0;
  const tables = new FinalizationRegistry(() => {
    collected += 1;
  });
  for (let hour = 0; hour < 200; hour += 1) {
    const section = sectionOf(hourOfParts(hour, 3), hour);
    tables.register(section.parts, null);
    playlists.build([section], { cameraId: CAMERA_ID, isEnded: true, session: null });
  }
  await until('the tables are garbage', () => {
    collectGarbage();
    return collected >= 190;
  });
  // So small that the keys, lists and buffers around the text are most of it.
  const first = { ...sectionOf(hourOfParts(1, 1), 1), end: 1 };
  const build = (session: string) =>
    playlists.build([first], { cameraId: CAMERA_ID, isEnded: true, session })[1];
  const kept = build('first');
  for (let viewer = 0; viewer < 2_000; viewer += 1) build(String(viewer));
  assert.notEqual(build('first'), kept);
});
