import { readdir, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.js';

/** Beside a file that was fetched: its time is when that was used last. A model's own name never begins with a dot. */
const markName = /^\.([A-Za-z0-9._-]+\.onnx)\.fetched$/;

const WRITE_USE_EVERY_MS = 60_000;

type Kept = { readonly filename: string; readonly sizeBytes: number; readonly usedMs: number };

const isMissing = (fault: unknown): boolean => (fault as NodeJS.ErrnoException).code === 'ENOENT';

const statOf = async (path: string) => {
  try {
    return await stat(path);
  } catch (fault) {
    if (isMissing(fault)) return null;
    throw fault;
  }
};

const unlinkIfThere = async (path: string): Promise<void> => {
  try {
    await unlink(path);
  } catch (fault) {
    if (!isMissing(fault)) throw fault;
  }
};

/**
 * Which files of the directory were fetched, and may go when they become too much. What somebody put there stays:
 * the origin may not have it.
 */
export class ModelCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #clock: Clock;
  /** When each file was used last, and when that was written down. */
  readonly #used = new Map<string, { usedMs: number; writtenMs: number }>();

  constructor(directory: string, maxBytes: number, clock: Clock) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#clock = clock;
  }

  /** The file with this name was fetched. */
  async mark(filename: string): Promise<void> {
    await writeFile(this.#markOf(filename), '');
    this.noteUse(filename);
  }

  /** The file was asked for. That is written down now and then; nobody waits for it. */
  noteUse(filename: string): void {
    const nowMs = this.#clock.wallMs();
    const known = this.#used.get(filename);
    const isDue = known === undefined || Math.abs(nowMs - known.writtenMs) >= WRITE_USE_EVERY_MS;
    this.#used.set(filename, { usedMs: nowMs, writtenMs: isDue ? nowMs : known.writtenMs });
    const now = new Date(nowMs);
    // One that wasn't fetched has no mark.
    if (isDue) void utimes(this.#markOf(filename), now, now).catch(() => {});
  }

  /** Removes those that were used longest ago until the rest fits, but not `newest`; the names of what went. */
  async trim(newest: string | null): Promise<string[]> {
    const kept = await this.#kept();
    let sumBytes = kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const removed: string[] = [];
    for (const { filename, sizeBytes } of kept.toSorted((a, b) => a.usedMs - b.usedMs)) {
      if (sumBytes <= this.#maxBytes) break;
      if (filename === newest) continue;
      await unlinkIfThere(join(this.#directory, filename));
      await unlinkIfThere(this.#markOf(filename));
      this.#used.delete(filename);
      sumBytes -= sizeBytes;
      removed.push(filename);
    }
    return removed;
  }

  async #kept(): Promise<Kept[]> {
    const kept: Kept[] = [];
    for (const name of await readdir(this.#directory)) {
      const filename = markName.exec(name)?.[1];
      if (filename === undefined) continue;
      const [file, mark] = [
        await statOf(join(this.#directory, filename)),
        await statOf(join(this.#directory, name)),
      ];
      if (file !== null && mark !== null)
        kept.push({
          filename,
          sizeBytes: file.size,
          usedMs: this.#used.get(filename)?.usedMs ?? mark.mtimeMs,
        });
    }
    return kept;
  }

  #markOf(filename: string): string {
    return join(this.#directory, `.${filename}.fetched`);
  }
}
