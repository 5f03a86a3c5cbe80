import type { StreamInfo } from '../../src/codec/track.js';
import type { RingOptions } from '../../src/ring/capacity.js';
import { frameFlag } from '../../src/ring/frame-flag.js';
import { FrameStamp } from '../../src/ring/frame-stamp.js';
import type { RingReader } from '../../src/ring/reader.js';
import { RingWriter } from '../../src/ring/writer.js';

/** A writer with its rings: the first one and each that replaced it. */
export type TestRing = { writer: RingWriter; rings: SharedArrayBuffer[]; marks: number };

export const makeRing = (
  options: Partial<RingOptions> = {},
  takenOver?: SharedArrayBuffer,
  ceiling: { readonly bytes: number } = { bytes: Number.POSITIVE_INFINITY },
): TestRing => {
  const made: { rings: SharedArrayBuffer[]; marks: number } = { rings: [], marks: 0 };
  const bell = {
    markPublished: () => {
      made.marks += 1;
    },
  };
  const onReplaced = (ring: SharedArrayBuffer): void => {
    made.rings.push(ring);
  };
  const writer = new RingWriter(options, { bell, ceiling, onReplaced }, takenOver);
  made.rings.push(writer.ring);
  return Object.assign(made, { writer });
};

/** One NAL unit that tells which frame it is: `lengthBytes` (at least 4) of a pattern that follows from `seed`. */
export const nalOf = (seed: number, lengthBytes: number): Buffer => {
  const nal = Buffer.alloc(lengthBytes, (seed * 31 + 7) & 0xff);
  nal.writeInt32LE(seed | 0);
  return nal;
};

/** What isn't given is 0; a frame is decoded when it is shown. */
export const stampOf = ({
  ptsTicks = 0,
  dtsTicks = ptsTicks,
  wallMs = 0,
  arrivalMs = 0,
  flags = 0,
}: Partial<FrameStamp> = {}): FrameStamp =>
  Object.assign(new FrameStamp(), { ptsTicks, dtsTicks, wallMs, arrivalMs, flags });

export type FrameNumbers = { dts?: number; arrivalMs?: number; flags?: number; packetBytes?: number };

/** Writes a frame of one NAL unit in packets. False: it was refused and aborted. */
export const writeFrame = (
  writer: RingWriter,
  nal: Buffer,
  { dts = 0, arrivalMs = 0, flags = 0, packetBytes = 1400 }: FrameNumbers = {},
): boolean => {
  writer.beginNal();
  for (let at = 0; at < nal.length; at += packetBytes) {
    if (!writer.append(nal, at, Math.min(at + packetBytes, nal.length))) {
      writer.abort();
      return false;
    }
  }
  writer.endNal();
  writer.commitVideo(stampOf({ ptsTicks: dts, wallMs: arrivalMs + 1000, arrivalMs, flags }));
  return true;
};

/** The current frame as the ring holds it, or null if it was overwritten. */
export const copyOf = (reader: RingReader): Buffer | null => {
  const target = Buffer.alloc(reader.lengthBytes);
  return reader.copyTo(target, 0) ? target : null;
};

/** A NAL unit with its length in front, as frames hold it. */
export const prefixed = (...nals: Buffer[]): Buffer =>
  Buffer.concat(
    nals.flatMap((nal) => {
      const prefix = Buffer.alloc(4);
      prefix.writeUInt32BE(nal.length);
      return [prefix, nal];
    }),
  );

/** Reads all that is there; each frame by the seed of `nalOf`. */
export const seedsOf = (reader: RingReader): number[] => {
  const seeds: number[] = [];
  while (reader.next()) {
    const frame = copyOf(reader);
    if (frame !== null) seeds.push(frame.readInt32LE(reader.isVideo ? 4 : 0));
  }
  return seeds;
};

export const KEY = frameFlag.key;

export const streamInfo = (marker: number, spsBytes = 20): StreamInfo => ({
  video: {
    codec: 'h264',
    vps: [],
    sps: [new Uint8Array(spsBytes).fill(marker)],
    pps: [Uint8Array.of(0x68, marker)],
    width: 1920,
    height: 1080,
    codecString: 'avc1.64001f',
    frameRateHz: 25,
    reorderDepth: null,
  },
  audio: {
    codec: 'aac',
    clockRateHz: 16_000,
    channels: 1,
    config: Uint8Array.of(0x14, 0x08),
    codecString: 'mp4a.40.2',
  },
});
