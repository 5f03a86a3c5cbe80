/** RFC 9639 §9.1.8: x^8 + x^2 + x + 1. */
const CRC8_POLYNOMIAL = 0x07;
/** §9.3: x^16 + x^15 + x^2 + 1. */
const CRC16_POLYNOMIAL = 0x8005;

const remainderOf = (byte: number, bits: 8 | 16, polynomial: number): number => {
  let value = byte << (bits - 8);
  const top = 1 << (bits - 1);
  const mask = (1 << bits) - 1;
  for (let bit = 0; bit < 8; bit += 1) value = (value & top ? (value << 1) ^ polynomial : value << 1) & mask;
  return value;
};

const crc8Table = Uint8Array.from({ length: 256 }, (_, byte) => remainderOf(byte, 8, CRC8_POLYNOMIAL));
const crc16Table = Uint16Array.from({ length: 256 }, (_, byte) => remainderOf(byte, 16, CRC16_POLYNOMIAL));

/** Of `bytes[0, end)`. */
export const crc8 = (bytes: Uint8Array, end: number): number => {
  let crc = 0;
  for (let at = 0; at < end; at += 1) crc = crc8Table[crc ^ bytes[at]!]!;
  return crc;
};

/** Of `bytes[0, end)`. */
export const crc16 = (bytes: Uint8Array, end: number): number => {
  let crc = 0;
  for (let at = 0; at < end; at += 1) crc = ((crc << 8) & 0xffff) ^ crc16Table[(crc >> 8) ^ bytes[at]!]!;
  return crc;
};
