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

const CLOSED_LENGTH = '2026-11-21_08-30-00_to_09-30-00.mp4'.length;
const OPEN_LENGTH = '2026-11-21_08-30-00'.length + OPEN_SUFFIX.length;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const ZERO = 0x30;

/** Two digits of a text; NaN: they are none. */
const pairAt = (text: string, at: number): number => {
  const [tens, units] = [text.charCodeAt(at) - ZERO, text.charCodeAt(at + 1) - ZERO];
  return tens >= 0 && tens <= 9 && units >= 0 && units <= 9 ? tens * 10 + units : Number.NaN;
};

/** `08-30-00` as milliseconds of a day; NaN: it is no time. */
const timeAt = (text: string, at: number): number => {
  const [hour, minute, second] = [pairAt(text, at), pairAt(text, at + 3), pairAt(text, at + 6)];
  const isTime = hour < 24 && minute < 60 && second < 60 && text[at + 2] === '-' && text[at + 5] === '-';
  return isTime ? ((hour * 60 + minute) * 60 + second) * 1000 : Number.NaN;
};

/** `2026-11-21_08-30-00` at a text's beginning; NaN: it is no time that `startOf` would write. */
const startIn = (text: string): number => {
  const year = pairAt(text, 0) * 100 + pairAt(text, 2);
  const [month, day] = [pairAt(text, 5), pairAt(text, 8)];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const lastDay = month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
  // Date.UTC takes the years before 100 for others.
  const isDate = year >= 100 && day >= 1 && day <= lastDay;
  const isSeparated = text[4] === '-' && text[7] === '-' && text[10] === '_';
  return isDate && isSeparated ? Date.UTC(year, month - 1, day) + timeAt(text, 11) : Number.NaN;
};

/**
 * What a name says, or null where it is not exactly what we would have written. An archive has hundreds of thousands of
 * names: no pattern is matched, and nothing is written to be compared.
 */
export const parseRecordingName = (name: string): RecordingName | null => {
  const isOpen = name.length === OPEN_LENGTH && name.endsWith(OPEN_SUFFIX);
  const isClosed = name.length === CLOSED_LENGTH && name.startsWith('_to_', 19) && name.endsWith('.mp4');
  if (!isOpen && !isClosed) return null;
  const startMs = startIn(name);
  if (Number.isNaN(startMs)) return null;
  if (isOpen) return { startMs, endMs: null };
  const inDayMs = timeAt(name, 23);
  if (Number.isNaN(inDayMs)) return null;
  const sameDayMs = Math.floor(startMs / DAY_MS) * DAY_MS + inDayMs;
  // A smaller time of day is on the next day; so a recording is a day long at most.
  return { startMs, endMs: sameDayMs > startMs ? sameDayMs : sameDayMs + DAY_MS };
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
