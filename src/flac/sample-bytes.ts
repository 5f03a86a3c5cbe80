import type { AudioCodec } from '../codec/track.js';

/** How samples of 16 bits are had from the bytes that a camera sends. */
export type SampleBytes = { readonly bytes: 1 | 2; readonly read: (source: Buffer, at: number) => number };

const MU_LAW_BIAS = 0x84;

/** ITU-T G.711 table 2: 14 bits, in the upper ones of 16. */
const muLawSample = (code: number): number => {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + MU_LAW_BIAS) << ((bits >> 4) & 7)) - MU_LAW_BIAS;
  return bits & 0x80 ? -magnitude : magnitude;
};

/** ITU-T G.711 table 1: 13 bits, in the upper ones of 16. */
const aLawSample = (code: number): number => {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return bits & 0x80 ? magnitude : -magnitude;
};

const codesOf = (decode: (code: number) => number): SampleBytes => {
  const table = Int16Array.from({ length: 256 }, (_, code) => decode(code));
  return { bytes: 1, read: (source, at) => table[source[at]!]! };
};

const uncoded: Partial<Record<AudioCodec, SampleBytes>> = {
  pcmu: codesOf(muLawSample),
  pcma: codesOf(aLawSample),
  l16: { bytes: 2, read: (source, at) => ((source[at]! << 24) >> 16) | source[at + 1]! },
};

/** Null: it is coded in a manner that MP4 carries as it is. */
export const sampleBytesOf = (codec: AudioCodec): SampleBytes | null => uncoded[codec] ?? null;
