/** x^32 + x^26 + ... + 1, most significant bit first. */
const POLYNOMIAL = 0x04c11db7;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) value = value < 0 ? (value << 1) ^ POLYNOMIAL : value << 1;
  return value >>> 0;
});

/** The CRC_32 of a PSI section (ISO 13818-1 annex A): no reflection, no final inversion; zlib's differs in both. */
export const crc32Mpeg = (bytes: Uint8Array, start: number, end: number): number => {
  let value = 0xffff_ffff;
  for (let at = start; at < end; at += 1) {
    value = (value << 8) ^ table[((value >>> 24) ^ bytes[at]!) & 0xff]!;
  }
  return value >>> 0;
};
