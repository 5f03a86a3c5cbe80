import { createHash } from 'node:crypto';
import type { RecordingName } from '../files/file-name.js';
import type { FileStamp } from '../files/scan-folder.js';
import type { Inspection } from '../list/inspect-files.js';

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

/** Longer than a name can tell, in seconds. */
const KEY_SECONDS = 131_072;

/** 48 bits of an ETag: it is compared, nothing else. */
export const markOf = (etag: string): number => createHash('sha256').update(etag).digest().readUIntBE(0, 6);

/** A closed recording's name as a number: they are in the order of their starts, and of their ends where these are the same. */
export const copyKey = (startMs: number, endMs: number): number =>
  (startMs / 1000) * KEY_SECONDS + (endMs - startMs) / 1000;

export const keyOf = ({ recording }: Pick<Copy, 'recording'>): number =>
  copyKey(recording.startMs, recording.endMs ?? recording.startMs);

/** The name again; both alike: of a recording that is being written, at another box. */
export const timesOfKey = (key: number): { readonly startMs: number; readonly endMs: number } => {
  // A remainder would be negative before 1970.
  const startSec = Math.floor(key / KEY_SECONDS);
  const startMs = startSec * 1000;
  return { startMs, endMs: startMs + (key - startSec * KEY_SECONDS) * 1000 };
};
