import { ByteReader } from '../base/byte-reader.js';
import { box, fullBox, u32, writeU64 } from './box-bytes.js';
import { BoxCursor } from './box-cursor.js';
import { PartTable } from './part-table.js';

/** Of a Movie Fragment Random Access Offset Box: the last bytes of a file that has one. */
export const MFRO_BYTES = 16;
/** A day of half-second parts has 3 MB. */
const MAX_MFRA_BYTES = 16 << 20;
const ENTRY_BYTES = 19;
const U32 = 0x1_0000_0000;

/**
 * Track Fragment Random Access Box (ISO 14496-12 §8.8.10), version 1: 64-bit times and offsets. The video is the
 * first track of each moof, and a part begins with its keyframe.
 */
const tfra = (trackId: number, parts: PartTable): Buffer => {
  const entries = Buffer.alloc(parts.count * ENTRY_BYTES);
  let at = 0;
  for (let index = 0; index < parts.count; index += 1) {
    at = writeU64(entries, parts.timeTicks[index]!, at); // time
    at = writeU64(entries, parts.moofOffset[index]!, at); // moof_offset
    at = entries.writeUInt8(1, at); // traf_number
    at = entries.writeUInt8(1, at); // trun_number
    at = entries.writeUInt8(1, at); // sample_number
  }
  const oneByteEach = u32(0); // length_size_of_traf_num, …_trun_num, …_sample_num
  return fullBox('tfra', 1, 0, u32(trackId), oneByteEach, u32(parts.count), entries);
};

/** Movie Fragment Random Access Box (§8.8.9), the last one of a closed file: where its parts are. */
export const buildMfra = (trackId: number, parts: PartTable): Buffer => {
  const table = tfra(trackId, parts);
  const lengthBytes = 8 + table.length + MFRO_BYTES;
  return box('mfra', table, fullBox('mfro', 0, 0, u32(lengthBytes))); // §8.8.11
};

/** How long the mfra at the end of a file is, by the file's last 16 bytes; 0: it ends in none. */
export const readMfraBytes = (tail: Buffer): number => {
  const at = tail.length - MFRO_BYTES;
  if (at < 0 || tail.readUInt32BE(at) !== MFRO_BYTES || tail.toString('latin1', at + 4, at + 8) !== 'mfro') {
    return 0;
  }
  const lengthBytes = tail.readUInt32BE(at + 12);
  return lengthBytes >= 8 + MFRO_BYTES && lengthBytes <= MAX_MFRA_BYTES ? lengthBytes : 0;
};

const TFRA_HEAD_BYTES = 16;

const readWord = (bytes: Buffer, at: number, is64: boolean): number =>
  is64 ? bytes.readUInt32BE(at) * U32 + bytes.readUInt32BE(at + 4) : bytes.readUInt32BE(at);

/** Adds the entries to `parts`; false: they aren't what the box's head says, or not in the order of the file. */
const readEntries = (
  { bytes, start, end }: BoxCursor,
  trackId: number,
  parts: PartTable,
  fileBytes: number,
): boolean => {
  const reader = new ByteReader(bytes, start, end);
  const is64 = reader.u8() === 1;
  reader.skip(3);
  if (reader.u32() !== trackId) return true;
  const lengths = reader.u32();
  const wordBytes = is64 ? 8 : 4;
  const entryBytes = 2 * wordBytes + 3 + ((lengths >> 4) & 3) + ((lengths >> 2) & 3) + (lengths & 3);
  const count = reader.u32();
  if (reader.isPastEnd || count * entryBytes !== reader.remaining) return false;
  let last = 0;
  let at = start + TFRA_HEAD_BYTES;
  for (let index = 0; index < count; index += 1, at += entryBytes) {
    const timeTicks = readWord(bytes, at, is64);
    const moofOffset = readWord(bytes, at + wordBytes, is64);
    if (moofOffset <= last || moofOffset >= fileBytes || !Number.isSafeInteger(timeTicks)) return false;
    last = moofOffset;
    parts.add(timeTicks, moofOffset);
  }
  return true;
};

/**
 * The parts that an mfra tells of for one track, `bytes` being the whole box and the end of a file of `fileBytes`;
 * null: it can't be believed, so the file has to be walked.
 */
export const readMfra = (bytes: Buffer, trackId: number, fileBytes: number): PartTable | null => {
  const cursor = new BoxCursor(bytes);
  if (!cursor.next() || cursor.type !== 'mfra' || cursor.end !== bytes.length) return null;
  const inside = cursor.inside();
  const parts = new PartTable();
  while (inside.find('tfra')) {
    if (!readEntries(inside, trackId, parts, fileBytes - bytes.length)) return null;
  }
  return inside.isBroken || parts.count === 0 ? null : parts;
};
