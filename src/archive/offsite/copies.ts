import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isBoxName } from '../../base/box-name.js';
import { replaceFile } from '../../base/durable-file.js';
import { startReasons } from '../../fmp4/start-reason.js';
import { isCameraId } from '../files/archive-path.js';
import type { RecordingName } from '../files/file-name.js';
import { openRegular, readUpTo } from '../files/regular-file.js';
import type { FileStamp } from '../files/scan-folder.js';
import { type Inspection, nothingKnown } from '../list/inspect-files.js';

/** A recording in the store, and what must be known of it while that is away. */
export type Copy = {
  readonly recording: RecordingName;
  /** How the file looked that was put there; null: it was found in the store. */
  readonly stamp: FileStamp | null;
  readonly inspection: Inspection;
  readonly sizeBytes: number;
  /** Of its ETag, see `markOf`. */
  readonly mark: number;
  /** Of what was seen in it; 0: there is nothing. */
  readonly sidecarBytes: number;
  readonly epoch: number;
  readonly box: string;
  /** It is to be deleted there, and is no recording any more. */
  readonly isLeaving: boolean;
};

const MAGIC = Buffer.from('FRCOPY01', 'latin1');
const COUNT_AT = 8;
const CRC_AT = 12;
const HEAD_BYTES = 16;
const FIELDS = 14;
const ROW_BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT;
/** Ten years of hours, or four of files of ten minutes. */
const MAX_COPIES = 256_000;
/** With the names of boxes. */
const MAX_FILE_BYTES = HEAD_BYTES + MAX_COPIES * ROW_BYTES + (1 << 20);
const SUFFIX = '.copies';
const KEY_SECONDS = 131_072;

/** 48 bits of an ETag: it is compared, nothing else. */
export const markOf = (etag: string): number => createHash('sha256').update(etag).digest().readUIntBE(0, 6);

/** A closed recording's name as a number. */
export const copyKey = (startMs: number, endMs: number): number =>
  (startMs / 1000) * KEY_SECONDS + (endMs - startMs) / 1000;

export const keyOf = ({ recording }: Copy): number =>
  copyKey(recording.startMs, recording.endMs ?? recording.startMs);

/** Where it is written what of a camera is in the store. */
export const copiesPath = (copiesDir: string, cameraId: string): string => join(copiesDir, cameraId + SUFFIX);

/** Cameras of which something is written. */
export const camerasWithCopies = (copiesDir: string): string[] => {
  mkdirSync(copiesDir, { recursive: true });
  return readdirSync(copiesDir)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .filter(isCameraId);
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

const copyIn = (row: Float64Array, boxes: readonly string[]): Copy => {
  const [startMs, endMs, ino, sizeBytes, mtimeMs, ctimeMs, fromMs, toMs] = row as unknown as number[];
  const reason = startReasons[row[8]!] ?? null;
  const isSeen = !Number.isNaN(fromMs);
  return {
    recording: { startMs: startMs!, endMs: endMs! },
    stamp: Number.isNaN(ino)
      ? null
      : { ino: ino!, sizeBytes: sizeBytes!, mtimeMs: mtimeMs!, ctimeMs: ctimeMs! },
    inspection: {
      ...nothingKnown,
      startMs: isSeen ? fromMs! : null,
      endMs: Number.isNaN(toMs) ? null : toMs!,
      startReason: reason,
    },
    sizeBytes: sizeBytes!,
    mark: row[9]!,
    sidecarBytes: row[10]!,
    epoch: row[11]!,
    box: boxes[row[12]!] ?? '',
    isLeaving: row[13] === 1,
  };
};

/** What is written of a camera; null: nothing is, or it is damaged. Throws what the disk says otherwise. */
export const readCopies = (path: string): Copy[] | null => {
  let bytes: Buffer;
  try {
    const { fd, stat } = openRegular(path);
    try {
      if (stat.size > MAX_FILE_BYTES) return null;
      bytes = readUpTo(fd, Buffer.alloc(stat.size), 0);
    } finally {
      closeSync(fd);
    }
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fault;
  }
  if (bytes.length < HEAD_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  const content = bytes.subarray(HEAD_BYTES);
  const rowsBytes = bytes.readUInt32LE(COUNT_AT) * ROW_BYTES;
  if (rowsBytes > content.length || crc32(content) !== bytes.readUInt32LE(CRC_AT)) return null;
  const boxes = boxesIn(content.subarray(rowsBytes));
  if (boxes === null) return null;
  const rows = new Float64Array(rowsBytes / 8);
  new Uint8Array(rows.buffer).set(content.subarray(0, rowsBytes));
  return Array.from({ length: rows.length / FIELDS }, (_, at) =>
    copyIn(rows.subarray(at * FIELDS, (at + 1) * FIELDS), boxes),
  );
};

/** Replaces it; what was there before, or this, is there after a power cut. */
export const writeCopies = (path: string, copies: readonly Copy[]): void => {
  if (copies.length > MAX_COPIES)
    throw new Error(`no more than ${MAX_COPIES} copies of a camera can be written down`);
  const boxes = [...new Set(copies.map(({ box }) => box))];
  const rows = new Float64Array(copies.length * FIELDS);
  for (const [at, copy] of copies.entries()) {
    const { recording, stamp, inspection } = copy;
    rows.set(
      [
        ...[recording.startMs, recording.endMs ?? Number.NaN],
        ...[stamp?.ino ?? Number.NaN, copy.sizeBytes, stamp?.mtimeMs ?? 0, stamp?.ctimeMs ?? 0],
        ...[inspection.startMs ?? Number.NaN, inspection.endMs ?? Number.NaN],
        inspection.startReason === null ? -1 : startReasons.indexOf(inspection.startReason),
        ...[copy.mark, copy.sidecarBytes, copy.epoch, boxes.indexOf(copy.box), copy.isLeaving ? 1 : 0],
      ],
      at * FIELDS,
    );
  }
  const content = Buffer.concat([Buffer.from(rows.buffer), Buffer.from(JSON.stringify(boxes))]);
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(copies.length, COUNT_AT);
  head.writeUInt32LE(crc32(content), CRC_AT);
  replaceFile(path, Buffer.concat([head, content]));
};

/** Nothing is left of a camera. */
export const removeCopies = (path: string): void => rmSync(path, { force: true });
