import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodedHashes, packetsOf, runQuietly, sourceHashes } from '../../fmp4/ffmpeg.js';
import { tempFolder } from '../../support/temp-folder.js';
import { makeArchive } from '../filmed.js';
import { RecordingStudio } from '../recording-studio.js';
import { encodeSource, SourceMovie, type SourceOptions } from '../source-movie.js';
import { configsOf, framesOf, gapsOf, readAll, streamOf } from './read-all.js';

const START_MS = Date.parse('2026-11-21T08:30:00.250Z');
const SECONDS = 30;
const FRAME_US = 40_000;

const cases: Record<string, Omit<SourceOptions, 'seconds'>> = {
  'H.264 with B-frames and AAC': { codec: 'h264', framesPerGop: 50, bFrames: 3, withAudio: true },
  'H.265 with AAC': { codec: 'h265', framesPerGop: 25, withAudio: true },
};

const hashOf = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

/** By their bytes, as FFmpeg takes them out of a file. */
const audioHashes = (path: string): string[] =>
  runQuietly('ffmpeg', ['-i', path, '-map', '0:a:0', '-c', 'copy', '-f', 'framemd5', '-'])
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(',')[5]!.trim());

for (const [name, options] of Object.entries(cases)) {
  test(`${name}: the messages joined are the recordings, frame by frame, forwards and GOP by GOP backwards`, async (t) => {
    const archiveDir = tempFolder(t);
    const path = encodeSource(archiveDir, { ...options, seconds: SECONDS });
    const studio = new RecordingStudio(archiveDir, 8);
    await studio.play(new SourceMovie(path, START_MS), Number.POSITIVE_INFINITY);
    await studio.finish();
    assert.ok(studio.files.length >= 3, studio.files.join());
    const { frames } = makeArchive(t, { archiveDir });
    // What comes behind the last picture is a gap.
    const all = { fromMs: START_MS, toMs: START_MS + SECONDS * 1000 - 200, keysOnly: false, everyMs: null };

    const messages = await readAll(await frames.read('door', { ...all, isBackwards: false }, 'eve'));
    const raw = join(archiveDir, `joined.${options.codec}`);
    writeFileSync(raw, streamOf(messages));
    assert.deepEqual(sourceHashes(raw, 'v'), decodedHashes(path, 'v'));
    assert.deepEqual(
      framesOf(messages, 2).map(({ bytes }) => hashOf(bytes)),
      studio.paths.flatMap(audioHashes),
    );
    assert.deepEqual(
      configsOf(messages).map(({ stream, width, height }) => [stream, width, height]),
      [
        [1, 128, 96],
        [2, 1, 0],
      ],
    );
    assert.deepEqual(gapsOf(messages), []);

    const pictures = framesOf(messages);
    const packets = studio.paths.flatMap((file) => packetsOf(file, 'v'));
    assert.deepEqual(
      pictures.map(({ isKey, compositionUs }) => [isKey, compositionUs]),
      packets.map(({ isKey, pts, dts }) => [isKey, ((pts - dts) * 1000) / 90]),
    );
    for (const [index, frame] of pictures.entries()) {
      assert.equal(frame.index, index);
      assert.ok(
        Math.abs(frame.decodeUs - pictures[0]!.decodeUs - index * FRAME_US) <= 1000,
        `frame ${index}`,
      );
      // The source's own wall time is when a picture is sent, which with B-frames is up to three pictures early.
      assert.ok(
        Math.abs(frame.wallUs - frame.decodeUs - frame.compositionUs) <= 3 * FRAME_US + 2000,
        `frame ${index} by the wall clock`,
      );
    }

    const backwards = framesOf(
      await readAll(await frames.read('door', { ...all, isBackwards: true }, 'eve')),
    );
    const gops: string[][] = [];
    for (const { isKey, bytes } of backwards) {
      if (isKey) gops.unshift([]);
      gops[0]!.push(hashOf(bytes));
    }
    assert.deepEqual(
      gops.flat(),
      pictures.map(({ bytes }) => hashOf(bytes)),
    );
    assert.ok(backwards.every(({ index }, at) => index === at));
  });
}
