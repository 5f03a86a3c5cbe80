import assert from 'node:assert/strict';

/** Bits, the highest first. */
class Bits {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(count: number): number {
    let value = 0;
    for (let bit = 0; bit < count; bit += 1) {
      const byte = this.#bytes[this.at >> 3];
      assert.ok(byte !== undefined, 'the frame is cut short');
      value = value * 2 + ((byte >> (7 - (this.at & 7))) & 1);
      this.at += 1;
    }
    return value;
  }

  signed(count: number): number {
    const value = this.read(count);
    return value >= 2 ** (count - 1) ? value - 2 ** count : value;
  }

  unary(): number {
    let zeros = 0;
    while (this.read(1) === 0) zeros += 1;
    return zeros;
  }
}

/** By the book, bit by bit (RFC 9639 appendix), so that no table can be wrong in both. */
const crcOf = (bytes: Uint8Array, width: number, polynomial: number): number => {
  let crc = 0;
  for (const byte of bytes)
    for (let bit = 7; bit >= 0; bit -= 1) {
      const top = ((crc >> (width - 1)) & 1) ^ ((byte >> bit) & 1);
      crc = ((crc << 1) & (2 ** width - 1)) ^ (top === 1 ? polynomial : 0);
    }
  return crc;
};

const COEFFICIENTS: readonly (readonly number[])[] = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]];

const readResidual = (bits: Bits, order: number, count: number): number[] => {
  assert.equal(bits.read(2), 0, 'parameters of 4 bits');
  const partitionOrder = bits.read(4);
  const length = count / 2 ** partitionOrder;
  assert.ok(Number.isInteger(length) && length > order);
  const residual: number[] = [];
  for (let partition = 0; partition < 2 ** partitionOrder; partition += 1) {
    const parameter = bits.read(4);
    assert.notEqual(parameter, 15, 'nothing escapes');
    for (let left = partition === 0 ? length - order : length; left > 0; left -= 1) {
      const folded = bits.unary() * 2 ** parameter + bits.read(parameter);
      residual.push(folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2);
    }
  }
  return residual;
};

const readSubframe = (bits: Bits, count: number): number[] => {
  assert.equal(bits.read(1), 0);
  const type = bits.read(6);
  const wastedBits = bits.read(1) === 0 ? 0 : bits.unary() + 1;
  const depth = 16 - wastedBits;
  const shifted = (sample: number): number => sample * 2 ** wastedBits;
  if (type === 0) return Array.from({ length: count }).fill(shifted(bits.signed(depth))) as number[];
  if (type === 1) return Array.from({ length: count }, () => shifted(bits.signed(depth)));
  assert.ok(type >= 8 && type <= 12, `a subframe of type ${type}`);
  const coefficients = COEFFICIENTS[type - 8]!;
  const samples = Array.from({ length: coefficients.length }, () => bits.signed(depth));
  for (const value of readResidual(bits, coefficients.length, count)) {
    const predicted = coefficients.reduce(
      (sum, coefficient, back) => sum + coefficient * samples[samples.length - 1 - back]!,
      0,
    );
    samples.push(predicted + value);
  }
  return samples.map(shifted);
};

const readCodedNumber = (bits: Bits): number => {
  const first = bits.read(8);
  if (first < 0x80) return first;
  const more = Math.clz32(~(first << 24)) - 1;
  let value = first & (0x3f >> more);
  for (let left = more; left > 0; left -= 1) {
    assert.equal(bits.read(2), 2);
    value = value * 64 + bits.read(6);
  }
  return value;
};

export type FlacFrame = {
  readonly firstSample: number;
  /** Null: it is told by the stream's head. */
  readonly sampleRateHz: number | null;
  readonly channels: readonly (readonly number[])[];
};

const RATES: Readonly<Record<number, number>> = {
  4: 8000,
  5: 16000,
  6: 22050,
  7: 24000,
  8: 32000,
  9: 44100,
  10: 48000,
  11: 96000,
};

/** Decodes one frame as strictly as can be, and slowly; not written with the encoder in view. */
export const decodeFlacFrame = (frame: Uint8Array): FlacFrame => {
  const bits = new Bits(frame);
  assert.equal(bits.read(16), 0xfff9, 'sync code, blocks of any size');
  const sizeCode = bits.read(4);
  const rateCode = bits.read(4);
  const channelCount = bits.read(4) + 1;
  assert.ok(channelCount <= 8);
  assert.equal(bits.read(4), 8, '16 bits a sample');
  const firstSample = readCodedNumber(bits);
  assert.ok(sizeCode === 7 || sizeCode >= 8);
  const count = sizeCode === 7 ? bits.read(16) + 1 : 2 ** sizeCode;
  const sampleRateHz = rateCode === 13 ? bits.read(16) : (RATES[rateCode] ?? null);
  assert.equal(crcOf(frame.subarray(0, bits.at / 8), 8, 0x07), bits.read(8), 'CRC-8');
  const channels = Array.from({ length: channelCount }, () => readSubframe(bits, count));
  while (bits.at % 8 !== 0) assert.equal(bits.read(1), 0);
  assert.equal(crcOf(frame.subarray(0, bits.at / 8), 16, 0x8005), bits.read(16), 'CRC-16');
  assert.equal(bits.at, frame.length * 8, 'nothing behind it');
  return { firstSample, sampleRateHz, channels };
};
