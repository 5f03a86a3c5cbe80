import { lstatSync, statfsSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../base/errors.js';
import { eachFolder, type FilePlace } from './archive-folders.js';
import { parseRecordingName } from './file-name.js';

/** What a round of deletions did. */
export type Deletions = {
  readonly deleted: readonly FilePlace[];
  readonly failed: readonly (FilePlace & { readonly reason: string })[];
};

/** What a round for free space did, and how much is free now. */
export type Eviction = Deletions & { readonly freePercent: number };

export type ExpiryLimit = { readonly cameraId: string; readonly beforeMs: number };

/** Room on a file system, as statfs tells it. */
export type Space = { readonly bavail: number; readonly blocks: number; readonly bsize: number };

type Candidate = FilePlace & { readonly endMs: number };

/** How `skip` names a file. */
export const placeKey = ({ cameraId, fileName }: FilePlace): string => `${cameraId}/${fileName}`;

/** When a closed recording ends by its name; null: it is open, or no recording. */
const closedEndMs = (fileName: string): number | null => parseRecordingName(fileName)?.endMs ?? null;

/** Job: the newest time in the names of recordings that isn't after another; null: there is none. */
export const newestEnd = (input: {
  readonly archiveDir: string;
  readonly notAfterMs: number;
}): number | null => {
  let newestMs: number | null = null;
  eachFolder(input.archiveDir, (_, names) => {
    for (const fileName of names) {
      const name = parseRecordingName(fileName);
      if (name === null) continue;
      const timeMs = name.endMs ?? name.startMs;
      if (timeMs <= input.notAfterMs && timeMs > (newestMs ?? 0)) newestMs = timeMs;
    }
  });
  return newestMs;
};

class DeletionRound implements Deletions {
  readonly deleted: FilePlace[] = [];
  readonly failed: (FilePlace & { reason: string })[] = [];
  readonly #archiveDir: string;

  constructor(archiveDir: string) {
    this.#archiveDir = archiveDir;
  }

  get count(): number {
    return this.deleted.length + this.failed.length;
  }

  /** Deletes a regular file; returns how many bytes that should have freed. */
  delete({ cameraId, fileName }: FilePlace): number {
    const path = join(this.#archiveDir, cameraId, fileName);
    try {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isFile() !== true) return 0;
      unlinkSync(path);
      this.deleted.push({ cameraId, fileName });
      return stat.blocks * 512;
    } catch (fault) {
      this.failed.push({ cameraId, fileName, reason: messageOf(fault) });
      return 0;
    }
  }

  get result(): Deletions {
    return { deleted: this.deleted, failed: this.failed };
  }
}

/** Job: deletes closed recordings whose name ends before their camera's limit, `maxFiles` at most. */
export const deleteExpired = (input: {
  readonly archiveDir: string;
  readonly limits: readonly ExpiryLimit[];
  readonly maxFiles: number;
  readonly skip: readonly string[];
}): Deletions => {
  const round = new DeletionRound(input.archiveDir);
  const limits = new Map(input.limits.map(({ cameraId, beforeMs }) => [cameraId, beforeMs]));
  const skip = new Set(input.skip);
  eachFolder(input.archiveDir, (cameraId, names) => {
    const beforeMs = limits.get(cameraId);
    if (beforeMs === undefined) return;
    for (const fileName of names) {
      if (round.count >= input.maxFiles) return;
      const endMs = closedEndMs(fileName);
      if (endMs === null || endMs >= beforeMs || skip.has(placeKey({ cameraId, fileName }))) continue;
      round.delete({ cameraId, fileName });
    }
  });
  return round.result;
};

const oldestOf = (archiveDir: string, count: number, skip: ReadonlySet<string>): Candidate[] => {
  let oldest: Candidate[] = [];
  const shorten = (): void => {
    oldest = oldest.sort((a, b) => a.endMs - b.endMs).slice(0, count);
  };
  eachFolder(archiveDir, (cameraId, names) => {
    for (const fileName of names) {
      const endMs = closedEndMs(fileName);
      if (endMs === null || skip.has(placeKey({ cameraId, fileName }))) continue;
      oldest.push({ cameraId, fileName, endMs });
      if (oldest.length >= count * 16) shorten();
    }
  });
  shorten();
  return oldest;
};

/**
 * Job: while too little is free, deletes the oldest closed recordings of all folders. A round stops when the files
 * it deleted should be enough, though the file system doesn't show it yet: some free blocks later (btrfs, XFS), or
 * once the last reader of a file closes it.
 */
export const evictOldest = (
  input: {
    readonly archiveDir: string;
    readonly minFreePercent: number;
    readonly maxFiles: number;
    readonly skip: readonly string[];
  },
  spaceOf: (path: string) => Space = statfsSync,
): Eviction => {
  const { archiveDir, minFreePercent, maxFiles } = input;
  const round = new DeletionRound(archiveDir);
  const freePercentOf = ({ bavail, blocks }: Space): number => (blocks === 0 ? 100 : (bavail * 100) / blocks);
  let space = spaceOf(archiveDir);
  const shortBlocks = (space.blocks * minFreePercent) / 100 - space.bavail;
  if (shortBlocks <= 0) return { ...round.result, freePercent: freePercentOf(space) };
  let freedBytes = 0;
  for (const place of oldestOf(archiveDir, maxFiles, new Set(input.skip))) {
    freedBytes += round.delete(place);
    space = spaceOf(archiveDir);
    if (freePercentOf(space) >= minFreePercent || freedBytes >= shortBlocks * space.bsize) break;
  }
  return { ...round.result, freePercent: freePercentOf(space) };
};
