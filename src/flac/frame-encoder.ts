import { BitWriter } from './bit-writer.js';
import { crc8, crc16 } from './crc.js';
import { bestOrder, predict } from './fixed-predictor.js';
import { RiceCoder } from './rice.js';
import { SAMPLE_BITS, type SoundFormat } from './stream-info.js';

const SYNC_VARIABLE_BLOCKS = 0xfff9;
const DEPTH_16 = 4;
const CONSTANT = 0;
const VERBATIM = 1;
const FIXED = 8;
/** Of a frame, whatever is in it: its head, its foot, and a byte for what the subframes' heads take. */
const MAX_HEAD_BYTES = 20;
const MAX_SUBFRAME_HEAD_BYTES = 4;

/** Codes of block sizes that are powers of two (RFC 9639 §9.1.1); 7: the size follows in 16 bits. */
const blockSizeCodes: Readonly<Record<number, number>> = { 256: 8, 512: 9, 1024: 10, 2048: 11, 4096: 12 };
const SIZE_FOLLOWS = 7;
/** §9.1.2; 13: the rate follows in 16 bits; 0: it is in the stream's head alone. */
const rateCodes: Readonly<Record<number, number>> = {
  8000: 4,
  16000: 5,
  22050: 6,
  24000: 7,
  32000: 8,
  44100: 9,
  48000: 10,
  96000: 11,
};
const RATE_FOLLOWS = 13;
const MAX_RATE_HERE_HZ = 0xffff;

/** Sound of 16 bits to FLAC frames (RFC 9639 §9) that anybody can decode alone; each channel on its own. */
export class FlacFrameEncoder {
  /** One for each channel, for the caller to fill. */
  readonly channels: readonly Int32Array[];
  readonly #sampleRateHz: number;
  readonly #residual: Int32Array;
  readonly #rice = new RiceCoder();
  readonly #out: BitWriter;

  constructor({ channels, sampleRateHz }: SoundFormat, maxBlockSamples: number) {
    this.channels = Array.from({ length: channels }, () => new Int32Array(maxBlockSamples));
    this.#sampleRateHz = sampleRateHz;
    this.#residual = new Int32Array(maxBlockSamples);
    const subframeBytes = MAX_SUBFRAME_HEAD_BYTES + (maxBlockSamples * SAMPLE_BITS) / 8;
    this.#out = new BitWriter(MAX_HEAD_BYTES + channels * subframeBytes);
  }

  /** Where the frame lies that was encoded last, until the next one is. */
  get bytes(): Buffer {
    return this.#out.bytes;
  }

  /** Encodes the first `count` samples of each channel, which it changes. Returns the frame's length. */
  encode(count: number, firstSample: number): number {
    const out = this.#out;
    out.clear();
    this.#head(count, firstSample);
    for (const samples of this.channels) this.#subframe(samples, count);
    out.align();
    out.write(crc16(out.bytes, out.lengthBytes), 16);
    return out.lengthBytes;
  }

  #head(count: number, firstSample: number): void {
    const out = this.#out;
    const sizeCode = blockSizeCodes[count] ?? SIZE_FOLLOWS;
    const rateCode =
      rateCodes[this.#sampleRateHz] ?? (this.#sampleRateHz <= MAX_RATE_HERE_HZ ? RATE_FOLLOWS : 0);
    out.write(SYNC_VARIABLE_BLOCKS, 16);
    out.write((sizeCode << 4) | rateCode, 8);
    out.write(((this.channels.length - 1) << 4) | (DEPTH_16 << 1), 8);
    this.#codedNumber(firstSample);
    if (sizeCode === SIZE_FOLLOWS) out.write(count - 1, 16);
    if (rateCode === RATE_FOLLOWS) out.write(this.#sampleRateHz, 16);
    out.write(crc8(out.bytes, out.lengthBytes), 8);
  }

  /** UTF-8's manner, up to 36 bits (§9.1.5). */
  #codedNumber(value: number): void {
    const out = this.#out;
    if (value < 0x80) {
      out.write(value, 8);
      return;
    }
    let more = 1;
    while (value >= 2 ** (5 * more + 6)) more += 1;
    const lead = (0xff80 >> more) & 0xff;
    out.write(lead | Math.floor(value / 2 ** (6 * more)), 8);
    for (let left = more - 1; left >= 0; left -= 1)
      out.write(0x80 | (Math.floor(value / 2 ** (6 * left)) % 64), 8);
  }

  #subframe(samples: Int32Array, count: number): void {
    const out = this.#out;
    const wastedBits = shiftOutWasted(samples, count);
    const bits = SAMPLE_BITS - wastedBits;
    if (isConstant(samples, count)) {
      this.#subframeHead(CONSTANT, wastedBits);
      out.write(samples[0]!, bits);
      return;
    }
    const order = bestOrder(samples, count);
    predict(samples, count, order, this.#residual);
    const riceBits = this.#rice.plan(this.#residual, order, count) + order * bits;
    const isVerbatim = riceBits >= count * bits;
    this.#subframeHead(isVerbatim ? VERBATIM : FIXED | order, wastedBits);
    const plain = isVerbatim ? count : order;
    for (let at = 0; at < plain; at += 1) out.write(samples[at]!, bits);
    if (!isVerbatim) this.#rice.write(this.#residual, out);
  }

  #subframeHead(type: number, wastedBits: number): void {
    this.#out.write((type << 1) | (wastedBits > 0 ? 1 : 0), 8);
    if (wastedBits > 0) this.#out.unary(wastedBits - 1);
  }
}

const isConstant = (samples: Int32Array, count: number): boolean => {
  for (let at = 1; at < count; at += 1) if (samples[at] !== samples[0]) return false;
  return true;
};

/** Takes away the bits that are 0 at the end of all samples (§9.2.2): companded sound has two or three. */
const shiftOutWasted = (samples: Int32Array, count: number): number => {
  let any = 0;
  for (let at = 0; at < count; at += 1) any |= samples[at]!;
  if (any === 0) return 0;
  const wastedBits = 31 - Math.clz32(any & -any);
  if (wastedBits === 0) return 0;
  for (let at = 0; at < count; at += 1) samples[at] = samples[at]! >> wastedBits;
  return wastedBits;
};
