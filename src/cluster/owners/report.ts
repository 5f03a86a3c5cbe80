import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isBoxName } from '../../base/box-name.js';

/** A camera as the box tells that has it. */
export type HeldRow = {
  readonly cameraId: string;
  /** Where two boxes recorded the same time the higher one counts. */
  readonly epoch: number;
  /** The servers have that; until then it is what this box will ask for. */
  readonly isClaimed: boolean;
  /** Its pictures are on this box's disk or, where none are to be, there; or it is not to be connected. */
  readonly isReady: boolean;
  /** It hasn't been that for long, or never was. */
  readonly isFailing: boolean;
  /** It only tries whether it works there, as it doesn't where it is. */
  readonly isTrial: boolean;
  /** It worked, and nothing comes of it now. */
  readonly isSilent: boolean;
  /** It ended threads that it had for itself: whoever takes it is to give it one. */
  readonly endsThreads: boolean;
  /** What it shows of the camera; null: not told with this. Others are put in their place each second. */
  figures: unknown;
};

/** What a box tells of its cameras: all of them once a second, in parts; those that changed at once. */
export type Report = {
  readonly box: string;
  readonly boot: string;
  /** Rises with each report; all parts of one have the same. */
  readonly seq: number;
  /** Which one of how many parts; null: what changed. */
  readonly part: readonly [index: number, count: number] | null;
  readonly rows: readonly HeldRow[];
  /** It has them no more. */
  readonly dropped: readonly string[];
};

/** Far below what servers take at once. */
export const ROWS_PER_PART = 500;
const MAX_PARTS = 2_000;
const MAX_BYTES = 16 << 20;
const MAX_FIGURES = 64;
const CAMERA_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const CLAIMED = 1;
const READY = 2;
const FAILING = 4;
const TRIAL = 8;
const SILENT = 16;
const ENDS_THREADS = 32;

const flagsOf = ({ isClaimed, isReady, isFailing, isTrial, isSilent, endsThreads }: HeldRow): number =>
  (isClaimed ? CLAIMED : 0) |
  (isReady ? READY : 0) |
  (isFailing ? FAILING : 0) |
  (isTrial ? TRIAL : 0) |
  (isSilent ? SILENT : 0) |
  (endsThreads ? ENDS_THREADS : 0);

export const reportBytes = ({ box, boot, seq, part, rows, dropped }: Report): Buffer => {
  const told = rows.map((row) => [
    ...[row.cameraId, row.epoch, flagsOf(row)],
    ...(row.figures === null ? [] : [row.figures]),
  ]);
  return deflateRawSync(JSON.stringify({ box, boot, seq, part, rows: told, dropped }), { level: 1 });
};

const isCount = (value: unknown, max = Number.MAX_SAFE_INTEGER): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max;

const isCameraId = (value: unknown): value is string => typeof value === 'string' && CAMERA_ID.test(value);

const rowOf = (value: unknown): HeldRow | null => {
  if (!Array.isArray(value)) return null;
  const [cameraId, epoch, flags, figures = null] = value as unknown[];
  if (!isCameraId(cameraId) || !isCount(epoch) || !isCount(flags)) return null;
  if (figures !== null && !(Array.isArray(figures) && figures.length <= MAX_FIGURES)) return null;
  return {
    cameraId,
    epoch,
    figures,
    isClaimed: (flags & CLAIMED) !== 0,
    isReady: (flags & READY) !== 0,
    isFailing: (flags & FAILING) !== 0,
    isTrial: (flags & TRIAL) !== 0,
    isSilent: (flags & SILENT) !== 0,
    endsThreads: (flags & ENDS_THREADS) !== 0,
  };
};

const partOf = (value: unknown): Report['part'] | undefined => {
  if (value === null) return null;
  if (!Array.isArray(value)) return undefined;
  const [index, count] = value as unknown[];
  return isCount(count, MAX_PARTS) && isCount(index) && index < count ? [index, count] : undefined;
};

const jsonOf = (bytes: Uint8Array): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(inflateRawSync(bytes, { maxOutputLength: MAX_BYTES }).toString());
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
};

/** Null: it is none. */
export const reportOf = (bytes: Uint8Array): Report | null => {
  const { box, boot, seq, part, rows, dropped } = jsonOf(bytes);
  if (typeof box !== 'string' || !isBoxName(box) || typeof boot !== 'string' || boot.length > 64) return null;
  const place = partOf(part);
  if (!isCount(seq) || place === undefined || !Array.isArray(rows) || !Array.isArray(dropped)) return null;
  const held = rows.slice(0, ROWS_PER_PART).map(rowOf);
  if (held.includes(null)) return null;
  return {
    ...{ box, boot, seq, part: place, dropped: dropped.filter(isCameraId) },
    rows: held.filter((row) => row !== null),
  };
};
