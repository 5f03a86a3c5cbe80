import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { syncFolder, writeAt } from '../../base/durable-file.js';
import { codeOf } from '../files/disk-fault.js';
import { parseRecordingName } from '../files/file-name.js';
import { openRegular } from '../files/regular-file.js';
import { draftOf, sidecarOf } from '../files/sidecar-name.js';
import { recordTimeAt } from './detection-record.js';
import { eachRecord, isSidecar, pageCountOf, pagesOf, readPage, wholeBytesOf } from './sidecar-pages.js';

const FILE_MODE = 0o640;
const WRITE_BYTES = 1 << 20;

/** A sidecar, and from when to when the recordings are that it belongs to. */
type Target = {
  readonly sidecar: string;
  readonly spans: { readonly fromMs: number; readonly toMs: number }[];
};

/** Recordings that begin in one second share theirs. */
const targetsOf = (recordingNames: readonly string[]): Target[] => {
  const bySidecar = new Map<string, Target>();
  for (const recordingName of recordingNames) {
    const name = parseRecordingName(recordingName);
    const sidecar = sidecarOf(recordingName);
    if (name === null || sidecar === null) continue;
    const target = bySidecar.get(sidecar) ?? { sidecar, spans: [] };
    target.spans.push({ fromMs: name.startMs, toMs: name.endMs ?? Number.POSITIVE_INFINITY });
    bySidecar.set(sidecar, target);
  }
  return [...bySidecar.values()];
};

const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Removes whatever else has a name that is to be ours alone, without following it. */
const remove = (path: string): void => {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) unlinkSync(path);
};

/** Copies what is of a target's time into a draft, which lasts; null: there is nothing. */
const writeDraft = (folder: string, from: number, fileBytes: number, target: Target): string | null => {
  const draft = draftOf(target.sidecar);
  // What a broken-off attempt left, or another hand put there.
  remove(join(folder, draft));
  const to = openSync(join(folder, draft), 'wx', FILE_MODE);
  let writtenBytes = 0;
  try {
    let records: Buffer[] = [];
    let waitingBytes = 0;
    const flush = (): void => {
      const pages = records.length === 0 ? Buffer.alloc(0) : pagesOf(records, writtenBytes);
      writeAt(to, pages, writtenBytes);
      writtenBytes += pages.length;
      records = [];
      waitingBytes = 0;
    };
    for (let page = 0; page < pageCountOf(fileBytes); page += 1) {
      const bytes = readPage(from, page);
      eachRecord(bytes, page, (at, lengthBytes) => {
        const timeMs = recordTimeAt(bytes, at);
        if (!target.spans.some(({ fromMs, toMs }) => timeMs >= fromMs && timeMs <= toMs)) return;
        records.push(bytes.subarray(at, at + lengthBytes));
        waitingBytes += lengthBytes;
      });
      if (waitingBytes >= WRITE_BYTES) flush();
    }
    flush();
    fsyncSync(to);
  } finally {
    closeSync(to);
  }
  if (writtenBytes > 0) return draft;
  unlinkSync(join(folder, draft));
  return null;
};

const openSidecar = (path: string): { fd: number; fileBytes: number } | null => {
  try {
    const { fd, stat } = openRegular(path, constants.O_RDWR);
    return { fd, fileBytes: stat.size };
  } catch (fault) {
    if (['ENOENT', 'ELOOP', 'EINVAL', 'EISDIR', 'ENXIO'].includes(codeOf(fault))) return null;
    throw fault;
  }
};

/**
 * A recording was closed by a repair, or cut: it is these recordings now, and each gets what was seen in its time. The
 * torn end that a writer which died may have left is cut. Done again it comes to the same.
 */
export const shareOut = (folder: string, fileName: string, recordingNames: readonly string[]): void => {
  const sidecar = sidecarOf(fileName);
  const opened = sidecar === null ? null : openSidecar(join(folder, sidecar));
  if (sidecar === null || opened === null) return;
  const { fd, fileBytes } = opened;
  try {
    // A folder of that name is nobody's sidecar, and not ours to remove: what was seen then is lost.
    const targets = targetsOf(recordingNames).filter(
      ({ sidecar: name }) => ![name, draftOf(name)].some((taken) => isFolder(join(folder, taken))),
    );
    const wholeBytes = wholeBytesOf(fd, fileBytes);
    if (wholeBytes > 0 && !isSidecar(fd)) return;
    if (targets.length === 1 && targets[0]!.sidecar === sidecar) {
      if (wholeBytes < fileBytes) ftruncateSync(fd, wholeBytes);
      fsyncSync(fd);
      return;
    }
    const drafts = targets.map((target) => [target, writeDraft(folder, fd, wholeBytes, target)] as const);
    // The one that takes the place of the source comes last: until then it can be done again.
    drafts.sort(([a], [b]) => Number(a.sidecar === sidecar) - Number(b.sidecar === sidecar));
    for (const [target, draft] of drafts)
      if (draft !== null) renameSync(join(folder, draft), join(folder, target.sidecar));
    const isReplaced = drafts.some(([target, draft]) => target.sidecar === sidecar && draft !== null);
    if (!isReplaced) unlinkSync(join(folder, sidecar));
  } finally {
    closeSync(fd);
  }
  syncFolder(folder);
};
