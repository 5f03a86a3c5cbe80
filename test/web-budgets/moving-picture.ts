import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readVideoStream, type VideoStream } from '../support/elementary-stream.js';

export const FRAME_RATE_HZ = 15;
export const GOP_FRAMES = 30;
const SECONDS = 12;

/** Ffmpeg's test picture, with seconds and the frame's number in it, as cameras encode: a keyframe each two seconds. */
export const movingPicture = (): VideoStream => {
  const folder = mkdtempSync(join(tmpdir(), 'framering-budgets-'));
  const path = join(folder, 'picture.264');
  try {
    const input = ['-f', 'lavfi', '-i', `testsrc2=size=640x360:rate=${FRAME_RATE_HZ}`, '-t', String(SECONDS)];
    const encoder = ['-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'high', '-pix_fmt', 'yuv420p'];
    const keyFrames = [
      '-bf',
      '0',
      '-g',
      `${GOP_FRAMES}`,
      '-keyint_min',
      `${GOP_FRAMES}`,
      '-sc_threshold',
      '0',
    ];
    const args = ['-v', 'error', '-y', ...input, ...encoder, ...keyFrames, '-b:v', '350k', path];
    const { status, stderr } = spawnSync('ffmpeg', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`ffmpeg: ${stderr}`);
    return readVideoStream(path, { codec: 'h264', frameRateHz: FRAME_RATE_HZ });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
