import { closeSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { startReasons } from '../../fmp4/start-reason.js';
import type { RecordingName } from '../files/file-name.js';
import { openRegular, readUpTo } from '../files/regular-file.js';
import { type FileStamp, isSameStamp } from '../files/scan-folder.js';
import type { Inspection } from '../list/inspect-files.js';

/** Of another format nothing is known. */
const MAGIC = Buffer.from('FRFACTS1', 'latin1');
const COUNT_AT = 8;
const CRC_AT = 12;
const HEAD_BYTES = 16;
const FIELDS = 9;
const ROW_BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT;
/** Two years of files of five minutes. */
const MAX_ROWS = 200_000;
/** Longer than a name can tell, in seconds. */
const KEY_SECONDS = 131_072;

/** A closed recording with what it says of its time. */
export type FactsRow = {
  readonly name: RecordingName;
  readonly stamp: FileStamp;
  readonly inspection: Inspection;
};

const keyOf = ({ startMs, endMs }: RecordingName): number =>
  (startMs / 1000) * KEY_SECONDS + ((endMs ?? startMs) - startMs) / 1000;

/**
 * What a camera's closed recordings say of their times, kept from run to run: a cache, nothing else. Each row goes with a
 * name and a stamp (inode, size, times of change): for any other file it says nothing.
 */
export class CameraFacts {
  readonly #rows: Float64Array;
  readonly #indexes = new Map<number, number>();

  constructor(rows: Float64Array) {
    this.#rows = rows;
    for (let at = 0; at < rows.length; at += FIELDS)
      this.#indexes.set(keyOf({ startMs: rows[at]!, endMs: rows[at + 1]! }), at);
  }

  get count(): number {
    return this.#rows.length / FIELDS;
  }

  /** What is known of a file that looks so; null: nothing. */
  find(name: RecordingName, stamp: FileStamp): Inspection | null {
    const at = this.#indexes.get(keyOf(name));
    if (at === undefined) return null;
    const rows = this.#rows;
    const [sizeBytes, ino, mtimeMs, ctimeMs] = [rows[at + 3]!, rows[at + 2]!, rows[at + 4]!, rows[at + 5]!];
    if (!isSameStamp(stamp, { ino, sizeBytes, mtimeMs, ctimeMs })) return null;
    const endMs = rows[at + 7]!;
    return {
      startMs: rows[at + 6]!,
      endMs: Number.isNaN(endMs) ? null : endMs,
      startReason: startReasons[rows[at + 8]!] ?? null,
      seenBytes: 0,
    };
  }
}

const rowsIn = (bytes: Buffer): Float64Array | null => {
  if (bytes.length < HEAD_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  const content = bytes.subarray(HEAD_BYTES);
  const count = bytes.readUInt32LE(COUNT_AT);
  if (content.length !== count * ROW_BYTES || crc32(content) !== bytes.readUInt32LE(CRC_AT)) return null;
  const rows = new Float64Array(count * FIELDS);
  new Uint8Array(rows.buffer).set(content);
  return rows;
};

/** What is kept of a camera; nothing where there is no such file, or it is damaged, or can't be read. */
export const readFacts = (path: string): CameraFacts => {
  try {
    const { fd, stat } = openRegular(path);
    try {
      const isTooLarge = stat.size > HEAD_BYTES + MAX_ROWS * ROW_BYTES;
      const rows = isTooLarge ? null : rowsIn(readUpTo(fd, Buffer.alloc(stat.size), 0));
      return new CameraFacts(rows ?? new Float64Array());
    } finally {
      closeSync(fd);
    }
  } catch {
    return new CameraFacts(new Float64Array());
  }
};

/** Replaces it; of too many rows the last ones count. Not synced: what a power cut leaves of it its checksum tells. */
export const writeFacts = (path: string, all: readonly FactsRow[]): void => {
  const kept = all.slice(-MAX_ROWS);
  const rows = Float64Array.from(
    kept.flatMap(({ name, stamp, inspection }) => [
      ...[name.startMs, name.endMs ?? Number.NaN],
      ...[stamp.ino, stamp.sizeBytes, stamp.mtimeMs, stamp.ctimeMs],
      ...[inspection.startMs ?? Number.NaN, inspection.endMs ?? Number.NaN],
      inspection.startReason === null ? -1 : startReasons.indexOf(inspection.startReason),
    ]),
  );
  const content = Buffer.from(rows.buffer);
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(kept.length, COUNT_AT);
  head.writeUInt32LE(crc32(content), CRC_AT);
  const draft = `${path}.new`;
  // The folder may be thrown away at any time.
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(draft, Buffer.concat([head, content]));
    renameSync(draft, path);
  } catch (fault) {
    rmSync(draft, { force: true });
    throw fault;
  }
};
