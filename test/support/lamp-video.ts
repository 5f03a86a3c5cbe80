import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readVideoStream, type VideoStream } from './elementary-stream.js';

/** A lamp in the dark, from the middle of the picture on: a quarter as wide and half as high. */
export const lampVideo = (folder: string): VideoStream => {
  const path = join(folder, 'lamp.264');
  const source =
    'color=black:size=320x180:rate=15:duration=4,drawbox=x=160:y=90:w=80:h=90:color=white:t=fill';
  const encoder = [
    '-pix_fmt',
    'yuv420p',
    '-c:v',
    'libx264',
    '-g',
    '15',
    '-sc_threshold',
    '0',
    '-bf',
    '0',
    path,
  ];
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...encoder]);
  return readVideoStream(path, { codec: 'h264', frameRateHz: 15 });
};
