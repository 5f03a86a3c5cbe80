import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fixturePath, fixtures } from './fixtures.js';

/**
 * What the pictures look like, by hash; whatever ffmpeg has to complain about fails the test. Meanwhile the test's process may
 * have viewers that must answer.
 */
export const picturesOf = async (format: string, path: string): Promise<string[]> => {
  const args = ['-v', 'error', '-f', format, '-i', path, '-fps_mode', 'passthrough', '-f', 'framemd5', '-'];
  const { stdout, stderr } = await promisify(execFile)('ffmpeg', args, { maxBuffer: 1 << 26 });
  assert.equal(stderr, '');
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(',').at(-1)!.trim());
};

/** One camera for each way in which pictures are coded; each loops over 60 of them. */
export const sources = () =>
  [
    ['high', 'h264', 'h264-high.264', fixtures.h264High()],
    ['slices', 'h264', 'h264-baseline.264', fixtures.h264Baseline()],
    ['b-frames', 'h264', 'h264-bframes.264', fixtures.h264BFrames()],
    ['h265', 'hevc', 'h265-main.265', fixtures.h265Main()],
  ] as const;

/** Pictures that the end of a dump may lack its neighbours for, where there are B-frames. */
const TAIL = 4;

/** What was dumped shows, one after the other, more than 55 of the pictures that its source loops over. */
export const assertOfSource = async (
  path: string,
  [id, format, file]: ReturnType<typeof sources>[number],
  detail = '',
): Promise<void> => {
  const seen = (await picturesOf(format, path)).slice(0, -TAIL);
  const source = await picturesOf(format, fixturePath(file));
  // The newest keyframe was anywhere in the loop.
  const offset = source.findIndex((_, at) => seen.every((hash, n) => hash === source[(at + n) % 60]));
  assert.ok(
    offset >= 0 && offset % 15 === 0 && seen.length > 55,
    `${id}: other pictures than the source's; ${offset} of ${seen.length}; ${detail}`,
  );
};
