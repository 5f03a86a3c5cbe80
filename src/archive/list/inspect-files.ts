import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { BRIEF_HEAD_BYTES } from '../../fmp4/box-cursor.js';
import type { FragmentInfo } from '../../fmp4/file-scanner.js';
import type { StartReason } from '../../fmp4/start-reason.js';
import { parseRecordingName } from '../files/file-name.js';
import { endMsOf, videoSpanOf, wallMsAt } from '../files/file-times.js';
import { FileWalk } from '../files/file-walk.js';
import { openRegular } from '../files/regular-file.js';

/** What a file itself says of its time; null where it doesn't. */
export type Inspection = {
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly startReason: StartReason | null;
  /** How far an open file was walked: the next time goes on from here. */
  readonly seenBytes: number;
};

/** A file to look into. */
export type InspectionRequest = {
  readonly fileName: string;
  /** Of an open file nothing behind this is looked at. */
  readonly sizeBytes: number;
  /** Up to where an open file's fragments are known; 0: its end is looked for from the beginning. */
  readonly fromBytes: number;
};

/** Of a file that says nothing. */
export const nothingKnown: Inspection = { startMs: null, endMs: null, startReason: null, seenBytes: 0 };

/** Follows the end of the video through the fragments of a walk. */
class EndOfVideo {
  endTicks: number | null = null;
  /** What the wall clock said there. */
  clockMs: number | null = null;
  readonly #walk: FileWalk;

  constructor(walk: FileWalk) {
    this.#walk = walk;
  }

  readonly visit = (fragment: FragmentInfo): void => {
    const { scanner } = this.#walk;
    const { wall } = fragment;
    const span = videoSpanOf(scanner, fragment);
    if (span === null) return;
    this.endTicks = span.endTicks;
    this.clockMs = wall === null ? null : wallMsAt(scanner, wall, span.endTicks);
  };
}

/**
 * Whether a fragment begins at `offset`, or will: a recorder cuts off what the ring had overwritten while it was
 * written, and goes on from there, so that what was a border may be one no more.
 */
const isBorder = (walk: FileWalk, offset: number, fileBytes: number): boolean => {
  if (offset === fileBytes) return true;
  const head = walk.read(offset, BRIEF_HEAD_BYTES);
  // What fills the last block of a write comes between two fragments.
  return head.length < BRIEF_HEAD_BYTES || ['free', 'prft', 'moof'].includes(head.toString('latin1', 4, 8));
};

const inspectOpened = (
  fd: number,
  fileBytes: number,
  { fileName, sizeBytes, fromBytes }: InspectionRequest,
): Inspection => {
  const isOpen = parseRecordingName(fileName)?.endMs === null;
  const endBytes = isOpen ? Math.min(sizeBytes, fileBytes) : fileBytes;
  const walk = new FileWalk(fd, endBytes);
  const { scanner } = walk;
  const first = walk.readFirst();
  const span = first === null ? null : videoSpanOf(scanner, first);
  const startReason = scanner.movie?.startReason ?? null;
  if (first === null || first.wall === null || span === null) return { ...nothingKnown, startReason };
  const startMs = wallMsAt(scanner, first.wall, span.firstTicks);
  const end = new EndOfVideo(walk);
  const parts = isOpen ? null : walk.readParts(fileBytes);
  if (parts !== null) {
    // A few reads, however long the file is: the last part alone is walked.
    scanner.skipTo(walk.partStart(parts.moofOffset[parts.count - 1] ?? 0));
  } else if (isOpen && fromBytes > 0 && isBorder(walk, fromBytes, endBytes)) {
    scanner.skipTo(fromBytes);
  }
  if (parts !== null || isOpen) walk.readAll(end.visit);
  const byLengthMs = end.endTicks === null ? null : wallMsAt(scanner, first.wall, end.endTicks);
  const endMs = byLengthMs === null ? null : endMsOf(byLengthMs, end.clockMs);
  return { startMs, endMs, startReason, seenBytes: scanner.wholeBytes };
};

const inspectFile = (folder: string, request: InspectionRequest): Inspection => {
  try {
    const { fd, stat } = openRegular(join(folder, request.fileName));
    try {
      return inspectOpened(fd, stat.size, request);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Gone meanwhile, not ours to read, or a bad sector: its name is all that is known of it.
    return nothingKnown;
  }
};

/** Job: looks into recordings of one folder, with a few small reads each. */
export const inspectFiles = (input: {
  readonly folder: string;
  readonly files: readonly InspectionRequest[];
}): Inspection[] => input.files.map((request) => inspectFile(input.folder, request));
