import { BitReader } from './bit-reader.js';

/** Sampling frequencies by index (ISO 14496-3 table 1.18). */
export const AAC_SAMPLE_RATES_HZ = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
] as const;

/** Channels by channelConfiguration (ISO 14496-3 table 1.19); 0: told elsewhere or reserved. */
const CHANNELS = [0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8, 0] as const;

const EXPLICIT_RATE_INDEX = 15;
const ESCAPED_OBJECT_TYPE = 31;
const AAC_LC = 2;
const SBR = 5;
const PARAMETRIC_STEREO = 29;
const LOW_DELAY = 23;
const ENHANCED_LOW_DELAY = 39;
/** Object types whose GASpecificConfig starts with frameLengthFlag (ISO 14496-3 §1.6.2.1). */
const generalAudio: ReadonlySet<number> = new Set([1, 2, 3, 4, 6, 7, 17, 19, 20, 21, 22, LOW_DELAY]);

/** What an AudioSpecificConfig says (ISO 14496-3 §1.6.2.1). */
export type AacConfig = {
  /** Of the core codec: 2 is AAC-LC. */
  readonly objectType: number;
  /** What the config opens with: 5 (SBR) or 29 (PS) where they are signalled in front, else `objectType`. */
  readonly signalledObjectType: number;
  /** Of the core codec; a decoder's output may have twice that with SBR. */
  readonly sampleRateHz: number;
  /** 0: not told by the channel configuration. */
  readonly channels: number;
  /** Samples of one access unit at `sampleRateHz`. */
  readonly samplesPerFrame: number;
};

const readObjectType = (bits: BitReader): number => {
  const type = bits.bits(5);
  return type === ESCAPED_OBJECT_TYPE ? 32 + bits.bits(6) : type;
};

const readSampleRate = (bits: BitReader): number => {
  const index = bits.bits(4);
  return index === EXPLICIT_RATE_INDEX ? bits.bits(24) : (AAC_SAMPLE_RATES_HZ[index] ?? 0);
};

const frameSamples = (objectType: number, isShort: boolean): number => {
  if (objectType === LOW_DELAY || objectType === ENHANCED_LOW_DELAY) return isShort ? 480 : 512;
  return isShort ? 960 : 1024;
};

/** Reads an AudioSpecificConfig; what follows its head is tolerated. Null: it names no codec or no rate. */
export const parseAacConfig = (config: Uint8Array): AacConfig | null => {
  const bits = new BitReader();
  bits.openPlain(config, 0, config.length);
  const signalledObjectType = readObjectType(bits);
  const sampleRateHz = readSampleRate(bits);
  const channels = CHANNELS[bits.bits(4)] ?? 0;
  if (bits.isPastEnd || signalledObjectType === 0 || sampleRateHz < 1 || sampleRateHz > 192_000) return null;
  let objectType = signalledObjectType;
  if (signalledObjectType === SBR || signalledObjectType === PARAMETRIC_STEREO) {
    readSampleRate(bits); // of the extension
    objectType = readObjectType(bits);
    // Cut off behind the SBR signal: the core that cameras have is LC.
    if (bits.isPastEnd || objectType === 0) objectType = AAC_LC;
  }
  const hasLengthFlag = generalAudio.has(objectType) || objectType === ENHANCED_LOW_DELAY;
  const isShort = hasLengthFlag && bits.flag();
  return {
    objectType,
    signalledObjectType,
    sampleRateHz,
    channels,
    samplesPerFrame: frameSamples(objectType, isShort),
  };
};

/** Writes the AudioSpecificConfig of plain AAC, for cameras that send none (RFC 3640 §4.1 has it mandatory). */
export const buildAacConfig = (sampleRateHz: number, channels: number, objectType = AAC_LC): Uint8Array => {
  const rates: readonly number[] = AAC_SAMPLE_RATES_HZ;
  const index = rates.indexOf(sampleRateHz);
  const configuration = channels >= 1 && channels <= 6 ? channels : channels === 8 ? 7 : 0;
  const isExplicit = index < 0;
  const rateBits = isExplicit ? EXPLICIT_RATE_INDEX * 2 ** 24 + sampleRateHz : index;
  // 5 bits object type, 4 or 28 of rate, 4 of channels, 3 of GASpecificConfig, all zero.
  const value = ((objectType * 2 ** (isExplicit ? 28 : 4) + rateBits) * 16 + configuration) * 8;
  const config = new Uint8Array(isExplicit ? 5 : 2);
  for (let at = config.length - 1, rest = value; at >= 0; at -= 1, rest = Math.floor(rest / 256)) {
    config[at] = rest % 256;
  }
  return config;
};
