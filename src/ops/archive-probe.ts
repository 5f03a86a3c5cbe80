import { open, realpath, stat, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { BoundedProbe } from './bounded-probe.js';
import type { Storage } from './metrics-source.js';

const PROBE_FILE = '.write-probe';
/** A whole block, so that a full disk has to say so. */
const probeBytes = Buffer.alloc(4_096);
const STATFS_TIMEOUT_MS = 800;

const deviceOf = async (path: string): Promise<number> => (await stat(path)).dev;

/**
 * Notices that a disk which was mounted is gone: its mount point is then an ordinary folder of the file system
 * above, exists, is writable, and would be filled up with recordings unnoticed.
 */
export class MountGuard {
  readonly #deviceOf: (path: string) => Promise<number>;
  /** The file system above the mount point; null while none is known. */
  #deviceAbove: number | null = null;

  constructor(deps: { deviceOf: (path: string) => Promise<number> } = { deviceOf }) {
    this.#deviceOf = deps.deviceOf;
  }

  async isMounted(path: string): Promise<boolean> {
    const device = await this.#deviceOf(path);
    if (device === this.#deviceAbove) return false;
    for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
      const above = await this.#deviceOf(dirname(folder));
      if (above === device) continue;
      this.#deviceAbove = above;
      break;
    }
    return true;
  }
}

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

/** Looks at the directory of the recordings: is it there, mounted, writable, and how much room does it have. */
export class ArchiveProbe {
  readonly #directory: string;
  readonly #mount = new MountGuard();
  readonly #statfs: BoundedProbe<Storage | null>;

  constructor(directory: string, deps: { clock: Clock }) {
    this.#directory = directory;
    this.#statfs = new BoundedProbe<Storage | null>(
      { timeoutMs: STATFS_TIMEOUT_MS, late: null },
      { clock: deps.clock, probe: () => this.#readStorage() },
    );
  }

  /** A `Check` of readiness. */
  async check(): Promise<string> {
    try {
      const path = await realpath(this.#directory);
      if (!(await this.#mount.isMounted(path))) return 'the file system is not mounted any more';
      await writeAndRemove(join(path, PROBE_FILE));
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
      const { bavail, blocks, bsize } = await statfs(this.#directory);
      // What root keeps for itself is not free for recordings.
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    } catch {
      return null;
    }
  }
}
