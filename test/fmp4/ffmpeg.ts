import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

/** Runs one of ffmpeg's tools; anything on stderr is a fault. */
export const runQuietly = (
  tool: 'ffmpeg' | 'ffprobe',
  args: readonly string[],
  encoding: 'utf8' | 'latin1' = 'utf8',
): string => run(tool, ['-v', 'warning', ...args], encoding);

const run = (tool: string, args: readonly string[], encoding: 'utf8' | 'latin1'): string => {
  const { error, stderr, stdout, status } = spawnSync(tool, args, { encoding, maxBuffer: 64 << 20 });
  assert.equal(error, undefined);
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return stdout;
};

/** A packet as ffprobe sees it, in ticks of its track. */
export type Packet = {
  readonly pts: number;
  readonly dts: number;
  readonly duration: number;
  readonly size: number;
  readonly isKey: boolean;
};

type ProbedPacket = { pts: number; dts: number; duration: number; size: string; flags: string };

/** The packets of the first video ('v') or audio ('a') track. */
export const packetsOf = (path: string, track: 'v' | 'a'): Packet[] => {
  const args = ['-select_streams', `${track}:0`, '-show_packets', '-of', 'json', path];
  const { packets } = JSON.parse(runQuietly('ffprobe', args)) as { packets: ProbedPacket[] };
  return packets.map(({ pts, dts, duration, size, flags }) => ({
    pts,
    dts,
    duration,
    size: Number(size),
    isKey: flags.startsWith('K'),
  }));
};

const hashArgs = (path: string, track: 'v' | 'a'): string[] => {
  const output = ['-map', `0:${track}:0`, '-fps_mode', 'passthrough', '-f', 'framemd5', '-'];
  return ['-i', path, ...output];
};

const hashesIn = (framemd5: string): string[] =>
  framemd5
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(',').at(-1)!.trim());

/** The hashes of all decoded frames of a track, in order. */
export const decodedHashes = (path: string, track: 'v' | 'a'): string[] =>
  hashesIn(runQuietly('ffmpeg', hashArgs(path, track)));

/** The same of an elementary stream, about whose times ffmpeg complains. */
export const sourceHashes = (path: string, track: 'v' | 'a'): string[] =>
  hashesIn(run('ffmpeg', ['-v', 'error', ...hashArgs(path, track)], 'utf8'));
