import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eachCamera } from '../files/archive-folders.js';
import { folderOf } from '../files/archive-path.js';
import { parseRecordingName, type RecordingName } from '../files/file-name.js';
import { type FileStamp, isSameStamp, scanFolder, stampAt } from '../files/scan-folder.js';
import { type Inspection, inspectFiles } from '../list/inspect-files.js';
import { type FactsRow, readFacts, writeFacts } from './camera-facts.js';

export type FactsPlace = { readonly archiveDir: string; readonly factsDir: string };

const SUFFIX = '.facts';
/** What changes within the same step of the file system's clock as a look keeps its stamp. */
const STEP_MS = 2_000;

/** Where the facts of a camera are kept. */
export const factsPath = (factsDir: string, cameraId: string): string => join(factsDir, cameraId + SUFFIX);

type Closed = { readonly fileName: string; readonly name: RecordingName; readonly stamp: FileStamp };

const closedIn = (archiveDir: string, cameraId: string): Closed[] => {
  const scan = scanFolder({ folder: folderOf(archiveDir, cameraId) }).value;
  return scan.names
    .flatMap((fileName, index) => {
      const name = parseRecordingName(fileName);
      return name === null || name.endMs === null ? [] : [{ fileName, name, stamp: stampAt(scan, index) }];
    })
    .sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
};

/** A closed recording, and how it looked. */
export type LookedAt = { readonly fileName: string; readonly stamp: FileStamp };

export type Unlearned = {
  /** Of which nothing is kept. */
  readonly files: readonly LookedAt[];
  /** Of how many something is kept, and of how many that are gone. */
  readonly kept: number;
  readonly gone: number;
  /** Something changed just now: it is to be looked at again. */
  readonly isEarly: boolean;
};

type OfCamera = FactsPlace & { readonly cameraId: string };

/** Job: the closed recordings of a camera that nothing is kept of, in their order. */
export const unlearned = ({ archiveDir, factsDir, cameraId }: OfCamera): Unlearned => {
  const known = readFacts(factsPath(factsDir, cameraId));
  const nowMs = Date.now();
  const files: LookedAt[] = [];
  let [kept, isEarly] = [0, false];
  for (const { fileName, name, stamp } of closedIn(archiveDir, cameraId)) {
    const isFresh = Math.abs(nowMs - Math.max(stamp.mtimeMs, stamp.ctimeMs)) < STEP_MS;
    if (known.find(name, stamp) !== null) kept += 1;
    else if (isFresh) isEarly = true;
    else files.push({ fileName, stamp });
  }
  return { files, kept, gone: known.count - kept, isEarly };
};

/** Job: looks into closed recordings until that has taken so long, into one at least. */
export const lookInto = (input: {
  readonly archiveDir: string;
  readonly cameraId: string;
  readonly files: readonly LookedAt[];
  readonly forMs: number;
}): Inspection[] => {
  const folder = folderOf(input.archiveDir, input.cameraId);
  const untilMs = performance.now() + input.forMs;
  const found: Inspection[] = [];
  for (const { fileName, stamp } of input.files) {
    const request = { fileName, sizeBytes: stamp.sizeBytes, fromBytes: 0 };
    found.push(...inspectFiles({ folder, files: [request] }));
    if (performance.now() >= untilMs) break;
  }
  return found;
};

export type Learned = LookedAt & { readonly inspection: Inspection };

/** Job: keeps what recordings of a camera said, beside what is kept already. What is kept of files that are gone goes. */
export const keepFacts = (input: OfCamera & { readonly learned: readonly Learned[] }): void => {
  const { archiveDir, factsDir, cameraId } = input;
  const path = factsPath(factsDir, cameraId);
  const known = readFacts(path);
  const learned = new Map(input.learned.map((file) => [file.fileName, file]));
  const rows: FactsRow[] = [];
  for (const { fileName, name, stamp } of closedIn(archiveDir, cameraId)) {
    const file = learned.get(fileName);
    const isNew = file !== undefined && isSameStamp(file.stamp, stamp);
    const inspection = isNew ? file.inspection : known.find(name, stamp);
    if (inspection !== null) rows.push({ name, stamp, inspection });
  }
  writeFacts(path, rows);
};

/** Job: makes the folder of facts, and forgets those of cameras without a folder; the cameras that have one. */
export const factsCameras = ({ archiveDir, factsDir }: FactsPlace): string[] => {
  mkdirSync(factsDir, { recursive: true });
  const cameraIds: string[] = [];
  eachCamera(archiveDir, (cameraId) => cameraIds.push(cameraId));
  const wanted = new Set(cameraIds.map((cameraId) => cameraId + SUFFIX));
  for (const name of readdirSync(factsDir))
    if (name.includes(SUFFIX) && !wanted.has(name)) rmSync(join(factsDir, name), { force: true });
  return cameraIds;
};
