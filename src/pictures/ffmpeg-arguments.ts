import type { VideoCodec } from '../codec/track.js';
import type { DecodeJob } from './messages.js';

/** What no camera has (8K is 33 million): such a picture would take gigabytes. */
const MAX_PIXELS = 50_000_000;
const MAX_SIDE = 16_384;

const demuxers: Readonly<Record<VideoCodec, string>> = { h264: 'h264', h265: 'hevc' };

/** A picture's shape where its pixels aren't square; what can't be true counts as unsaid. */
const SHAPE = 'if(between(sar,0.25,4),sar,1)';

/**
 * As wide as it is shown, or `maxWidth` if that is less. Nothing but a number from outside gets in here.
 * JPEG's colours are those of BT.601 in full range (JFIF 1.02), whatever the camera's are.
 */
const filtersOf = (maxWidth: number | null): string => {
  const width = `min(${maxWidth ?? MAX_SIDE},iw*${SHAPE})`;
  const height = `${width}*ih/(iw*${SHAPE})`;
  const scale = `scale=w='max(1,round(${width}))':h='max(1,round(${height}))'`;
  return `${scale}:flags=area:out_color_matrix=bt601:out_range=full,format=yuvj420p,setsar=1`;
};

/** Around something, in a colour that is seen on most; numbers of ours alone. */
const boxFilter = ([x, y, width, height]: NonNullable<DecodeJob['box']>): string => {
  const share = (value: number): string => Math.min(Math.max(value, 0), 1).toFixed(4);
  const place = `x=iw*${share(x)}:y=ih*${share(y)}:w=iw*${share(width)}:h=ih*${share(height)}`;
  return `,drawbox=${place}:color=yellow:t=2`;
};

/** ffmpeg's arguments for one picture: Annex B on standard input, JPEG on standard output, nothing else opened. */
export const ffmpegArguments = (
  codec: VideoCodec,
  maxWidth: number | null,
  box?: DecodeJob['box'],
): readonly string[] => [
  ...['-nostdin', '-hide_banner', '-v', 'error', '-protocol_whitelist', 'pipe'],
  ...['-threads', '1', '-filter_threads', '1', '-max_pixels', String(MAX_PIXELS)],
  // The format is known: no look ahead, and no frame is held back.
  ...['-probesize', '32', '-analyzeduration', '0', '-flags', 'low_delay'],
  ...['-f', demuxers[codec], '-i', 'pipe:0'],
  ...[
    '-map',
    '0:v:0',
    '-frames:v',
    '1',
    '-vf',
    filtersOf(maxWidth) + (box === undefined ? '' : boxFilter(box)),
  ],
  ...['-threads', '1', '-c:v', 'mjpeg', '-q:v', '3', '-bitexact', '-f', 'image2pipe', 'pipe:1'],
];
