import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AudioStream,
  readAdtsStream,
  readG711Stream,
  readVideoStream,
  type VideoStream,
} from './elementary-stream.js';

/** Where a file of test/fixtures is; tests run compiled, three folders below the repository's root. */
export const fixturePath = (name: string): string =>
  join(import.meta.dirname, '../../../test/fixtures', name);

const FRAME_RATE_HZ = 15;

const once = <Value>(read: () => Value): (() => Value) => {
  let value: Value | null = null;
  return () => {
    value ??= read();
    return value;
  };
};

const h264 = (name: string): (() => VideoStream) =>
  once(() => readVideoStream(fixturePath(name), { codec: 'h264', frameRateHz: FRAME_RATE_HZ }));

/** The streams of test/fixtures, each read at the first call; `make-fixtures.sh` says what is in them. */
export const fixtures = {
  /** 320x180, 60 pictures, a keyframe each 15; High, SEI in the first access unit. */
  h264High: h264('h264-high.264'),
  /** The same size; Baseline, two slices a picture, access unit delimiters. */
  h264Baseline: h264('h264-baseline.264'),
  /** The same size; High with a pyramid of B-frames: display order isn't decoding order. */
  h264BFrames: once(() => {
    const order: unknown = JSON.parse(readFileSync(fixturePath('h264-bframes.display.json'), 'utf8'));
    return readVideoStream(fixturePath('h264-bframes.264'), {
      codec: 'h264',
      frameRateHz: FRAME_RATE_HZ,
      displayOrder: order as number[],
    });
  }),
  /** 640x360, 30 pictures. */
  h264Large: h264('h264-large.264'),
  /** 320x180, 60 pictures, Main. */
  h265Main: once(() =>
    readVideoStream(fixturePath('h265-main.265'), { codec: 'h265', frameRateHz: FRAME_RATE_HZ }),
  ),
  /** As h264High and h265Main, 30 pictures, with another PPS. */
  h264OtherPps: h264('h264-other-pps.264'),
  h265OtherPps: once(() =>
    readVideoStream(fixturePath('h265-other-pps.265'), { codec: 'h265', frameRateHz: FRAME_RATE_HZ }),
  ),
  /** AAC-LC, 48 kHz, two channels, 4 s. */
  aac: once((): AudioStream => readAdtsStream(fixturePath('aac-48k.aac'))),
  /** G.711 at 8 kHz, 2 s, in packets of 20 ms. */
  pcmu: once((): AudioStream => readG711Stream(fixturePath('pcmu-8k.ulaw'), 'pcmu')),
  pcma: once((): AudioStream => readG711Stream(fixturePath('pcma-8k.alaw'), 'pcma')),
} as const;
