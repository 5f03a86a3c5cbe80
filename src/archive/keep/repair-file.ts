import { closeSync, constants, fsyncSync, ftruncateSync, lstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder, writeAt } from '../../base/durable-file.js';
import { buildMfra } from '../../fmp4/random-access.js';
import { shareOut } from '../detections/share-out.js';
import { moveBelongingsAside } from '../files/belongings.js';
import { codeOf, isDiskFull } from '../files/disk-fault.js';
import { closedName, parseRecordingName } from '../files/file-name.js';
import { endMsOf } from '../files/file-times.js';
import { openRegular, readUpTo } from '../files/regular-file.js';
import { MAX_START_DIFFERENCE_MS } from '../list/recording.js';
import { freeWaste, piecesOf, splitFile } from './split-file.js';
import { type Stretch, type Survey, surveyFile } from './survey-file.js';

/** What became of an unclosed file. */
export type Repair = {
  /** gone: there is no such file (any more), or it is no regular file of ours. */
  readonly outcome: 'closed' | 'broken' | 'gone';
  readonly newName: string;
  /** Of half a fragment at its end. */
  readonly cutBytes: number;
  /** The recordings that what was whole behind damage became, and what the damage cost. */
  readonly moreNames: readonly string[];
  readonly lostBytes: number;
  readonly lostMs: number;
};

const nothingLost = { cutBytes: 0, moreNames: [], lostBytes: 0, lostMs: 0 };
const gone: Repair = { outcome: 'gone', newName: '', ...nothingLost };
/** A name can tell less than a day. */
const MAX_NAMED_MS = 86_399_000;
const MAX_NAMES_TRIED = 1_000;

const isFree = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) === undefined;

/** Renames to the first of the names that no file has. Only we make such names, so that nothing comes between. */
const renameToFree = (folder: string, fileName: string, nameAt: (attempt: number) => string): string => {
  for (let attempt = 0; attempt < MAX_NAMES_TRIED; attempt += 1) {
    const newName = nameAt(attempt);
    if (!isFree(join(folder, newName))) continue;
    renameSync(join(folder, fileName), join(folder, newName));
    syncFolder(folder);
    return newName;
  }
  throw new Error(`no name is free for ${fileName}`);
};

/** Makes the file end with its last whole fragment and the index of its parts. */
const finishFile = (fd: number, fileBytes: number, stretch: Stretch, videoTrackId: number): void => {
  const { endBytes, parts } = stretch;
  const mfra = buildMfra(videoTrackId, parts);
  freeWaste(fd, stretch, 0);
  const behind = readUpTo(fd, Buffer.alloc(mfra.length), endBytes);
  if (fileBytes !== endBytes + mfra.length || !behind.equals(mfra)) {
    ftruncateSync(fd, endBytes);
    try {
      writeAt(fd, mfra, endBytes);
    } catch (fault) {
      // A full disk: the file plays without an index, too.
      if (!isDiskFull(fault)) throw fault;
      ftruncateSync(fd, endBytes);
    }
  }
  fsyncSync(fd);
};

/** Gives a whole file its closed name. */
const close = (folder: string, fileName: string, namedMs: number, stretch: Stretch): string => {
  const { startMs, endMs: toldMs, durationMs } = stretch;
  const isToldRight = startMs !== null && Math.abs(startMs - namedMs) <= MAX_START_DIFFERENCE_MS;
  const endedMs = isToldRight ? endMsOf(startMs + durationMs, toldMs) : namedMs + durationMs;
  const endMs = Math.min(endedMs, namedMs + MAX_NAMED_MS);
  return renameToFree(folder, fileName, (attempt) => closedName(namedMs, endMs + attempt * 1000));
};

/** Moves aside what no one can play, under the next name that is free. */
const moveAside = (folder: string, fileName: string, openName: string): string =>
  renameToFree(folder, fileName, (attempt) =>
    attempt === 0 ? `${openName}.broken` : `${openName}.broken-${attempt + 1}`,
  );

/** What a recording has beside it must not keep it from being closed. */
const unlessFaulty = (work: () => void): void => {
  try {
    work();
  } catch {
    // Some of it is lost, or found by the next repair.
  }
};

