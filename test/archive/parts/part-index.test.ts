import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RecordingSource } from '../../../src/archive/files/recording-source.js';
import { indexParts } from '../../../src/archive/parts/index-parts.js';
import { PartIndexes } from '../../../src/archive/parts/part-indexes.js';
import type { PartColumns } from '../../../src/archive/parts/recorded-parts.js';
import { AppError } from '../../../src/base/errors.js';
import { fixtures } from '../../support/fixtures.js';
import { tempFolder } from '../../support/temp-folder.js';
import { CAMERA_ID, film, makeArchive, START_MS, textOf } from '../filmed.js';
import {
  buildRecording,
  FRAGMENT_MS,
  type TestRecording,
  writeClosed,
  writeOpen,
} from '../recording-file.js';

const sourceOf = (path: string, isOpen = false): RecordingSource => {
  const { ino, size, mtimeMs, ctimeMs } = statSync(path);
  return { path, stamp: { ino, sizeBytes: size, mtimeMs, ctimeMs }, isOpen };
};

const rowsOf = (parts: PartColumns) =>
  Array.from({ length: parts.count }, (_, at) => ({
    ptsTicks: parts.ptsTicks[at],
    endTicks: parts.endTicks[at],
    wallMs: parts.wallMs[at],
  }));

const indexOf = (path: string, isOpen = false) =>
  indexParts({ source: sourceOf(path, isOpen), fromBytes: 0 }).value;

const PRFT_BYTES = 32;

test('the index at the end of a file tells the same parts as its fragments', (t) => {
  const folder = tempFolder(t);
  const shapes: Partial<TestRecording>[] = [
    {},
    { fragments: 1 },
    { fragments: 41, fragmentsAPart: 3 },
    { fragments: 9, fragmentsAPart: 1 },
    { fragments: 6, hasWall: false },
  ];
  for (const [at, shape] of shapes.entries()) {
    const path = join(folder, writeClosed(folder, { startMs: START_MS + at * 3_600_000, ...shape }));
    const indexed = indexOf(path);
    // As open files are: walked, whatever is at the end.
    const walked = indexOf(path, true);
    assert.deepEqual(rowsOf(indexed.parts), rowsOf(walked.parts), JSON.stringify(shape));
    assert.equal(indexed.parts.count, Math.ceil((shape.fragments ?? 4) / (shape.fragmentsAPart ?? 2)));
    for (let part = 0; part < indexed.parts.count; part += 1) {
      const prftBytes = shape.hasWall === false ? 0 : PRFT_BYTES;
      assert.equal(indexed.parts.startBytes[part], walked.parts.startBytes[part]! + prftBytes);
    }
  }
});

test('a clock that was set in the middle of a file is found by halving', (t) => {
  const folder = tempFolder(t);
  const count = 200;
  const setAt = 77;
  const stepMs = 3_600_000;
  const { bytes, starts } = buildRecording({ startMs: START_MS, fragments: count, fragmentsAPart: 1 });
  for (let fragment = setAt; fragment < count; fragment += 1) {
    // ntp_timestamp, whole seconds, behind the box's head and the track's id.
    const at = starts[fragment]! + 16;
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + stepMs / 1000, at);
  }
  const path = join(folder, 'clock.mp4');
  writeFileSync(path, bytes);
  const { parts } = indexOf(path);
  for (let part = 0; part < count; part += 1) {
    const expectedMs = START_MS + part * FRAGMENT_MS + (part < setAt ? 0 : stepMs);
    assert.ok(Math.abs(parts.wallMs[part]! - expectedMs) < 1, `part ${part}`);
  }
});

test('an index that lies about its parts is not believed', (t) => {
  const folder = tempFolder(t);
  const { bytes, parts } = buildRecording({ startMs: START_MS, fragments: 8 });
  const at = bytes.indexOf('tfra') + 20;
  const path = join(folder, 'lies.mp4');
  writeFileSync(path, bytes);
  const honest = rowsOf(indexOf(path, true).parts);
  const lie = (offset: number, value: number): void => {
    const lying = Buffer.from(bytes);
    lying.writeUInt32BE(value, offset);
    writeFileSync(path, lying);
    assert.deepEqual(rowsOf(indexOf(path).parts), honest);
  };
  const last = at + (parts.count - 1) * 19;
  lie(last + 4, 12_345); // its time
  lie(last + 12, parts.moofOffset[3]! + 8); // no moof is there
  lie(last + 12, parts.moofOffset[2]!); // not in order
});

