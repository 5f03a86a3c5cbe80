import { randomUUID } from 'node:crypto';
import type { Clock, MonotonicMs } from '../../base/clock.js';
import type { JobRunner } from '../jobs/jobs.js';

export type News = {
  /** Of this start: counts of another one mean nothing. */
  readonly boot: string;
  readonly upTo: number;
  readonly cameraIds: readonly string[];
  readonly isMore: boolean;
};

/** Others ask every two seconds; however many they are, the folders are looked at once. */
const LOOK_MS = 1_500;
/** Of many cameras a look takes longer: no more than this share of a thread; but a disk that was slow once may be well again. */
const REST = 25;
const MAX_REST_MS = 30_000;
/**
 * What was seen is added to for a minute, and file systems count time in steps: what came in the same step as the last
 * look shows in no stamp. So a camera is told of once more after that.
 */
const AGAIN_MS = 75_000;
const MAX_TOLD = 1_000;

/** Which cameras' recordings here are others than before, for boxes that ask; they are found where they lie, in the folders. */
export class OwnNews {
  readonly #archiveDir: string;
  readonly #runner: JobRunner;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #boot = randomUUID();
  /** The count at which each was told of last, in the order of that. */
  readonly #counts = new Map<string, number>();
  readonly #again = new Map<string, MonotonicMs>();
  #count = 0;
  #look: number | null = null;
  #nextMs = 0;
  #looking: Promise<void> | null = null;

  constructor(
    options: { readonly archiveDir: string },
    deps: { readonly runner: JobRunner; readonly clock: Pick<Clock, 'monotonicMs'> },
  ) {
    this.#archiveDir = options.archiveDir;
    this.#runner = deps.runner;
    this.#clock = deps.clock;
  }

  async since(boot: string, after: number): Promise<News> {
    if (this.#clock.monotonicMs() >= this.#nextMs) {
      this.#looking ??= this.#lookOnce().finally(() => {
        this.#looking = null;
      });
      await this.#looking;
    }
    const from = boot === this.#boot ? after : 0;
    const told: [string, number][] = [];
    if (from < this.#count)
      for (const entry of this.#counts) {
        if (entry[1] > from) told.push(entry);
        if (told.length > MAX_TOLD) break;
      }
    const isMore = told.length > MAX_TOLD;
    if (isMore) told.pop();
    const upTo = isMore ? told.at(-1)![1] : this.#count;
    return { boot: this.#boot, upTo, cameraIds: told.map(([cameraId]) => cameraId), isMore };
  }

  async #lookOnce(): Promise<void> {
    const archiveDir = this.#archiveDir;
    const { look, isAll, cameraIds, tookMs } = await this.#runner.run('changedFolders', {
      archiveDir,
      since: this.#look,
    });
    const nowMs = this.#clock.monotonicMs();
    this.#nextMs = nowMs + Math.min(Math.max(LOOK_MS, REST * tookMs), MAX_REST_MS);
    this.#look = look;
    // What went while nobody looked is none of those that are there.
    const all = isAll ? [...new Set([...this.#counts.keys(), ...cameraIds])] : cameraIds;
    for (const [cameraId, dueMs] of this.#again) {
      if (dueMs > nowMs) break;
      this.#again.delete(cameraId);
      this.#tell(cameraId);
    }
    for (const cameraId of all) {
      this.#again.delete(cameraId);
      this.#again.set(cameraId, (nowMs + AGAIN_MS) as MonotonicMs);
      this.#tell(cameraId);
    }
  }

  #tell(cameraId: string): void {
    this.#count += 1;
    this.#counts.delete(cameraId);
    this.#counts.set(cameraId, this.#count);
  }
}
