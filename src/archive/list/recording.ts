import type { StartReason } from '../../fmp4/start-reason.js';
import { MAX_LENGTH_MS, openEndMs, type RecordingName } from '../files/file-name.js';
import type { FileStamp } from '../files/scan-folder.js';
import type { StoredPlace } from '../offsite/stored-bytes.js';
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
  /** Which box recorded it, and by which claim that had the camera; 0: it was alone. Of the same time the higher one counts. */
  readonly box: string;
  readonly epoch: number;
  /** A store has it, too, or alone; or another box does. */
  readonly stored?: StoredRecording | undefined;
  /** The box that has it is away: nobody can read it now. */
  readonly isAway?: true;
};

/** Who records here, and by which claim that had a camera at some time. */
export type Maker = {
  readonly box: string;
  epochsOf(cameraId: string): EpochAt;
};

export type EpochAt = (startMs: number) => number;

/** What of a recording is in a store. */
export type StoredRecording = StoredPlace & {
  readonly sidecarBytes: number;
  /** Of one that a box has, too. */
  readonly inStore?: Pick<StoredRecording, 'mailbox' | 'object' | 'sidecarBytes'> | undefined;
};

/** The place as jobs are told it: plain data. */
export const placeOf = ({ object, mailbox, isAlone, ofBox, inStore }: StoredPlace): StoredPlace => ({
  object,
  mailbox,
  isAlone,
  ...(ofBox !== undefined && { ofBox }),
  ...(inStore !== undefined && { inStore: { object: inStore.object, mailbox: inStore.mailbox } }),
});

/**
 * Whether it is what a cut left of another one. What was recorded again at the same time, since the clock was set back, is none: it
 * says that it began for that reason.
 */
export const isPieceOf = (
  piece: Pick<Recording, 'startMs' | 'endMs' | 'startReason'>,
  whole: Pick<Recording, 'startMs' | 'endMs'>,
): boolean =>
  piece.startMs >= whole.startMs &&
  piece.endMs <= whole.endMs &&
  (piece.startReason === 'no_event' || piece.startMs === whole.startMs);

/** A file whose own time is further from its name's was named by somebody else. */
export const MAX_START_DIFFERENCE_MS = 5_000;

/** Joins what is known of a file: it knows milliseconds, unless it says what can't be. */
export const recordingOf = (
  fileName: string,
  name: RecordingName,
  { ino, sizeBytes, mtimeMs, ctimeMs }: FileStamp,
  { startMs, endMs, startReason }: Inspection,
  box: string,
  epochAt: EpochAt,
): Recording => {
  const lastMs = name.endMs ?? openEndMs(name.startMs, mtimeMs);
  const isStartGood = startMs !== null && Math.abs(startMs - name.startMs) <= MAX_START_DIFFERENCE_MS;
  const isEndGood = isStartGood && endMs !== null && endMs > startMs && endMs - startMs <= MAX_LENGTH_MS;
  // Written out: of an archive's hundreds of thousands each spread would cost microseconds.
  return {
    ino,
    sizeBytes,
    mtimeMs,
    ctimeMs,
    fileName,
    startMs: isStartGood ? startMs : name.startMs,
    endMs: isEndGood ? endMs : isStartGood ? Math.max(lastMs, startMs) : lastMs,
    isOpen: name.endMs === null,
    startReason,
    box,
    epoch: epochAt(isStartGood ? startMs : name.startMs),
  };
};
