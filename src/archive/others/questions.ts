import { AppError } from '../../base/errors.js';
import { archiveError } from '../archive-error.js';
import { isCameraId, readName } from '../files/archive-path.js';
import type { FileStamp } from '../files/scan-folder.js';
import { MAX_ANSWER_BYTES } from '../offsite/mailbox.js';

/** A day of UTC, counted from 1970, and a checksum of what is known of its recordings. */
export type DayDigest = readonly [day: number, crc: number];

/** What a box asks another one about its recordings. */
export type Question =
  /** Of which cameras there is news since `after`, by this count of its start `boot`. */
  | { readonly what: 'news'; readonly boot: string; readonly after: number }
  /** All recordings of a camera that aren't those of these days. */
  | { readonly what: 'list'; readonly cameraId: string; readonly days: readonly DayDigest[] }
  /** Bytes of a recording, or of what was seen in it. */
  | {
      readonly what: 'read';
      readonly cameraId: string;
      readonly fileName: string;
      readonly stamp: FileStamp;
      readonly isSidecar: boolean;
      readonly startByte: number;
      readonly endByte: number;
    }
  | { readonly what: 'delete'; readonly cameraId: string; readonly fromMs: number; readonly toMs: number };

type Fields = Readonly<Record<string, unknown>>;

const MAX_BOOT_CHARS = 64;
/** Ten years, and somewhat more. */
const MAX_DAYS = 4_000;
const MAX_DAY = 4_000_000;

const refuse = (what: string): never => {
  throw new AppError('bad_question', `it can't be answered: ${what}`);
};

const numberOf = (value: unknown, what: string): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : refuse(what);

const wholeOf = (value: unknown, what: string, max = Number.MAX_SAFE_INTEGER): number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max
    ? (value as number)
    : refuse(what);

const cameraOf = (value: unknown): string => {
  if (typeof value !== 'string' || !isCameraId(value))
    throw archiveError('not_found', 'there is no such camera');
  return value;
};

const stampOf = (value: unknown): FileStamp => {
  if (typeof value !== 'object' || value === null) return refuse('the stamp');
  const { ino, sizeBytes, mtimeMs, ctimeMs } = value as Fields;
  return {
    ino: numberOf(ino, 'the inode'),
    sizeBytes: wholeOf(sizeBytes, 'the size'),
    mtimeMs: numberOf(mtimeMs, 'the time'),
    ctimeMs: numberOf(ctimeMs, 'the time'),
  };
};

const daysOf = (value: unknown): readonly DayDigest[] => {
  if (!Array.isArray(value) || value.length > MAX_DAYS) return refuse('the days');
  return value.map((pair: unknown) => {
    if (!Array.isArray(pair)) return refuse('a day');
    const day: unknown = pair[0];
    if (!Number.isInteger(day) || Math.abs(day as number) > MAX_DAY) return refuse('a day');
    return [day as number, wholeOf(pair[1], 'a checksum', 2 ** 32 - 1)];
  });
};

/** Whatever a box says; throws `bad_question` for what a later version may ask, too. */
export const readQuestion = (fields: Fields): Question => {
  const { what } = fields;
  if (what === 'news') {
    const { boot, after } = fields;
    if (typeof boot !== 'string' || boot.length > MAX_BOOT_CHARS) return refuse('the start');
    return { what, boot, after: wholeOf(after, 'the count') };
  }
  if (what === 'list') return { what, cameraId: cameraOf(fields['cameraId']), days: daysOf(fields['days']) };
  if (what === 'delete') {
    const [fromMs, toMs] = [numberOf(fields['fromMs'], 'the time'), numberOf(fields['toMs'], 'the time')];
    return { what, cameraId: cameraOf(fields['cameraId']), fromMs, toMs };
  }
  if (what !== 'read') return refuse('it is nothing that is known here');
  const { fileName, stamp, isSidecar } = fields;
  if (typeof fileName !== 'string') return refuse('the name');
  readName(fileName);
  const [startByte, endByte] = [wholeOf(fields['startByte'], 'a byte'), wholeOf(fields['endByte'], 'a byte')];
  if (endByte <= startByte || endByte - startByte > MAX_ANSWER_BYTES) return refuse('the range');
  const cameraId = cameraOf(fields['cameraId']);
  return {
    ...{ what, cameraId, fileName, stamp: stampOf(stamp) },
    ...{ isSidecar: isSidecar === true, startByte, endByte },
  };
};
