import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readVideoStream, type VideoStream } from '../support/elementary-stream.js';
import { fixtures } from '../support/fixtures.js';

const FRAME_RATE_HZ = 15;
const SECONDS = 12;
const SIZE = '640x360';

/** Moving pictures of ffmpeg's own, each to be told from the others at a glance. */
const scenes: Readonly<Record<string, string>> = {
  gate: `testsrc2=size=${SIZE}:rate=${FRAME_RATE_HZ}`,
  yard: `life=size=${SIZE}:rate=${FRAME_RATE_HZ}:mold=10:ratio=0.1:death_color=#304860:life_color=#a0e0ff`,
  dock: `mandelbrot=size=${SIZE}:rate=${FRAME_RATE_HZ}:start_scale=0.6:end_scale=0.1:end_pts=180`,
  lobby: `gradients=size=${SIZE}:rate=${FRAME_RATE_HZ}:speed=0.02:c0=#103050:c1=#50a0c0:c2=#e0c080`,
  stairs: `cellauto=size=${SIZE}:rate=${FRAME_RATE_HZ}:rule=110:scroll=1`,
  garage: `smptehdbars=size=${SIZE}:rate=${FRAME_RATE_HZ},hue=H=0.3*t`,
};

const encode = (scene: string, path: string): boolean => {
  const input = ['-f', 'lavfi', '-i', scene, '-t', String(SECONDS)];
  const encoder = ['-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'high', '-pix_fmt', 'yuv420p'];
  const keyFrames = ['-bf', '0', '-g', '30', '-keyint_min', '30', '-sc_threshold', '0', '-b:v', '350k'];
  const { status } = spawnSync('ffmpeg', ['-v', 'error', '-y', ...input, ...encoder, ...keyFrames, path]);
  return status === 0;
};

/** A stream for each scene: made with ffmpeg where there is one, else the pictures that the tests have. */
export const makeScenes = (): ReadonlyMap<string, VideoStream> => {
  const folder = mkdtempSync(join(tmpdir(), 'framering-scenes-'));
  try {
    const made = new Map<string, VideoStream>();
    for (const [name, scene] of Object.entries(scenes)) {
      const path = join(folder, `${name}.264`);
      const isMade = encode(scene, path);
      const read = () => readVideoStream(path, { codec: 'h264', frameRateHz: FRAME_RATE_HZ });
      made.set(name, isMade ? read() : fixtures.h264Large());
    }
    return made;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
