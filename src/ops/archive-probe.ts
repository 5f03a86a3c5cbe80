import { open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { BoundedProbe } from './bounded-probe.js';
import type { Storage } from './metrics-source.js';

const PROBE_FILE = '.write-probe';
/** A whole block, so that a full disk has to say so. */
const probeBytes = Buffer.alloc(4_096);
const STATFS_TIMEOUT_MS = 800;

const writeAndRemove = async (path: string): Promise<void> => {
  const file = await open(path, 'w', 0o600);
  try {
    // Not synced: on a journaling file system that would flush all recordings along with it, once a second.
    // All of it: a disk that is nearly full takes a part without complaint.
    await file.writeFile(probeBytes);
  } finally {
    await file.close();
    await unlink(path);
  }
};

const faultOf = (thrown: unknown): string => {
  const code = (thrown as NodeJS.ErrnoException).code ?? 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'the directory is missing';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full';
  return `the directory is not writable (${code})`;
};

/** Says why the directory is not the one of the recordings; null: it is. */
export type ArchiveLook = { look(): Promise<string | null> };

/** Looks at the directory of the recordings: is it the right one, writable, and how much room does it have. */
export class ArchiveProbe {
  readonly #directory: string;
  readonly #root: ArchiveLook;
  readonly #statfs: BoundedProbe<Storage | null>;

  constructor(directory: string, deps: { clock: Clock; root: ArchiveLook }) {
    this.#directory = directory;
    this.#root = deps.root;
    this.#statfs = new BoundedProbe<Storage | null>(
      { timeoutMs: STATFS_TIMEOUT_MS, late: null },
      { clock: deps.clock, probe: () => this.#readStorage() },
    );
  }

  /** A `Check` of readiness. */
  async check(): Promise<string> {
    const fault = await this.#root.look();
    if (fault !== null) return fault;
    try {
      await writeAndRemove(join(this.#directory, PROBE_FILE));
      return 'ok';
    } catch (fault) {
      return faultOf(fault);
    }
  }

  /** Free and total bytes; null if the file system doesn't answer. */
  storage(): Promise<Storage | null> {
    return this.#statfs.read();
  }

  async #readStorage(): Promise<Storage | null> {
    try {
      if ((await this.#root.look()) !== null) return null;
      const { bavail, blocks, bsize } = await statfs(this.#directory);
      // What root keeps for itself is not free for recordings.
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    } catch {
      return null;
    }
  }
}
