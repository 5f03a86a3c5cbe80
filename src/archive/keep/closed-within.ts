import { folderOf } from '../files/archive-path.js';
import { parseRecordingName, parseUnclosedName } from '../files/file-name.js';
import { listFolder } from '../files/scan-folder.js';
import { type ClockEra, EraOrder } from './clock-eras.js';

/** A closed recording, with its times by its name. */
export type ClosedRecording = { readonly fileName: string; readonly startMs: number; readonly endMs: number };

/**
 * Job: the closed recordings of a camera that begin at `fromMs` or later, in their order, up to the first one that ends after
 * `toMs` or isn't closed yet; `count` at most.
 */
export const closedWithin = (input: {
  readonly archiveDir: string;
  readonly cameraId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}): ClosedRecording[] => {
  const closed: ClosedRecording[] = [];
  let beforeMs = Number.POSITIVE_INFINITY;
  for (const fileName of listFolder(folderOf(input.archiveDir, input.cameraId))) {
    const name = parseRecordingName(parseUnclosedName(fileName) ?? fileName);
    if (name === null || name.startMs < input.fromMs) continue;
    const { startMs, endMs } = name;
    if (endMs === null || endMs > input.toMs) beforeMs = Math.min(beforeMs, startMs);
    else closed.push({ fileName, startMs, endMs });
  }
  return closed
    .filter(({ startMs }) => startMs < beforeMs)
    .sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs)
    .slice(0, input.count);
};

/** Job: the closed recordings of a camera that were made before `beforeMs` and begin after `afterMs`; `count` at most. */
export const closedBefore = (input: {
  readonly archiveDir: string;
  readonly cameraId: string;
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly eras: readonly ClockEra[];
  readonly count: number;
}): ClosedRecording[] => {
  const order = new EraOrder(input.eras);
  const closed: ClosedRecording[] = [];
  for (const fileName of listFolder(folderOf(input.archiveDir, input.cameraId))) {
    const { startMs = 0, endMs = null } = parseRecordingName(fileName) ?? {};
    if (endMs === null || startMs <= input.afterMs || order.rightEndMs(endMs) >= input.beforeMs) continue;
    closed.push({ fileName, startMs, endMs });
  }
  return closed.sort((a, b) => a.startMs - b.startMs).slice(0, input.count);
};
