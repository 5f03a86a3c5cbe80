import { H264_NAL, H265_NAL } from '../../src/codec/nal.js';
import { VIDEO_CLOCK_HZ, type VideoCodec } from '../../src/codec/track.js';
import { joinNals } from './access-units.js';
import type { StreamFrame, VideoStream } from './elementary-stream.js';
import { fixtures } from './fixtures.js';
import { seededRandom } from './seeded-random.js';

export type GeneratorOptions = {
  readonly codec?: VideoCodec;
  /** In the place of those that a generated stream has. */
  readonly parameterSets?: readonly Buffer[];
  readonly kbps?: number;
  readonly frameRateHz?: number;
  readonly framesPerGop?: number;
  /** GOPs before the sizes and bytes repeat. */
  readonly gops?: number;
  readonly seed?: number;
};

/** Keyframes are this much larger than P-frames, times what `vary` adds. */
const KEY_RATIO = 6.5;

/** A share of 1 by which sizes of one kind of frame differ. */
const vary = (random: () => number, spread: number): number => 1 - spread + 2 * spread * random();

/** Payload of the packets that generated frames are cut into. */
export const PACKET_PAYLOAD_BYTES = 1400;
/** NAL unit header, and what a fragment holds beside the headers before it (RFC 6184 §5.8, RFC 7798 §4.4.3). */
const cuts = {
  h264: { nalHeadBytes: 1, fragmentBytes: PACKET_PAYLOAD_BYTES - 2 },
  h265: { nalHeadBytes: 2, fragmentBytes: PACKET_PAYLOAD_BYTES - 3 },
} as const;
/** No last fragment is smaller: the send time goes in there. */
const LEAST_FRAGMENT_BYTES = 64;

/** A slice's size near `bytes` that leaves room for the send time in the last fragment. */
const sliceLength = (codec: VideoCodec, bytes: number): number => {
  const { nalHeadBytes, fragmentBytes } = cuts[codec];
  const length = Math.max(LEAST_FRAGMENT_BYTES, Math.round(bytes));
  const lastBytes = (length - nalHeadBytes) % fragmentBytes;
  return lastBytes < LEAST_FRAGMENT_BYTES ? length + LEAST_FRAGMENT_BYTES : length;
};

/**
 * A slice of `lengthBytes`: the right header, first_mb_in_slice 0, and then bytes without a zero among them, so
 * that no start code can ever occur. No decoder wants it; whatever only looks at headers can't tell.
 */
const sliceOf = (codec: VideoCodec, isKey: boolean, lengthBytes: number, random: () => number): Buffer => {
  const slice = Buffer.allocUnsafe(lengthBytes);
  for (let i = 0; i < lengthBytes; i += 1) slice[i] = 1 + Math.floor(random() * 255);
  if (codec === 'h264') {
    slice[0] = isKey ? 0x60 | H264_NAL.idrSlice : 0x40 | H264_NAL.slice;
    slice[1] = 0x80 | slice[1]!;
  } else {
    slice[0] = (isKey ? H265_NAL.idrWRadl : H265_NAL.trailR) << 1;
    slice[1] = 1;
    slice[2] = 0x80 | slice[2]!;
  }
  return slice;
};

/** A stream of realistic sizes for measuring speed; loop it for ever. */
export const generateVideo = (options: GeneratorOptions = {}): VideoStream => {
  const { codec = 'h264', kbps = 4_000, frameRateHz = 25, framesPerGop = 50, gops = 2, seed = 1 } = options;
  const random = seededRandom(seed);
  const {
    parameterSets = codec === 'h264' ? fixtures.h264High().parameterSets : fixtures.h265Main().parameterSets,
  } = options;
  const gopBytes = (kbps * 125 * framesPerGop) / frameRateHz;
  const frameTicks = VIDEO_CLOCK_HZ / frameRateHz;
  const frames: StreamFrame[] = [];
  for (let gop = 0; gop < gops; gop += 1) {
    const keyBytes = (gopBytes / (KEY_RATIO + framesPerGop - 1)) * KEY_RATIO * vary(random, 0.2);
    const weights = Array.from({ length: framesPerGop - 1 }, () => vary(random, 0.35));
    const unit =
      (gopBytes - keyBytes) /
      Math.max(
        1e-9,
        weights.reduce((sum, weight) => sum + weight, 0),
      );
    const sizes = [keyBytes, ...weights.map((weight) => weight * unit)];
    for (const [index, size] of sizes.entries()) {
      const slice = sliceOf(codec, index === 0, sliceLength(codec, size), random);
      const ticks = frames.length * frameTicks;
      frames.push({
        bytes: joinNals(index === 0 ? [...parameterSets, slice] : [slice]),
        isKey: index === 0,
        ptsTicks: ticks,
        dtsTicks: ticks,
      });
    }
  }
  return {
    kind: 'video',
    codec,
    frameRateHz,
    clockRateHz: VIDEO_CLOCK_HZ,
    durationTicks: frames.length * frameTicks,
    parameterSets,
    frames,
  };
};

/** At the end of a stamped frame: its number within the session in 4 bytes, and when its last packet was sent. */
export const STAMP_BYTES = 12;
const TIME_BYTES = 8;
const NUMBER_BITS = 28;

/** The number is written in 7 bits a byte, so that none of them is zero, and begins anew after so many frames. */
export const FRAME_NUMBERS = 2 ** NUMBER_BITS;

/** Writes the stamp that ends at `end`; the time is a double of the monotonic clock's ms. */
export const writeStamp = (bytes: Buffer, end: number, number: number, sentMs: number): void => {
  const at = end - STAMP_BYTES;
  for (let index = 0; index < 4; index += 1)
    bytes[at + index] = 0x80 | ((number >>> (21 - 7 * index)) & 0x7f);
  bytes.writeDoubleBE(sentMs, end - TIME_BYTES);
  // A NAL unit never ends in a zero byte; to the time it makes no difference.
  bytes[end - 1] = bytes[end - 1]! | 1;
};

/** When the last packet of a stamped frame was sent, by the monotonic clock that all processes share. */
export const sendTimeMs = (frame: Buffer, end = frame.length): number => frame.readDoubleBE(end - TIME_BYTES);

/** How many frames of its session came before it, those that were left out included. */
export const frameNumber = (frame: Buffer, end = frame.length): number => {
  const at = end - STAMP_BYTES;
  let number = 0;
  for (let index = 0; index < 4; index += 1) number = (number << 7) | (frame[at + index]! & 0x7f);
  return number;
};
