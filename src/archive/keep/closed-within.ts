import { folderOf } from '../files/archive-path.js';
import { closedName, parseRecordingName, parseUnclosedName } from '../files/file-name.js';
import { type FolderNames, knownNames } from '../files/known-names.js';
import { readCopies } from '../offsite/copies-file.js';
import { timesOfKey } from '../offsite/copy.js';
import { type ClockEra, EraOrder } from './clock-eras.js';

/** A closed recording, with its times by its name. */
export type ClosedRecording = { readonly fileName: string; readonly startMs: number; readonly endMs: number };

const nothing: Pick<FolderNames, 'startsMs' | 'endsMs' | 'unclosed'> = {
  startsMs: new Float64Array(),
  endsMs: new Float64Array(),
  unclosed: [],
};

const namesOf = ({ archiveDir, cameraId }: { readonly archiveDir: string; readonly cameraId: string }) => {
  folderOf(archiveDir, cameraId);
  return knownNames(archiveDir).lookAt(cameraId) ?? nothing;
};

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
  const names = namesOf(input);
  for (const openFileName of names.unclosed) {
    const startMs = parseRecordingName(parseUnclosedName(openFileName) ?? '')?.startMs ?? 0;
    if (startMs >= input.fromMs) beforeMs = Math.min(beforeMs, startMs);
  }
  for (const [at, endMs] of names.endsMs.entries()) {
    const startMs = names.startsMs[at]!;
    if (startMs < input.fromMs) continue;
    if (endMs > input.toMs) beforeMs = Math.min(beforeMs, startMs);
    else closed.push({ fileName: closedName(startMs, endMs), startMs, endMs });
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
  const { startsMs, endsMs } = namesOf(input);
  for (const [at, endMs] of endsMs.entries()) {
    const startMs = startsMs[at]!;
    if (startMs <= input.afterMs || order.rightEndMs(endMs) >= input.beforeMs) continue;
    closed.push({ fileName: closedName(startMs, endMs), startMs, endMs });
  }
  return closed.sort((a, b) => a.startMs - b.startMs).slice(0, input.count);
};

/** Job: the same of those that a store has, by what is written of them. */
export const storedBefore = (input: {
  readonly path: string;
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly eras: readonly ClockEra[];
  readonly count: number;
}): ClosedRecording[] => {
  const order = new EraOrder(input.eras);
  const table = readCopies(input.path)?.table;
  const closed: ClosedRecording[] = [];
  for (let index = 0; index < (table?.count ?? 0) && closed.length < input.count; index += 1) {
    const { startMs, endMs } = timesOfKey(table!.keyAt(index));
    if (startMs <= input.afterMs || order.rightEndMs(endMs) >= input.beforeMs || table!.isLeavingAt(index))
      continue;
    closed.push({ fileName: closedName(startMs, endMs), startMs, endMs });
  }
  return closed;
};
