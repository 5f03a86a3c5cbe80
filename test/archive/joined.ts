import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodedHashes, packetsOf, runQuietly } from '../fmp4/ffmpeg.js';
import { tempFolder } from '../support/temp-folder.js';
import { RecordingStudio } from './recording-studio.js';
import { encodeSource, SourceMovie, type SourceOptions } from './source-movie.js';

const START_MS = Date.parse('2026-11-21T08:30:00.250Z');
const FILE_SECONDS = 20;

/** Records a source in many files, and holds what is in them against it; ten minutes take a test file of their own. */
export const testJoined = (name: string, options: SourceOptions): void => {
  test(`${name}: the recordings joined are the source, frame by frame`, async (t) => {
    const folder = tempFolder(t);
    const path = encodeSource(folder, options);
    const source = new SourceMovie(path, START_MS);
    const studio = new RecordingStudio(folder, FILE_SECONDS);
    await studio.play(source, Number.POSITIVE_INFINITY);
    await studio.finish();
    const { paths } = studio;
    assert.equal(studio.lostFrames, 0);
    assert.ok(paths.length >= options.seconds / FILE_SECONDS - 1, paths.join());
    assert.ok(
      studio.files.every((file) => !file.includes('ongoing')),
      studio.files.join(),
    );
    assert.deepEqual(
      paths.flatMap((file) => decodedHashes(file, 'v')),
      decodedHashes(path, 'v'),
    );
    if (options.withAudio) assertSound(paths, path);
    for (const file of paths) assertExactTimes(file);
  });
};

/** By their bytes: a decoder that begins anew in each file would need the frame before. */
const audioPackets = (path: string): string[] =>
  runQuietly('ffmpeg', ['-i', path, '-map', '0:a:0', '-c', 'copy', '-f', 'framemd5', '-'])
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(',')[5]!.trim());

const assertSound = (paths: readonly string[], source: string): void => {
  const recorded = paths.flatMap(audioPackets);
  const sent = audioPackets(source);
  // The encoder's priming frame comes before the first picture, where a recording begins.
  assert.deepEqual(recorded, sent.slice(-recorded.length));
  assert.ok(sent.length - recorded.length <= 1, `${recorded.length} of ${sent.length} audio frames`);
};

/** Frames of 40 ms each follow one another exactly. */
const assertExactTimes = (path: string): void => {
  const packets = packetsOf(path, 'v');
  assert.deepEqual(
    packets.map(({ dts }) => dts),
    packets.map((_, index) => index * 3600),
    path,
  );
};
