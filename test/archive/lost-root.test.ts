import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { repairFile } from '../../src/archive/keep/repair-file.js';
import { packetsOf, runQuietly } from '../fmp4/ffmpeg.js';
import { tempFolder } from '../support/temp-folder.js';
import { RecordingStudio } from './recording-studio.js';
import { encodeSource, SourceMovie } from './source-movie.js';

const START_MS = Date.parse('2026-11-21T08:30:00.250Z');
const LOST = 'the folder of the recordings is not there';

test('nothing is made where a mount is lost, and each picture is in one file, or counted as lost', async (t) => {
  const folder = tempFolder(t);
  const path = encodeSource(folder, { codec: 'h264', seconds: 40, framesPerGop: 25 });
  const source = new SourceMovie(path, START_MS);
  const sentFrames = source.samples.filter(({ isVideo }) => isVideo).length;
  const archiveDir = join(folder, 'archive');
  const studio = new RecordingStudio(archiveDir, 4);
  await studio.play(source, 5_000);
  renameSync(archiveDir, `${archiveDir}-away`);
  // As where a mount was: another folder.
  mkdirSync(archiveDir);
  // The main thread has not noticed; a file ends, and the next one would begin.
  await studio.play(source, 5_000);
  assert.deepEqual(readdirSync(archiveDir), []);
  assert.equal(studio.news.at(-1)?.fault, LOST);
  studio.root.set(null);
  await studio.play(source, 5_000);
  assert.deepEqual(readdirSync(archiveDir), []);
  assert.deepEqual(studio.news.at(-1), { fileName: null, fault: LOST });
  rmdirSync(archiveDir);
  renameSync(`${archiveDir}-away`, archiveDir);
  studio.root.set(statSync(archiveDir, { bigint: true }));
  await studio.play(source, 2_000);
  assert.equal(studio.news.at(-1)?.fault, null, 'recorded again within a keyframe and a write');
  assert.notEqual(studio.news.at(-1)?.fileName, null);
  await studio.play(source, Number.POSITIVE_INFINITY);
  await studio.finish();
  for (const fileName of studio.left) repairFile({ folder: studio.folder, fileName });
  assert.ok(
    studio.files.every((name) => !/ongoing|broken/.test(name)),
    studio.files.join(),
  );
  for (const file of studio.paths) runQuietly('ffmpeg', ['-xerror', '-i', file, '-f', 'null', '-']);
  const recorded = studio.paths.reduce((sum, file) => sum + packetsOf(file, 'v').length, 0);
  assert.equal(recorded + studio.lostFrames, sentFrames);
  assert.ok(studio.lostFrames > 0);
});

test('a camera that is to be recorded while the folder is gone says so, and begins once it is there', async (t) => {
  const folder = tempFolder(t);
  const source = new SourceMovie(
    encodeSource(folder, { codec: 'h264', seconds: 20, framesPerGop: 25 }),
    START_MS,
  );
  const studio = new RecordingStudio(join(folder, 'archive'), 3600);
  const { root } = studio;
  root.set(null);
  await studio.play(source, 500);
  studio.recorders.setRecorded('door', false);
  studio.recorders.setRecorded('door', true);
  assert.deepEqual(studio.news.at(-1), { fileName: null, fault: LOST });
  studio.standStill(source, 12_000);
  assert.equal(studio.news.at(-1)?.fault, LOST, 'though the camera is away');
  source.skip(12_000);
  root.set(statSync(dirname(studio.folder), { bigint: true }));
  await studio.play(source, 4_000);
  assert.equal(studio.news.at(-1)?.fault, null);
  await studio.finish();
  assert.equal(studio.files.length, 1);
});

test('a folder that another one took the place of ends all files, though nobody saw it missing', async (t) => {
  const folder = tempFolder(t);
  const source = new SourceMovie(
    encodeSource(folder, { codec: 'h264', seconds: 20, framesPerGop: 25 }),
    START_MS,
  );
  const archiveDir = join(folder, 'archive');
  const studio = new RecordingStudio(archiveDir, 3600);
  await studio.play(source, 4_000);
  renameSync(archiveDir, `${archiveDir}-away`);
  mkdirSync(archiveDir);
  studio.root.set(null);
  studio.root.set(statSync(archiveDir, { bigint: true }));
  await studio.play(source, 4_000);
  await studio.finish();
  assert.equal(studio.files.length, 1);
  assert.equal(readdirSync(join(`${archiveDir}-away`, 'door')).length, 1);
});
