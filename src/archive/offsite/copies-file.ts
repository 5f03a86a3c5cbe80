import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  readdirSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isBoxName } from '../../base/box-name.js';
import { replaceFile, writeAt } from '../../base/durable-file.js';
import { isCameraId } from '../files/archive-path.js';
import { codeOf } from '../files/disk-fault.js';
import { openRegular, readUpTo } from '../files/regular-file.js';
import { timesOfKey } from './copy.js';
import { type CopyChange, CopyTable, changesIn, FIELDS, ROW_BYTES, rowOf, rowOfGone } from './copy-table.js';

/**
 *   0  magic                            8 bytes
 *   8  rows, bytes of the boxes' names, flags: 32 bits each
 *  20  CRC of what is between the magic and this, and of all up to the end of the names
 *  24  rows, then the names as JSON
 *      what changed since, a row and its CRC each
 */
const MAGIC = Buffer.from('FRCOPY02', 'latin1');
const COUNT_AT = 8;
const BOXES_AT = 12;
const FLAGS_AT = 16;
const CRC_AT = 20;
const HEAD_BYTES = 24;
const ADDED_BYTES = ROW_BYTES + 4;
const PARTIAL = 1;
/** Ten years of hours, or four of files of ten minutes. */
export const MAX_COPIES = 256_000;
const MAX_BOXES_BYTES = 1 << 20;
/** Fewer changes than that are read in no time, however few copies there are. */
const LEAST_ADDED = 1_000;
const SUFFIX = '.copies';
/** What the process is short of, which is no fault of a file. */
const WANTS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/** Where it is written what of a camera is in the store. */
export const copiesPath = (copiesDir: string, cameraId: string): string => join(copiesDir, cameraId + SUFFIX);

/** What other boxes put into the store, a folder each. */
const OTHERS = 'others';

export const otherDir = (copiesDir: string, box: string): string => join(copiesDir, OTHERS, box);

/** Boxes of which something is written besides this one. */
export const otherBoxes = (copiesDir: string): string[] => {
  try {
    return readdirSync(join(copiesDir, OTHERS)).filter(isBoxName).sort();
  } catch (fault) {
    if (WANTS.has(codeOf(fault))) throw fault;
    return [];
  }
};

/** Cameras of which something is written. */
export const camerasWithCopies = (copiesDir: string): string[] => {
  mkdirSync(copiesDir, { recursive: true });
  return readdirSync(copiesDir)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .filter(isCameraId);
};

/** How far a file was read: whoever has that reads on from there. */
export type ReadUpTo = {
  readonly ino: number;
  /** What makes this file the one that it was, but for what was added. */
  readonly crc: number;
  readonly count: number;
  readonly wholeBytes: number;
  readonly added: number;
};

export type WrittenCopies = {
  readonly table: CopyTable;
  readonly upTo: ReadUpTo;
  /** Some of what was added can't be read: more may be in the store than this. */
  readonly isPartial: boolean;
};

const boxesIn = (bytes: Buffer): readonly string[] | null => {
  try {
    const boxes: unknown = JSON.parse(bytes.toString('utf8'));
    return Array.isArray(boxes) && boxes.every((box) => typeof box === 'string' && isBoxName(box))
      ? boxes
      : null;
  } catch {
    return null;
  }
};

const numbersIn = (bytes: Buffer): Float64Array => {
  const numbers = new Float64Array(bytes.length / Float64Array.BYTES_PER_ELEMENT);
  new Uint8Array(numbers.buffer).set(bytes);
  return numbers;
};

const bytesOf = (numbers: Float64Array): Buffer =>
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** Of a change: by its place, and by what it changes, so that none is taken for another one. */
const addedCrc = (row: Buffer, crc: number, at: number): number => crc32(row, (crc + at) >>> 0);

/** Rows that were added, up to the first that can't be read. */
const addedIn = (bytes: Buffer, crc: number, first: number): Float64Array => {
  const rows: Buffer[] = [];
  for (let at = 0; at + ADDED_BYTES <= bytes.length; at += ADDED_BYTES) {
    const row = bytes.subarray(at, at + ROW_BYTES);
    if (bytes.readUInt32LE(at + ROW_BYTES) !== addedCrc(row, crc, first + rows.length)) break;
    rows.push(row);
  }
  return numbersIn(Buffer.concat(rows));
};

const maxAdded = (count: number): number => Math.max(LEAST_ADDED, count);

const endOf = ({ wholeBytes, added }: ReadUpTo): number => wholeBytes + added * ADDED_BYTES;

