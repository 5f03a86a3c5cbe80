/** What a recording's name says of it. Names carry whole seconds; the file itself knows the milliseconds. */
export type RecordingName = {
  readonly startMs: number;
  /** Null: the file is being written, or was when its writer died. */
  readonly endMs: number | null;
};

const DAY_MS = 86_400_000;
const OPEN_SUFFIX = '_ongoing.mp4';

const twoDigits = (value: number): string => String(value).padStart(2, '0');

const dateOf = (time: Date): string =>
  `${String(time.getUTCFullYear()).padStart(4, '0')}-${twoDigits(time.getUTCMonth() + 1)}-${twoDigits(time.getUTCDate())}`;

const timeOf = (time: Date): string =>
  `${twoDigits(time.getUTCHours())}-${twoDigits(time.getUTCMinutes())}-${twoDigits(time.getUTCSeconds())}`;

const startOf = (startMs: number): string => {
  const start = new Date(startMs);
  return `${dateOf(start)}_${timeOf(start)}`;
};

/** The name of a recording that is being written: `2026-11-21_08-30-00_ongoing.mp4`. */
export const openName = (startMs: number): string => `${startOf(startMs)}${OPEN_SUFFIX}`;

/**
 * The name of a closed recording: `2026-11-21_08-30-00_to_09-30-00.mp4`. The end is the second in which it ends
 * or the next one, so that it is always after the start.
 */
export const closedName = (startMs: number, endMs: number): string => {
  const startSec = Math.floor(startMs / 1000);
  const endSec = Math.max(Math.ceil(endMs / 1000), startSec + 1);
  return `${startOf(startMs)}_to_${timeOf(new Date(endSec * 1000))}.mp4`;
};

const namePattern = /^(\d{4})-(\d\d)-(\d\d)_(\d\d)-(\d\d)-(\d\d)_(?:(ongoing)|to_(\d\d)-(\d\d)-(\d\d))\.mp4$/;

/** What a name says, or null where it is not exactly what we would have written. */
export const parseRecordingName = (name: string): RecordingName | null => {
  const match = namePattern.exec(name);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, ongoing, endHour, endMinute, endSecond] = match;
  const startMs = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  if (ongoing !== undefined) return openName(startMs) === name ? { startMs, endMs: null } : null;
  const startDayMs = Math.floor(startMs / DAY_MS) * DAY_MS;
  const inDayMs = ((Number(endHour) * 60 + Number(endMinute)) * 60 + Number(endSecond)) * 1000;
  const sameDayMs = startDayMs + inDayMs;
  // A smaller time of day is on the next day; so a recording is shorter than a day.
  const endMs = sameDayMs > startMs ? sameDayMs : sameDayMs + DAY_MS;
  return closedName(startMs, endMs) === name ? { startMs, endMs } : null;
};

/** No recording is longer, whatever a file says. */
export const MAX_LENGTH_MS = 25 * 3_600_000;

/** When a file ends whose name doesn't say: its last write is as good as an end. */
export const openEndMs = (startMs: number, lastWriteMs: number): number =>
  Math.max(startMs, Math.min(lastWriteMs, startMs + MAX_LENGTH_MS));

const brokenPattern = /^(.+)\.broken(?:-[1-9]\d{0,3})?$/;

/** When a file began that was moved aside, by its name; null: it is none of these. */
export const parseBrokenName = (name: string): number | null => {
  const recording = parseRecordingName(brokenPattern.exec(name)?.[1] ?? '');
  return recording?.endMs === null ? recording.startMs : null;
};

const piecePattern = /^(.+)\.piece-[1-9]\d*$/;

/** The open name of a file that was not closed, be it one of its pieces (split-file.ts); null: it is none of these. */
export const parseUnclosedName = (name: string): string | null => {
  const openFileName = piecePattern.exec(name)?.[1] ?? name;
  return parseRecordingName(openFileName)?.endMs === null ? openFileName : null;
};

const cutPattern = /^(.+)\.cut-[1-9]\d*$/;

/** Under what name a piece of a closed recording lies that has none of its own yet (cut-recording.ts). */
export const cutName = (fileName: string, number: number): string => `${fileName}.cut-${number}`;

/** Whether a name is one of these. */
export const isCutName = (name: string): boolean =>
  typeof parseRecordingName(cutPattern.exec(name)?.[1] ?? '')?.endMs === 'number';
