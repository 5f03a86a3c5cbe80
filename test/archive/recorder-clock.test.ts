import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import fc from 'fast-check';
import * as HLS from 'hls-parser';
import { closedName, parseRecordingName } from '../../src/archive/files/file-name.js';
import { repairFile } from '../../src/archive/keep/repair-file.js';
import { coverageOf } from '../../src/archive/list/intervals.js';
import type { Recording } from '../../src/archive/list/recording.js';
import { Recordings } from '../../src/archive/list/recordings.js';
import { RecordingLocator } from '../../src/archive/play/locator.js';
import { Playback } from '../../src/archive/play/playback.js';
import type { WallMs } from '../../src/base/clock.js';
import { scanFile } from '../fmp4/fragmented-file.js';
import { tempFolder } from '../support/temp-folder.js';
import { textOf } from './filmed.js';
import { InlineRunner } from './inline-runner.js';
import { nobodyWrites } from './nobody-writes.js';
import { RecordingStudio } from './recording-studio.js';
import { encodeSource, SourceMovie } from './source-movie.js';

const START_MS = Date.parse('2026-11-21T08:30:00.250Z');
const FRAME_MS = 40;
const GOP_MS = 2_000;
const HOUR_MS = 3_600_000;
/** A step that begins no file: the name's end has it, the length of the pictures hasn't. */
const FOLLOWED_MS = 50;

/** The wall clock is set by so much, when so much of the stream is recorded. */
type Step = { readonly atMs: number; readonly byMs: number };

let sourceFolder = '';
let sourcePath = '';
before((t) => {
  sourceFolder = tempFolder(t as never);
  sourcePath = encodeSource(sourceFolder, { codec: 'h264', seconds: 20, framesPerGop: GOP_MS / FRAME_MS });
});

/** Records the source, while its clock is set now and then. */
const shoot = async (archiveDir: string, steps: readonly Step[], fileSeconds: number, lengthMs = 20_000) => {
  const source = new SourceMovie(sourcePath, START_MS);
  const studio = new RecordingStudio(archiveDir, fileSeconds);
  const dates: number[] = [];
  let playedMs = 0;
  const playTo = async (toMs: number): Promise<void> => {
    const first = Math.ceil(playedMs / GOP_MS) * GOP_MS;
    for (let keyMs = first; keyMs < toMs; keyMs += GOP_MS) dates.push(START_MS + keyMs + source.wallShiftMs);
    await studio.play(source, toMs - playedMs);
    playedMs = toMs;
  };
  for (const { atMs, byMs } of steps) {
    await playTo(Math.floor(atMs / FRAME_MS) * FRAME_MS);
    source.wallShiftMs += byMs;
  }
  await playTo(lengthMs);
  return { studio, dates };
};

const list = (archiveDir: string): Promise<readonly Recording[]> =>
  new Recordings({ archiveDir }, { runner: new InlineRunner(), live: nobodyWrites }).list('door');

/** How much picture is in a file. */
const mediaMsIn = (path: string): number => scanFile(readFileSync(path)).scanner.columns[0]!.count * FRAME_MS;

const sameBeginning = (one: string, other: string): boolean =>
  one.split('_to_')[0] === other.split('_to_')[0];

/** Each file lasts, by its name and by what is listed of it, as long as its pictures. */
const assertLengths = (folder: string, recordings: readonly Recording[]): number => {
  let allMs = 0;
  for (const { fileName, startMs, endMs } of recordings) {
    const mediaMs = mediaMsIn(join(folder, fileName));
    allMs += mediaMs;
    assert.ok(
      Math.abs(endMs - startMs - mediaMs) <= 1_000,
      `${fileName}: ${endMs - startMs} of ${mediaMs} ms`,
    );
    const named = parseRecordingName(fileName)!;
    if (named.endMs === null) continue;
    // A name begins with the second in which the file begins, and ends with that in which it ends, or with the next
    // one that no file of the same beginning has: a clock can be set back to just where it was.
    const namesakes = recordings.filter((other) => sameBeginning(other.fileName, fileName)).length - 1;
    const roundedMs = named.endMs - endMs + (startMs - named.startMs);
    const mostMs = 2_000 + namesakes * 1_000 + FOLLOWED_MS;
    assert.ok(roundedMs >= -FOLLOWED_MS && roundedMs < mostMs, `${fileName}: ${startMs} to ${endMs}`);
  }
  return allMs;
};

const at = (text: string): number => Date.parse(text);

const steps: Readonly<Record<string, Step>> = {
  'an hour ahead': { atMs: 9_000, byMs: HOUR_MS },
  'an hour back': { atMs: 9_000, byMs: -HOUR_MS },
  'three seconds ahead': { atMs: 9_000, byMs: 3_000 },
  'three seconds back': { atMs: 9_000, byMs: -3_000 },
  'a year ahead': { atMs: 9_000, byMs: 365 * 24 * HOUR_MS },
  'back to 1970': { atMs: 9_000, byMs: at('1970-01-01T00:10:00Z') - START_MS },
};

