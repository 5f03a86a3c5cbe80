import { closeSync, constants, fsyncSync, ftruncateSync, lstatSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../base/durable-file.js';
import { buildMfra } from '../fmp4/random-access.js';
import { closedName, parseRecordingName } from './file-name.js';
import { endMsOf } from './file-times.js';
import { MAX_START_DIFFERENCE_MS } from './recording.js';
import { openRegular, readUpTo } from './regular-file.js';
import { type Survey, surveyFile } from './survey-file.js';

/** What became of an unclosed file. */
export type Repair = {
  /** gone: there is no such file (any more), or it is no regular file of ours. */
  readonly outcome: 'closed' | 'broken' | 'gone';
  readonly newName: string;
  /** Of half a fragment at its end. */
  readonly cutBytes: number;
};

const gone: Repair = { outcome: 'gone', newName: '', cutBytes: 0 };
/** A name can tell less than a day. */
const MAX_LENGTH_MS = 86_399_000;
const MAX_NAMES_TRIED = 1_000;

const codeOf = (fault: unknown): string | undefined => (fault as NodeJS.ErrnoException).code;

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

const writeAll = (fd: number, bytes: Buffer, offset: number): void => {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, offset + at);
};

/** Makes the file end with its last whole fragment and the index of its parts. */
const finishFile = (fd: number, fileBytes: number, survey: Survey): void => {
  const { wholeBytes, parts, videoTrackId } = survey;
  const mfra = buildMfra(videoTrackId, parts);
  const behind = readUpTo(fd, Buffer.alloc(mfra.length), wholeBytes);
  if (fileBytes !== wholeBytes + mfra.length || !behind.equals(mfra)) {
    ftruncateSync(fd, wholeBytes);
    try {
      writeAll(fd, mfra, wholeBytes);
    } catch (fault) {
      // A full disk: the file plays without an index, too.
      if (codeOf(fault) !== 'ENOSPC' && codeOf(fault) !== 'EDQUOT') throw fault;
      ftruncateSync(fd, wholeBytes);
    }
  }
  fsyncSync(fd);
};

const endOf = (namedMs: number, { startMs, endMs, durationMs }: Survey): number => {
  const isToldRight = startMs !== null && Math.abs(startMs - namedMs) <= MAX_START_DIFFERENCE_MS;
  const endedMs = isToldRight ? endMsOf(startMs + durationMs, endMs) : namedMs + durationMs;
  return Math.min(endedMs, namedMs + MAX_LENGTH_MS);
};

/**
 * Job: closes a file whose writer died. It is cut to its last whole fragment, gets its index, is synced and gets
 * its closed name, in this order, so that it can be done again from wherever it was interrupted. What can't be
 * played is moved aside. Throws if the disk fails; then the file is as good as it was.
 */
export const repairFile = (input: { readonly folder: string; readonly fileName: string }): Repair => {
  const { folder, fileName } = input;
  const startMs = parseRecordingName(fileName)?.startMs;
  const opened = startMs === undefined ? null : openToRepair(join(folder, fileName));
  if (startMs === undefined || opened === null) return gone;
  const { fd, fileBytes } = opened;
  let survey: Survey | null = null;
  try {
    survey = surveyFile(fd, fileBytes);
    if (survey !== null) finishFile(fd, fileBytes, survey);
  } finally {
    closeSync(fd);
  }
  if (survey === null) {
    const newName = renameToFree(folder, fileName, (attempt) =>
      attempt === 0 ? `${fileName}.broken` : `${fileName}.broken-${attempt + 1}`,
    );
    return { outcome: 'broken', newName, cutBytes: 0 };
  }
  const endMs = endOf(startMs, survey);
  const newName = renameToFree(folder, fileName, (attempt) => closedName(startMs, endMs + attempt * 1000));
  return { outcome: 'closed', newName, cutBytes: Math.max(fileBytes - survey.wholeBytes, 0) };
};

const openToRepair = (path: string): { fd: number; fileBytes: number } | null => {
  try {
    const { fd, stat } = openRegular(path, constants.O_RDWR);
    return { fd, fileBytes: stat.size };
  } catch (fault) {
    const code = codeOf(fault) ?? '';
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'EISDIR', 'ENXIO'].includes(code)) return null;
    throw fault;
  }
};
