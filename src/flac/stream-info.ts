export const SAMPLE_BITS = 16;
const STREAMINFO_BYTES = 34;
const MIN_BLOCK_SAMPLES = 16;
/** As many bits as STREAMINFO has. */
const MAX_RATE_HZ = 0xf_ffff;
const MAX_CHANNELS = 8;
/** A block is at most this much of a second: pictures wait for the sound beside them. */
const BLOCKS_A_SEC = 15;
const MAX_BLOCK_SAMPLES = 4_096;

export type SoundFormat = { readonly channels: number; readonly sampleRateHz: number };

/** Whether FLAC can carry it. */
export const fitsFlac = ({ channels, sampleRateHz }: SoundFormat): boolean =>
  channels >= 1 &&
  channels <= MAX_CHANNELS &&
  sampleRateHz >= MIN_BLOCK_SAMPLES * BLOCKS_A_SEC &&
  sampleRateHz <= MAX_RATE_HZ;

/** Samples of a channel in a frame, where nothing ends it early: a power of two, 512 at 8 kHz. */
export const blockSamplesAt = (sampleRateHz: number): number =>
  Math.min(MAX_BLOCK_SAMPLES, 2 ** Math.floor(Math.log2(sampleRateHz / BLOCKS_A_SEC)));

/** STREAMINFO (RFC 9639 §8.2) of a stream whose length nobody knows; the same for the same format. */
export const streamInfoBlock = ({ channels, sampleRateHz }: SoundFormat): Buffer => {
  const block = Buffer.alloc(STREAMINFO_BYTES);
  block.writeUInt16BE(MIN_BLOCK_SAMPLES, 0);
  block.writeUInt16BE(blockSamplesAt(sampleRateHz), 2);
  // Sizes of frames: unknown. Then 20 bits of rate, 3 of channels, 5 of depth; 36 of length and the MD5 are unknown.
  const packed = sampleRateHz * 2 ** 12 + (channels - 1) * 2 ** 9 + (SAMPLE_BITS - 1) * 2 ** 4;
  block.writeUInt32BE(packed, 10);
  return block;
};

/** A break may leave fewer, which a decoder needn't take amid a stream (§8.2). */
export const fewestInBlock = MIN_BLOCK_SAMPLES;