for (const [name, step] of Object.entries(steps)) {
  test(`a clock set ${name} amid a GOP: the next keyframe begins a file, and both say how long they are`, async (t) => {
    const archiveDir = tempFolder(t);
    const { studio } = await shoot(archiveDir, [step], 3600);
    await studio.finish();
    const [first, second] = [...(await list(archiveDir))].sort((a, b) => a.ino - b.ino);
    const recordings = [first!, second!].sort(({ startReason }) => (startReason === 'start' ? -1 : 1));
    assert.deepEqual(
      recordings.map(({ startReason, startMs, endMs }) => [startReason, startMs, endMs]),
      [
        ['start', START_MS, START_MS + 10_000],
        ['clock', START_MS + 10_000 + step.byMs, START_MS + 20_000 + step.byMs],
      ],
    );
    assert.equal(recordings[0]!.fileName, closedName(START_MS, START_MS + 10_000));
    assertLengths(studio.folder, recordings);
  });
}

test('a clock set right before the end: the file ends where its pictures do', async (t) => {
  for (const byMs of [HOUR_MS, -HOUR_MS, 3_000, -3_000]) {
    const archiveDir = tempFolder(t);
    const { studio } = await shoot(archiveDir, [{ atMs: 11_800, byMs }], 3600, 12_000);
    await studio.finish();
    assert.deepEqual(studio.files, [closedName(START_MS, START_MS + 12_000)]);
    assertLengths(studio.folder, await list(archiveDir));
  }
});

test('a clock set amid a GOP: an open file, and one that a crash left, say how long they are', async (t) => {
  for (const byMs of [HOUR_MS, -HOUR_MS]) {
    const archiveDir = tempFolder(t);
    const { studio } = await shoot(archiveDir, [{ atMs: 10_400, byMs }], 3600, 11_800);
    const [open] = await list(archiveDir);
    assert.equal(open!.isOpen, true);
    assertLengths(studio.folder, [open!]);
    const crashedDir = tempFolder(t);
    const folder = join(crashedDir, 'door');
    mkdirSync(folder);
    copyFileSync(join(studio.folder, open!.fileName), join(folder, open!.fileName));
    const { newName } = repairFile({ folder, fileName: open!.fileName });
    assert.equal(newName, closedName(START_MS, open!.endMs));
    assert.ok(Math.abs(open!.endMs - START_MS - mediaMsIn(join(folder, newName))) <= 1, newName);
    assertLengths(folder, await list(crashedDir));
    await studio.finish();
  }
});

test('whenever the clock is set: no file is longer or shorter than its pictures, and each part has its date', async (t) => {
  const byMs = fc.oneof(
    fc.integer({ min: -15_000, max: 15_000 }),
    fc.integer({ min: -5 * HOUR_MS, max: 5 * HOUR_MS }),
  );
  const anySteps = fc.array(fc.record({ atMs: fc.nat({ max: 19_900 }), byMs }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(anySteps, fc.constantFrom(6, 3600), async (unsorted, fileSeconds) => {
      const archiveDir = tempFolder(t);
      const sorted = [...unsorted].sort((a, b) => a.atMs - b.atMs);
      const { studio, dates } = await shoot(archiveDir, sorted, fileSeconds);
      await studio.finish();
      const recordings = await list(archiveDir);
      assert.equal(assertLengths(studio.folder, recordings), 20_000);
      const when = { fromMs: 0, toMs: 2 * START_MS, nowMs: 2 * START_MS };
      const { intervals } = coverageOf(recordings, when, 'not_recording');
      const coveredMs = intervals.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
      // What follows within 2 s counts as one.
      assert.ok(coveredMs <= 20_000 + recordings.length * 2_000, `${coveredMs} ms are covered`);
      const told = await datesIn(archiveDir, recordings);
      assert.equal(told.length, dates.length);
      for (const [index, date] of [...dates].sort((a, b) => a - b).entries()) {
        assert.ok(Math.abs(told[index]! - date) <= 50, `part ${index}`);
      }
    }),
    {
      numRuns: 15,
      examples: [
        [
          [
            { atMs: 40, byMs: -2_251 },
            { atMs: 10_040, byMs: -6_000 },
          ],
          6,
        ],
        [
          [
            { atMs: 0, byMs: 8_131_045 },
            { atMs: 12_040, byMs: 6_702 },
            { atMs: 17_680, byMs: 4 },
          ],
          6,
        ],
      ],
    },
  );
});

/** When each part of all files was, as a player of their playlists would know. */
const datesIn = async (archiveDir: string, recordings: readonly Recording[]): Promise<number[]> => {
  const runner = new InlineRunner();
  const finder = new Recordings({ archiveDir }, { runner, live: nobodyWrites });
  const clock = { wallMs: () => START_MS as WallMs };
  const playback = new Playback({
    locator: new RecordingLocator({ archiveDir }, { recordings: finder, runner }),
    runner,
    clock,
  });
  const dates: number[] = [];
  for (const { fileName } of recordings) {
    const playlist = HLS.parse(textOf(await playback.archivePlaylist('door', { fileName, session: null })));
    assert.ok(!playlist.isMasterPlaylist);
    let nextMs = Number.NaN;
    for (const { programDateTime, duration } of playlist.segments) {
      const dateMs = programDateTime?.getTime() ?? nextMs;
      dates.push(dateMs);
      nextMs = dateMs + duration * 1000;
    }
  }
  return dates.sort((a, b) => a - b);
};
