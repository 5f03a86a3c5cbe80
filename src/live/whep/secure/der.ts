/** Tags of ASN.1's distinguished encoding (X.690) that a small certificate needs. */
const tag = { integer: 2, bitString: 3, objectId: 6, utf8: 12, utcTime: 23, sequence: 48, set: 49 } as const;

const lengthOf = (lengthBytes: number): Buffer => {
  if (lengthBytes < 0x80) return Buffer.of(lengthBytes);
  if (lengthBytes < 0x100) return Buffer.of(0x81, lengthBytes);
  return Buffer.of(0x82, lengthBytes >> 8, lengthBytes & 0xff);
};

const element = (type: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.of(type), lengthOf(content.length), content]);

export const derSequence = (...parts: readonly Buffer[]): Buffer =>
  element(tag.sequence, Buffer.concat(parts));

export const derSet = (...parts: readonly Buffer[]): Buffer => element(tag.set, Buffer.concat(parts));

/** A positive integer: a first bit that is set would make it negative. */
export const derInteger = (value: Buffer): Buffer =>
  element(tag.integer, value[0]! & 0x80 ? Buffer.concat([Buffer.of(0), value]) : value);

/** Whole bytes; the leading one says that none of their bits is unused. */
export const derBitString = (bytes: Buffer): Buffer =>
  element(tag.bitString, Buffer.concat([Buffer.of(0), bytes]));

export const derUtf8 = (text: string): Buffer => element(tag.utf8, Buffer.from(text));

/** An object identifier given by its encoded arcs. */
export const derObjectId = (...arcs: readonly number[]): Buffer => element(tag.objectId, Buffer.from(arcs));

/** Seconds of UTC with two digits for the year (X.690 §11.8). */
export const derUtcTime = (wallMs: number): Buffer => {
  const digits = new Date(wallMs).toISOString().replace(/\D/g, '').slice(2, 14);
  return element(tag.utcTime, Buffer.from(`${digits}Z`));
};

/** Context tag 0 around a value, as X.509 has it around the version. */
export const derExplicit0 = (content: Buffer): Buffer => element(0xa0, content);