/** By its head, nothing of what was added being read yet; null: it is none of ours. */
const wholeIn = (fd: number, { ino }: Stats): ReadUpTo | null => {
  const head = readUpTo(fd, Buffer.alloc(HEAD_BYTES), 0);
  if (head.length < HEAD_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  const [count, boxesBytes] = [head.readUInt32LE(COUNT_AT), head.readUInt32LE(BOXES_AT)];
  if (count > MAX_COPIES || boxesBytes > MAX_BOXES_BYTES) return null;
  const wholeBytes = HEAD_BYTES + count * ROW_BYTES + boxesBytes;
  return { ino, crc: head.readUInt32LE(CRC_AT), count, wholeBytes, added: 0 };
};

const readIn = (fd: number, stat: Stats): WrittenCopies | null => {
  const head = wholeIn(fd, stat);
  if (head === null || head.wholeBytes > stat.size) return null;
  const { count, crc, wholeBytes } = head;
  const mostBytes = wholeBytes + maxAdded(count) * ADDED_BYTES;
  const bytes = readUpTo(fd, Buffer.alloc(Math.min(stat.size, mostBytes)), 0);
  const content = bytes.subarray(HEAD_BYTES, wholeBytes);
  if (crc32(content, crc32(bytes.subarray(MAGIC.length, CRC_AT))) !== crc) return null;
  const boxes = boxesIn(content.subarray(count * ROW_BYTES));
  if (boxes === null) return null;
  const added = addedIn(bytes.subarray(wholeBytes), crc, 0);
  const whole = new CopyTable(numbersIn(content.subarray(0, count * ROW_BYTES)), boxes);
  const upTo = { ...head, added: added.length / FIELDS };
  return {
    table: added.length === 0 ? whole : whole.with(changesIn(added, boxes)),
    upTo,
    isPartial: (bytes.readUInt32LE(FLAGS_AT) & PARTIAL) !== 0 || stat.size !== endOf(upTo),
  };
};

const opened = <Result>(path: string, use: (fd: number, stat: Stats) => Result): Result | null => {
  try {
    const { fd, stat } = openRegular(path);
    try {
      return use(fd, stat);
    } finally {
      closeSync(fd);
    }
  } catch (fault) {
    if (WANTS.has(codeOf(fault))) throw fault;
    return null;
  }
};

/** What is written of a camera; null: nothing is, it is damaged, or the disk doesn't give it. Then the store tells. */
export const readCopies = (path: string): WrittenCopies | null => opened(path, readIn);

/** Rows that were added since it was read; null: it is another file by now. */
export const readAdded = (
  path: string,
  known: ReadUpTo,
): { readonly rows: Float64Array; readonly upTo: ReadUpTo } | null =>
  opened(path, (fd, stat) => {
    const head = wholeIn(fd, stat);
    const { ino, crc, wholeBytes, count } = known;
    const isSame = head?.ino === ino && head.crc === crc && head.wholeBytes === wholeBytes;
    if (!isSame || stat.size < endOf(known)) return null;
    const mostBytes = (maxAdded(count) - known.added) * ADDED_BYTES;
    const bytes = Buffer.alloc(Math.min(stat.size - endOf(known), Math.max(mostBytes, 0)));
    const rows = addedIn(readUpTo(fd, bytes, endOf(known)), known.crc, known.added);
    return { rows, upTo: { ...known, added: known.added + rows.length / FIELDS } };
  });

const assertFits = ({ count }: CopyTable): void => {
  if (count > MAX_COPIES)
    throw new Error(`no more than ${MAX_COPIES} copies of a camera can be written down`);
};

/** Replaces it; what was there before, or this, is there after a power cut. */
export const writeCopies = (path: string, table: CopyTable, isPartial = false): void => {
  assertFits(table);
  const boxes = Buffer.from(JSON.stringify(table.boxes));
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(table.count, COUNT_AT);
  head.writeUInt32LE(boxes.length, BOXES_AT);
  head.writeUInt32LE(isPartial ? PARTIAL : 0, FLAGS_AT);
  const content = Buffer.concat([bytesOf(table.rows), boxes]);
  head.writeUInt32LE(crc32(content, crc32(head.subarray(MAGIC.length, CRC_AT))), CRC_AT);
  replaceFile(path, Buffer.concat([head, content]));
};

/** Whether changes can be added to a file as it is; else it is written anew. */
export const mayAdd = ({ table, upTo, isPartial }: WrittenCopies, changes: readonly CopyChange[]): boolean =>
  !isPartial &&
  upTo.added + changes.length <= maxAdded(upTo.count) &&
  changes.every(({ copy }) => copy === null || table.boxes.includes(copy.box));

const cut = (fd: number, lengthBytes: number): void => {
  try {
    ftruncateSync(fd, lengthBytes);
  } catch {
    // What is there by half is told by its CRC.
  }
};

/** Adds changes to a file that is as it was read, synced; what is written then. */
export const addCopies = (
  path: string,
  { table: before, upTo }: WrittenCopies,
  changes: readonly CopyChange[],
): WrittenCopies => {
  const table = before.with(changes);
  assertFits(table);
  const rows = changes.map(({ key, copy }, at) => {
    const { startMs, endMs } = timesOfKey(key);
    const row = bytesOf(
      Float64Array.from(
        copy === null ? rowOfGone(startMs, endMs) : rowOf(copy, table.boxes.indexOf(copy.box)),
      ),
    );
    const crc = Buffer.alloc(4);
    crc.writeUInt32LE(addedCrc(row, upTo.crc, upTo.added + at));
    return Buffer.concat([row, crc]);
  });
  const { fd } = openRegular(path, constants.O_RDWR);
  const from = endOf(upTo);
  try {
    writeAt(fd, Buffer.concat(rows), from);
    fsyncSync(fd);
  } catch (fault) {
    cut(fd, from);
    throw fault;
  } finally {
    closeSync(fd);
  }
  return { table, upTo: { ...upTo, added: upTo.added + changes.length }, isPartial: false };
};

/** Nothing is left of a camera. */
export const removeCopies = (path: string): void => rmSync(path, { force: true });
