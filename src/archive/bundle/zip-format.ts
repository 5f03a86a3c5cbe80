/*
 * The headers of a zip file whose members are stored as they are (PKWARE's APPNOTE 6.3, sections 4.3 and 4.5.3): each
 * of them has the same length whatever the checksums will be, so that all is placed before anything is read.
 */

export type ZipMember = {
  /** In ASCII. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly madeMs: number;
  /** Its checksum is known behind it only. */
  readonly isStreamed: boolean;
};

const LOCAL = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const CENTRAL = 0x02014b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const END = 0x06054b50;

/** Numbers from here on don't fit: this one says that they stand in the 64-bit field. */
const OVERFLOW = 0xffffffff;
const OVERFLOW_16 = 0xffff;
const FIELD_64 = 0x0001;
const VERSION = 20;
const VERSION_64 = 45;
const UNIX = 3 << 8;
/** An ordinary file, for its owner to write and all to read. */
const MODE = (0o100644 << 16) >>> 0;
const FLAG_STREAMED = 0x0008;

const isLarge = ({ sizeBytes }: ZipMember): boolean => sizeBytes >= OVERFLOW;

/** Writes little-endian numbers one behind another. */
class Fields {
  readonly bytes: Buffer;
  #at = 0;

  constructor(lengthBytes: number) {
    this.bytes = Buffer.alloc(lengthBytes);
  }

  u16(...values: readonly number[]): this {
    for (const value of values) this.#at = this.bytes.writeUInt16LE(value, this.#at);
    return this;
  }

  u32(...values: readonly number[]): this {
    for (const value of values) this.#at = this.bytes.writeUInt32LE(value, this.#at);
    return this;
  }

  u64(...values: readonly number[]): this {
    for (const value of values) this.#at = this.bytes.writeBigUInt64LE(BigInt(value), this.#at);
    return this;
  }

  text(text: string): this {
    this.#at += this.bytes.write(text, this.#at, 'ascii');
    return this;
  }
}

/** A time in steps of two seconds, from 1980 on; zip knows no zones, and this is UTC. */
const dosTime = (timeMs: number): readonly [time: number, date: number] => {
  const at = new Date(Math.max(timeMs, Date.UTC(1980, 0, 1)));
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const years = Math.min(at.getUTCFullYear() - 1980, 127);
  return [time, (years << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()];
};

const LOCAL_64_BYTES = 20;

export const localHeaderBytes = (member: ZipMember): number =>
  30 + member.name.length + (isLarge(member) ? LOCAL_64_BYTES : 0);

/** What stands before a member. `crc32` counts where that isn't streamed. */
export const localHeader = (member: ZipMember, crc32: number): Buffer => {
  const { name, sizeBytes, madeMs, isStreamed } = member;
  const shown = isLarge(member) ? OVERFLOW : isStreamed ? 0 : sizeBytes;
  const fields = new Fields(localHeaderBytes(member))
    .u32(LOCAL)
    .u16(isLarge(member) ? VERSION_64 : VERSION, isStreamed ? FLAG_STREAMED : 0, 0, ...dosTime(madeMs))
    .u32(isStreamed ? 0 : crc32, shown, shown)
    .u16(name.length, isLarge(member) ? LOCAL_64_BYTES : 0)
    .text(name);
  // That it is there says that the sizes behind the member have 64 bits.
  if (isLarge(member)) fields.u16(FIELD_64, 16).u64(isStreamed ? 0 : sizeBytes, isStreamed ? 0 : sizeBytes);
  return fields.bytes;
};

export const descriptorBytes = (member: ZipMember): number => {
  if (!member.isStreamed) return 0;
  return isLarge(member) ? 24 : 16;
};

/** What stands behind a streamed member. */
export const descriptor = (member: ZipMember, crc32: number): Buffer => {
  const fields = new Fields(descriptorBytes(member)).u32(DESCRIPTOR, crc32);
  const { sizeBytes } = member;
  return isLarge(member) ? fields.u64(sizeBytes, sizeBytes).bytes : fields.u32(sizeBytes, sizeBytes).bytes;
};

const longFields = (member: ZipMember, offsetBytes: number): readonly number[] => [
  ...(isLarge(member) ? [member.sizeBytes, member.sizeBytes] : []),
  ...(offsetBytes >= OVERFLOW ? [offsetBytes] : []),
];

const extraBytes = (longs: readonly number[]): number => (longs.length === 0 ? 0 : 4 + 8 * longs.length);

export const centralHeaderBytes = (member: ZipMember, offsetBytes: number): number =>
  46 + member.name.length + extraBytes(longFields(member, offsetBytes));

/** A member in the directory at the end; `offsetBytes`: where its local header is. */
export const centralHeader = (member: ZipMember, crc32: number, offsetBytes: number): Buffer => {
  const { name, sizeBytes, madeMs, isStreamed } = member;
  const longs = longFields(member, offsetBytes);
  const version = longs.length === 0 ? VERSION : VERSION_64;
  const shown = Math.min(sizeBytes, OVERFLOW);
  const fields = new Fields(centralHeaderBytes(member, offsetBytes))
    .u32(CENTRAL)
    .u16(UNIX | version, version, isStreamed ? FLAG_STREAMED : 0, 0, ...dosTime(madeMs))
    .u32(crc32, shown, shown)
    .u16(name.length, extraBytes(longs), 0, 0, 0)
    .u32(MODE, Math.min(offsetBytes, OVERFLOW))
    .text(name);
  if (longs.length > 0) fields.u16(FIELD_64, 8 * longs.length).u64(...longs);
  return fields.bytes;
};

/** The directory's own place. */
export type ZipDirectory = {
  readonly count: number;
  readonly offsetBytes: number;
  readonly lengthBytes: number;
};

const needs64 = ({ count, offsetBytes, lengthBytes }: ZipDirectory): boolean =>
  count >= OVERFLOW_16 || offsetBytes >= OVERFLOW || lengthBytes >= OVERFLOW;

const END_64_BYTES = 56;

/** The end of the file. */
export const endOfZip = (directory: ZipDirectory): Buffer => {
  const { count, offsetBytes, lengthBytes } = directory;
  const members = Math.min(count, OVERFLOW_16);
  const end = new Fields(22)
    .u32(END)
    .u16(0, 0, members, members)
    .u32(Math.min(lengthBytes, OVERFLOW), Math.min(offsetBytes, OVERFLOW))
    .u16(0).bytes;
  if (!needs64(directory)) return end;
  const end64 = new Fields(END_64_BYTES)
    .u32(END_64)
    .u64(END_64_BYTES - 12)
    .u16(UNIX | VERSION_64, VERSION_64)
    .u32(0, 0)
    .u64(count, count, lengthBytes, offsetBytes).bytes;
  const locator = new Fields(20)
    .u32(LOCATOR_64, 0)
    .u64(offsetBytes + lengthBytes)
    .u32(1).bytes;
  return Buffer.concat([end64, locator, end]);
};
