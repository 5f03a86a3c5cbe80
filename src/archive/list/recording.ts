import type { StartReason } from '../../fmp4/start-reason.js';
import { MAX_LENGTH_MS, openEndMs, type RecordingName } from '../files/file-name.js';
import type { FileStamp } from '../files/scan-folder.js';
import type { Inspection } from './inspect-files.js';

/** A file of the archive. */
export type Recording = FileStamp & {
  readonly fileName: string;
  readonly startMs: number;
  /** Of an open file: the latest moment that it covers. */
  readonly endMs: number;
  /** It is being written, or was when its writer died. */
  readonly isOpen: boolean;
  /** Null: the file doesn't say. */
  readonly startReason: StartReason | null;
};

/** A file whose own time is further from its name's was named by somebody else. */
export const MAX_START_DIFFERENCE_MS = 5_000;

/** What its name alone says of a file's time. */
const timesByName = (name: RecordingName, stamp: FileStamp): { startMs: number; endMs: number } => {
  const { startMs, endMs } = name;
  return { startMs, endMs: endMs ?? openEndMs(startMs, stamp.mtimeMs) };
};

/** Joins what is known of a file: it knows milliseconds, unless it says what can't be. */
export const recordingOf = (
  fileName: string,
  name: RecordingName,
  stamp: FileStamp,
  inspection: Inspection,
): Recording => {
  const facts = { ...stamp, fileName, isOpen: name.endMs === null, startReason: inspection.startReason };
  const byName = timesByName(name, stamp);
  const { startMs, endMs } = inspection;
  if (startMs === null || Math.abs(startMs - name.startMs) > MAX_START_DIFFERENCE_MS) {
    return { ...facts, ...byName };
  }
  const isEndGood = endMs !== null && endMs > startMs && endMs - startMs <= MAX_LENGTH_MS;
  return { ...facts, startMs, endMs: isEndGood ? endMs : Math.max(byName.endMs, startMs) };
};
