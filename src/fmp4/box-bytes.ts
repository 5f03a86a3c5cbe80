import { endianness } from 'node:os';

/** Big-endian fields and boxes as values: for headers that are made once a file. Fragments are written in place. */

export const u8 = (value: number): Buffer => Buffer.of(value);

export const u16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
};

export const u24 = (value: number): Buffer => {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntBE(value, 0, 3);
  return bytes;
};

export const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** A 64-bit field; numbers are exact up to 2^53, which is 3000 years of ticks. */
export const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  writeU64(bytes, value, 0);
  return bytes;
};

/** Writes a 64-bit field in place, without a BigInt. */
export const writeU64 = (target: Buffer, value: number, at: number): number => {
  target.writeUInt32BE(Math.floor(value / 0x1_0000_0000), at);
  return target.writeUInt32BE(value % 0x1_0000_0000, at + 4);
};

export const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');

export const zeros = (count: number): Buffer => Buffer.alloc(count);

/** 32-bit values back to back, as sample tables have them. */
export const u32Table = (values: ArrayLike<number>, count = values.length): Buffer => {
  const words = new Uint32Array(count);
  for (let index = 0; index < count; index += 1) words[index] = values[index]!;
  const bytes = Buffer.from(words.buffer);
  // All machines that Node.js runs on have the other order, but for a few mainframes.
  return endianness() === 'LE' ? bytes.swap32() : bytes;
};

/** Box (ISO 14496-12 §4.2): size and type, then the content. */
export const box = (type: string, ...content: readonly Uint8Array[]): Buffer => {
  const lengthBytes = content.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(lengthBytes), ascii(type), ...content], lengthBytes);
};

/** The same without putting the pieces together: tables of a day are large. */
export const boxOf = (type: string, pieces: readonly Uint8Array[]): Uint8Array[] => {
  const lengthBytes = pieces.reduce((sum, part) => sum + part.length, 8);
  return [Buffer.concat([u32(lengthBytes), ascii(type)]), ...pieces];
};

/** FullBox (ISO 14496-12 §4.2): a box that opens with a version and flags. */
export const fullBox = (
  type: string,
  version: number,
  flags: number,
  ...content: readonly Uint8Array[]
): Buffer => box(type, u8(version), u24(flags), ...content);
