import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eachCamera } from '../files/archive-folders.js';
import { folderOf } from '../files/archive-path.js';
import { parseRecordingName, type RecordingName } from '../files/file-name.js';
import { type FileStamp, scanFolder, stampAt } from '../files/scan-folder.js';
import { inspectFiles } from '../list/inspect-files.js';
import { type FactsRow, readFacts, writeFacts } from './camera-facts.js';

export type FactsPlace = { readonly archiveDir: string; readonly factsDir: string };

const SUFFIX = '.facts';
/** What changes within the same step of the file system's clock as a look keeps its stamp. */
const STEP_MS = 2_000;

/** Where the facts of a camera are kept. */
export const factsPath = (factsDir: string, cameraId: string): string => join(factsDir, cameraId + SUFFIX);

type Closed = { readonly fileName: string; readonly name: RecordingName; readonly stamp: FileStamp };

const closedIn = (folder: string): Closed[] => {
  const scan = scanFolder({ folder }).value;
  return scan.names
    .flatMap((fileName, index) => {
      const name = parseRecordingName(fileName);
      return name === null || name.endMs === null ? [] : [{ fileName, name, stamp: stampAt(scan, index) }];
    })
    .sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
};

export type Learned = {
  /** The last name that was looked at; null: all were. */
  readonly lastName: string | null;
  /** Something changed just now: it is to be looked at again. */
  readonly isEarly: boolean;
};

/**
 * Job: looks into closed recordings of a camera that nothing is known of, `most` of them and those behind a name alone, and keeps what
 * they say. What is kept of files that are gone goes.
 */
export const learnFacts = (
  input: FactsPlace & { readonly cameraId: string; readonly afterName: string; readonly most: number },
): Learned => {
  const { archiveDir, factsDir, cameraId, afterName, most } = input;
  const folder = folderOf(archiveDir, cameraId);
  const path = factsPath(factsDir, cameraId);
  const known = readFacts(path);
  const nowMs = Date.now();
  const rows: FactsRow[] = [];
  let [looks, keptRows, isEarly, lastName] = [0, 0, false, afterName];
  const closed = closedIn(folder);
  for (const { fileName, name, stamp } of closed) {
    let inspection = known.find(name, stamp);
    if (inspection !== null) keptRows += 1;
    else if (fileName > afterName && looks < most) {
      lastName = fileName;
      const isFresh = Math.abs(nowMs - Math.max(stamp.mtimeMs, stamp.ctimeMs)) < STEP_MS;
      isEarly ||= isFresh;
      if (isFresh) continue;
      looks += 1;
      const request = { fileName, sizeBytes: stamp.sizeBytes, fromBytes: 0 };
      inspection = inspectFiles({ folder, files: [request] })[0] ?? null;
    }
    // What says nothing may be a disk that fails: that isn't kept.
    if (inspection?.startMs != null) rows.push({ name, stamp, inspection });
  }
  if (rows.length > keptRows || keptRows < known.count) writeFacts(path, rows);
  return { lastName: looks < most ? null : lastName, isEarly };
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