/** Null where the disk can't read it, if that is to be taken as it is. */
const unlessUnreadable = <Result>(givesUp: boolean, work: () => Result): Result | null => {
  try {
    return work();
  } catch (fault) {
    // EUCLEAN: the file system's own structures are damaged there.
    if (givesUp && ['EIO', 'EUCLEAN'].includes(codeOf(fault))) return null;
    throw fault;
  }
};

/** Behind a hole a file's own clock says when it begins, which was looked at before it was believed. */
const closePiece = (
  folder: string,
  fileName: string,
  openName: string,
  namedMs: number,
  givesUp: boolean,
): string => {
  const { fd, stat } = openRegular(join(folder, fileName));
  try {
    // All of it was looked at when it was copied.
    const survey = unlessUnreadable(givesUp, () => surveyFile(fd, stat.size, namedMs, 0));
    const stretch = survey?.stretches[0];
    if (stretch === undefined) return moveAside(folder, fileName, openName);
    return close(folder, fileName, stretch.startMs ?? namedMs, stretch);
  } finally {
    closeSync(fd);
  }
};

const surveyAndFinish = (
  folder: string,
  fileName: string,
  namedMs: number,
  opened: Opened,
): Survey | null => {
  const { fd, fileBytes } = opened;
  try {
    const survey = surveyFile(fd, fileBytes, namedMs);
    if (survey === null) return null;
    splitFile(folder, fileName, fd, survey);
    finishFile(fd, fileBytes, survey.stretches[0], survey.videoTrackId);
    return survey;
  } finally {
    closeSync(fd);
  }
};

/**
 * Job: closes a file whose writer died. It is cut to its last whole fragment, gets its index, is synced and gets
 * its closed name, in this order, so that it can be done again from wherever it was interrupted. What is whole behind
 * damage becomes recordings of its own. What can't be played is moved aside. Throws if the disk fails; then the file
 * is as good as it was; `givesUp`: what the disk can't read is moved aside, too.
 */
export const repairFile = (input: {
  readonly folder: string;
  readonly fileName: string;
  readonly givesUp?: boolean;
}): Repair => {
  const { folder, fileName, givesUp = false } = input;
  const namedMs = parseRecordingName(fileName)?.startMs;
  const opened = namedMs === undefined ? null : openToRepair(join(folder, fileName));
  if (namedMs === undefined || opened === null) return gone;
  const survey = unlessUnreadable(givesUp, () => surveyAndFinish(folder, fileName, namedMs, opened));
  const moreNames = piecesOf(folder, fileName).map((piece) =>
    closePiece(folder, piece, fileName, namedMs, givesUp),
  );
  if (survey === null) {
    const newName = moveAside(folder, fileName, fileName);
    unlessFaulty(() => {
      if (moreNames.length > 0) shareOut(folder, fileName, moreNames);
      else moveBelongingsAside(folder, fileName, newName);
    });
    return { ...nothingLost, outcome: 'broken', newName, moreNames };
  }
  const { stretches, lostBytes, lostMs } = survey;
  const [first] = stretches;
  const isWholeAtStart = first.startBytes === survey.headBytes;
  const startMs = isWholeAtStart ? namedMs : (first.startMs ?? namedMs);
  const newName = close(folder, fileName, startMs, first);
  unlessFaulty(() => shareOut(folder, fileName, [newName, ...moreNames]));
  const lastBytes = stretches.at(-1)!.endBytes;
  return {
    ...{ outcome: 'closed', newName, moreNames, lostBytes, lostMs },
    cutBytes: Math.max(opened.fileBytes - lastBytes, 0),
  };
};

type Opened = { readonly fd: number; readonly fileBytes: number };

const openToRepair = (path: string): Opened | null => {
  try {
    const { fd, stat } = openRegular(path, constants.O_RDWR);
    return { fd, fileBytes: stat.size };
  } catch (fault) {
    const code = codeOf(fault);
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'EISDIR', 'ENXIO'].includes(code)) return null;
    throw fault;
  }
};
