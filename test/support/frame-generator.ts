import { H264_NAL } from '../../src/codec/nal.js';
import { VIDEO_CLOCK_HZ } from '../../src/codec/track.js';
import { joinNals } from './access-units.js';
import type { StreamFrame, VideoStream } from './elementary-stream.js';
import { fixtures } from './fixtures.js';
import { seededRandom } from './seeded-random.js';

export type GeneratorOptions = {
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
/** What a fragment holds beside its two header bytes (RFC 6184 §5.8). */
const FRAGMENT_BYTES = PACKET_PAYLOAD_BYTES - 2;
/** No last fragment is smaller: the send time goes in there. */
const LEAST_FRAGMENT_BYTES = 64;

/** A slice's size near `bytes` that leaves room for the send time in the last fragment. */
const sliceLength = (bytes: number): number => {
  const length = Math.max(LEAST_FRAGMENT_BYTES, Math.round(bytes));
  const lastBytes = (length - 1) % FRAGMENT_BYTES;
  return lastBytes < LEAST_FRAGMENT_BYTES ? length + LEAST_FRAGMENT_BYTES : length;
};

/**
 * A slice of `lengthBytes`: the right header, first_mb_in_slice 0, and then bytes without a zero among them, so
 * that no start code can ever occur. No decoder wants it; whatever only looks at headers can't tell.
 */
const sliceOf = (isKey: boolean, lengthBytes: number, random: () => number): Buffer => {
  const slice = Buffer.allocUnsafe(lengthBytes);
  for (let i = 0; i < lengthBytes; i += 1) slice[i] = 1 + Math.floor(random() * 255);
  slice[0] = isKey ? 0x60 | H264_NAL.idrSlice : 0x40 | H264_NAL.slice;
  slice[1] = 0x80 | slice[1]!;
  return slice;
};

/** A stream of realistic sizes for measuring speed; loop it for ever. */
export const generateVideo = (options: GeneratorOptions = {}): VideoStream => {
  const { kbps = 4_000, frameRateHz = 25, framesPerGop = 50, gops = 2, seed = 1 } = options;
  const random = seededRandom(seed);
  const { parameterSets } = fixtures.h264High();
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
      const slice = sliceOf(index === 0, sliceLength(size), random);
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
    codec: 'h264',
    frameRateHz,
    clockRateHz: VIDEO_CLOCK_HZ,
    durationTicks: frames.length * frameTicks,
    parameterSets,
    frames,
  };
};

/** Bytes of the send time at the end of a stamped frame: a double, big-endian, of the monotonic clock's ms. */
export const STAMP_BYTES = 8;

/** When the last packet of a stamped frame was sent, by the monotonic clock that all processes share. */
export const sendTimeMs = (frame: Buffer): number => frame.readDoubleBE(frame.length - STAMP_BYTES);
