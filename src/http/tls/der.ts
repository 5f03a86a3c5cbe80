/** DER (ITU-T X.690): each function writes one value, tag and length included. */

const lengthOf = (bytes: number): Buffer => {
  if (bytes < 0x80) return Buffer.of(bytes);
  const hex = bytes.toString(16);
  const digits = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.of(0x80 | digits.length), digits]);
};

const value = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
};

export const sequence = (...parts: readonly Buffer[]): Buffer => value(0x30, ...parts);

/** Of one member alone: more would have to be sorted. */
export const setOf = (member: Buffer): Buffer => value(0x31, member);

export const boolean = (is: boolean): Buffer => value(0x01, Buffer.of(is ? 0xff : 0));

/** A positive number, of bytes that don't begin with 0. */
export const integer = (bytes: Buffer): Buffer =>
  value(0x02, ...((bytes[0] ?? 0) >= 0x80 ? [Buffer.of(0), bytes] : [bytes]));

export const bitString = (bytes: Buffer, unusedBits = 0): Buffer => value(0x03, Buffer.of(unusedBits), bytes);

export const octetString = (bytes: Buffer): Buffer => value(0x04, bytes);

export const utf8String = (text: string): Buffer => value(0x0c, Buffer.from(text));

/** Seven bits a byte, the first ones marked; the first two numbers share a byte. */
export const objectId = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((number) => {
    const digits = [number & 0x7f];
    for (let left = number >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return value(0x06, Buffer.from(bytes));
};

/** RFC 5280, section 4.1.2.5: two digits of the year up to 2049, four beyond. */
export const time = (wallMs: number): Buffer => {
  const date = new Date(wallMs);
  const digits = date.toISOString().replace(/\.\d+|[-:T]/g, '');
  return date.getUTCFullYear() < 2050
    ? value(0x17, Buffer.from(digits.slice(2), 'latin1'))
    : value(0x18, Buffer.from(digits, 'latin1'));
};

/** A part that is told by its number, of further parts. */
export const tagged = (number: number, ...parts: readonly Buffer[]): Buffer => value(0xa0 | number, ...parts);

/** A part that is told by its number, of plain bytes. */
export const taggedBytes = (number: number, bytes: Buffer): Buffer => value(0x80 | number, bytes);
