import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodedHashes, packetsOf, runQuietly } from '../fmp4/ffmpeg.js';
import { tempFolder } from '../support/temp-folder.js';
import { RecordingStudio } from './recording-studio.js';
import { encodeSource, SourceMovie, type SourceOptions } from './source-movie.js';

const START_MS = Date.parse('2026-11-21T08:30:00.250Z');

const streams: Readonly<Record<string, Omit<SourceOptions, 'seconds'> & { readonly seconds?: number }>> = {
  'H.264, ten minutes': { codec: 'h264', framesPerGop: 50, seconds: 600 },
  'H.264 with B-frames and AAC, ten minutes': {
    ...{ codec: 'h264', framesPerGop: 50, bFrames: 3 },
    ...{ withAudio: true, seconds: 600 },
  },
  'H.265 with AAC, ten minutes': { codec: 'h265', framesPerGop: 25, withAudio: true, seconds: 600 },
  'H.265 with B-frames': { codec: 'h265', framesPerGop: 30, bFrames: 2 },
  'GOPs of ten seconds': { codec: 'h264', framesPerGop: 250 },
  'all keyframes': { codec: 'h264', framesPerGop: 1 },
};

for (const [name, stream] of Object.entries(streams)) {
  test(`${name}: the recordings joined are the source, frame by frame`, async (t) => {
    const folder = tempFolder(t);
    const path = encodeSource(folder, { seconds: 60, ...stream });
    const source = new SourceMovie(path, START_MS);
    const studio = new RecordingStudio(folder, 20);
    await studio.play(source, Number.POSITIVE_INFINITY);
    await studio.finish();
    const { paths } = studio;
    assert.equal(studio.lostFrames, 0);
    assert.ok(paths.length >= (stream.seconds ?? 60) / 20 - 1, paths.join());
    assert.ok(
      studio.files.every((file) => !file.includes('ongoing')),
      studio.files.join(),
    );
    assert.deepEqual(
      paths.flatMap((file) => decodedHashes(file, 'v')),
      decodedHashes(path, 'v'),
    );
    if (stream.withAudio) {
      const recorded = paths.flatMap(audioPackets);
      const sent = audioPackets(path);
      // The encoder's priming frame comes before the first picture, where a recording begins.
      assert.deepEqual(recorded, sent.slice(-recorded.length));
      assert.ok(sent.length - recorded.length <= 1, `${recorded.length} of ${sent.length} audio frames`);
    }
    for (const file of paths) runQuietly('ffprobe', ['-show_packets', file]);
    assertExactTimes(paths);
  });
}

/** By their bytes: a decoder that begins anew in each file would need the frame before. */
const audioPackets = (path: string): string[] =>
  runQuietly('ffmpeg', ['-i', path, '-map', '0:a:0', '-c', 'copy', '-f', 'framemd5', '-'])
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(',')[5]!.trim());

/** Frames of 40 ms each follow one another exactly. */
const assertExactTimes = (paths: readonly string[]): void => {
  for (const path of paths) {
    const packets = packetsOf(path, 'v');
    assert.deepEqual(
      packets.map(({ dts }) => dts),
      packets.map((_, index) => index * 3600),
      path,
    );
  }
};