test('times beyond all dates are no reason to fail', async (t) => {
  const { playback, folder } = makeArchive(t);
  const name = writeClosed(folder, { startMs: START_MS, hasIndex: false });
  const { bytes } = buildRecording({ startMs: START_MS, hasIndex: false });
  const scaled = Buffer.from(bytes);
  scaled.writeUInt32BE(1, scaled.indexOf('mdhd') + 16); // timescale
  for (let at = scaled.indexOf('tfdt'); at >= 0; at = scaled.indexOf('tfdt', at + 4)) {
    scaled.writeUInt32BE(0xfffff, at + 8); // the upper half
  }
  writeFileSync(join(folder, name), scaled);
  const playlist = await playback.archivePlaylist(CAMERA_ID, { fileName: name, session: null });
  assert.match(textOf(playlist), /#EXT-X-PROGRAM-DATE-TIME:2026-11-2\d/);
});

test('of many files those asked for last are remembered, as far as there is room', async (t) => {
  const { folder, archiveDir, recordings, runner } = makeArchive(t);
  const names = [0, 1, 2].map((hour) => writeClosed(folder, { startMs: START_MS + hour * 3_600_000 }));
  // Each table has room for 64 parts from the beginning.
  const indexes = new PartIndexes({ maxParts: 128 }, { runner });
  const ask = async (at: number): Promise<number> => {
    const before = runner.countOf('indexParts');
    const path = join(archiveDir, CAMERA_ID, names[at]!);
    const recording = await recordings.find(CAMERA_ID, names[at]!);
    assert.equal((await indexes.partsOf(recording, sourceOf(path))).count, 2);
    return runner.countOf('indexParts') - before;
  };
  const asked: number[] = [];
  for (const at of [0, 1, 0, 2, 0, 1]) asked.push(await ask(at));
  assert.deepEqual(asked, [1, 1, 0, 1, 0, 1]);
});

test('requests for one file that come together share the work', async (t) => {
  const { playback, folder, runner } = makeArchive(t);
  const fileName = writeClosed(folder, { startMs: START_MS });
  const wanted = { fileName, session: null };
  await Promise.all([1, 2, 3].map(() => playback.archivePlaylist(CAMERA_ID, wanted)));
  assert.equal(runner.countOf('indexParts'), 1);
});

test('whatever the bytes, indexing, playing and exporting end in an answer or in an error of ours', async (t) => {
  const { playback, folder } = makeArchive(t);
  const filmed = film({ video: fixtures.h264Baseline(), audio: fixtures.aac() });
  const { bytes } = buildRecording({ startMs: START_MS, fragments: 6 });
  const names = [
    { name: writeClosed(folder, { startMs: START_MS, fragments: 6 }), bytes },
    { name: writeOpen(folder, { startMs: START_MS + 3_600_000, fragments: 6 }), bytes },
    { name: writeClosed(folder, { startMs: START_MS + 7_200_000, fragments: 4 }), bytes: filmed.bytes },
  ];
  const tolerate = (fault: unknown): null => {
    assert.ok(fault instanceof AppError && /^(recording_|bad_seq|mixed_)/.test(fault.code), String(fault));
    return null;
  };
  const damage = fc.record({
    file: fc.integer({ min: 0, max: 2 }),
    cut: fc.double({ min: 0, max: 1, noNaN: true }),
    pokes: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 255 })), {
      maxLength: 12,
    }),
    isHead: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(damage, async ({ file, cut, pokes, isHead }) => {
      const { name, bytes: whole } = names[file]!;
      const spoilt = Buffer.from(whole.subarray(0, Math.ceil(whole.length * Math.sqrt(cut))));
      const span = isHead ? Math.min(spoilt.length, 2_000) : spoilt.length;
      for (const [place, value] of pokes) if (span > 0) spoilt[Math.floor(place * (span - 1))] = value;
      writeFileSync(join(folder, name), spoilt);
      const playlist = await playback
        .archivePlaylist(CAMERA_ID, { fileName: name, session: null })
        .catch(tolerate);
      const count = (playlist === null ? null : textOf(playlist).match(/#EXTINF/g))?.length ?? 1;
      for (const seq of [0, count - 1]) {
        await playback.segment(CAMERA_ID, { fileName: name, seq }).catch(tolerate);
      }
      const clip = await playback.clip(CAMERA_ID, { fileName: name }).catch(tolerate);
      if (clip === null) return;
      let readBytes = 0;
      for await (const piece of clip.read()) readBytes += piece.length;
      clip.close();
      assert.equal(readBytes, clip.contentBytes);
    }),
    { numRuns: 150 },
  );
});
