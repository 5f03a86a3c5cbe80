import { AppError, messageOf } from '../../base/errors.js';
import { appendDetections } from '../detections/append-detections.js';
import { listDetections, readDetections } from '../detections/read-detections.js';
import { collectClip } from '../export/collect-clip.js';
import { finishClip } from '../export/finish-clip.js';
import { readClip } from '../export/read-clip.js';
import { factsCameras, keepFacts, lookInto, unlearned } from '../facts/learn-facts.js';
import { findUnclosed } from '../files/archive-folders.js';
import { changedFolders } from '../files/changed-folders.js';
import { codeOf } from '../files/disk-fault.js';
import { type JobOutcome, Moved } from '../files/job-result.js';
import { readForBox } from '../files/read-for-box.js';
import { scanFolder, statFile } from '../files/scan-folder.js';
import { readFrames } from '../frames/read-frames.js';
import { closedBefore, closedWithin, storedBefore } from '../keep/closed-within.js';
import { cutRecording, removeCutPieces } from '../keep/cut-recording.js';
import {
  deleteExpired,
  deleteFiles,
  deleteUnclosed,
  evictOldest,
  newestEnd,
  oldestRecordings,
} from '../keep/delete-files.js';
import { repairFile } from '../keep/repair-file.js';
import { forgetBox, keepHeard, listsOfBoxes } from '../list/box-lists.js';
import { knownDays, takeRows, tellRows } from '../list/box-rows.js';
import { countBroken, listBroken } from '../list/broken-files.js';
import { inspectFiles } from '../list/inspect-files.js';
import { scanWithFacts } from '../list/scan-with-facts.js';
import { storedCopies } from '../list/stored-copies.js';
import { forgetInOtherStores, keptInOtherStores } from '../offsite/other-stores.js';
import { indexParts } from '../parts/index-parts.js';
import { keyFrameEnds } from '../parts/key-frame-ends.js';
import { buildSegment } from '../play/build-segment.js';
import { describeStream } from '../play/describe-stream.js';
import { readBytes } from '../play/read-bytes.js';

/**
 * All work on the archive's disk: plain functions that use synchronous calls and run in the threads of a JobPool.
 * Their input and output are cloned between threads: plain data.
 */
export const jobs = {
  scanFolder,
  scanWithFacts,
  unlearned,
  lookInto,
  keepFacts,
  factsCameras,
  statFile,
  storedCopies,
  changedFolders,
  listsOfBoxes,
  keepHeard,
  forgetBox,
  tellRows,
  knownDays,
  takeRows,
  readForBox,
  inspectFiles,
  findUnclosed,
  repairFile,
  deleteExpired,
  deleteFiles,
  deleteUnclosed,
  closedWithin,
  closedBefore,
  storedBefore,
  forgetInOtherStores,
  keptInOtherStores,
  cutRecording,
  removeCutPieces,
  newestEnd,
  oldestRecordings,
  listBroken,
  countBroken,
  evictOldest: (input: Parameters<typeof evictOldest>[0]) => evictOldest(input),
  indexParts,
  buildSegment,
  describeStream,
  collectClip,
  finishClip,
  readClip,
  readFrames,
  keyFrameEnds,
  readBytes,
  appendDetections,
  readDetections,
  listDetections,
};

export type Jobs = typeof jobs;
export type JobName = keyof Jobs;
export type JobInput<Name extends JobName> = Parameters<Jobs[Name]>[0];

type Unmoved<Value> = Value extends Moved<infer Inner> ? Inner : Value;
export type JobOutput<Name extends JobName> = Unmoved<ReturnType<Jobs[Name]>>;

/** Whoever runs jobs: a pool of threads, or, in a test, the test itself. */
export type JobRunner = {
  /** `memory` of the input goes along with it instead of being copied, and is the caller's no more. */
  run<Name extends JobName>(
    name: Name,
    input: JobInput<Name>,
    memory?: readonly ArrayBuffer[],
  ): Promise<JobOutput<Name>>;
};

export type JobRequest = { readonly name: JobName; readonly input: unknown };

/** Runs a job where it is called; nothing is thrown. */
export const runJob = ({
  name,
  input,
}: JobRequest): { outcome: JobOutcome; memory: readonly ArrayBuffer[] } => {
  try {
    const result: unknown = (jobs[name] as (input: unknown) => unknown)(input);
    if (!(result instanceof Moved)) return { outcome: { isDone: true, value: result }, memory: [] };
    return { outcome: { isDone: true, value: result.value }, memory: result.memory };
  } catch (fault) {
    const isOurs = fault instanceof AppError;
    const code = isOurs ? fault.code : codeOf(fault);
    const details = isOurs ? fault.details : {};
    return { outcome: { isDone: false, code, isOurs, message: messageOf(fault), details }, memory: [] };
  }
};
