import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readVideoStream, type VideoStream } from './elementary-stream.js';

const FRAMES = 120;
export const LAMP_FRAMES_PER_SECOND = 15;
/** A keyframe a second. */
export const LAMP_GOP_FRAMES = 15;
const [WIDTH, HEIGHT, SIDE, STEP] = [320, 180, 60, 2];
const TOP = 90;

/** Where the lamp is in a picture, as a box of fractions. */
export const lampAt = (frame: number): readonly [x: number, y: number, width: number, height: number] => [
  (frame * STEP) / WIDTH,
  TOP / HEIGHT,
  SIDE / WIDTH,
  SIDE / HEIGHT,
];

/** In which picture the middle of the lamp is there, as a fraction of the picture's width; with parts of a picture. */
export const frameOfLamp = (middle: number): number => (middle * WIDTH - SIDE / 2) / STEP;

/** By how many pictures one is behind the other, in a clip that begins anew at its end. */
export const framesBehind = (a: number, b: number): number => {
  const apart = (((a - b) % FRAMES) + FRAMES) % FRAMES;
  return apart > FRAMES / 2 ? apart - FRAMES : apart;
};

/** A lamp in the dark that goes from left to right, two pixels a picture, and begins anew. */
export const movingLamp = (folder: string): VideoStream => {
  const path = join(folder, 'moving-lamp.264');
  const rate = `rate=${LAMP_FRAMES_PER_SECOND}:duration=${FRAMES / LAMP_FRAMES_PER_SECOND}`;
  const sources = [`color=black:size=${WIDTH}x${HEIGHT}:${rate}`, `color=white:size=${SIDE}x${SIDE}:${rate}`];
  const overlay = `[0][1]overlay=x=n*${STEP}:y=${TOP}:eval=frame`;
  const gop = ['-g', String(LAMP_GOP_FRAMES), '-sc_threshold', '0', '-bf', '0'];
  execFileSync('ffmpeg', [
    ...['-v', 'error', '-y', ...sources.flatMap((source) => ['-f', 'lavfi', '-i', source])],
    ...['-filter_complex', overlay, '-pix_fmt', 'yuv420p', '-c:v', 'libx264', ...gop, path],
  ]);
  return readVideoStream(path, { codec: 'h264', frameRateHz: LAMP_FRAMES_PER_SECOND });
};
