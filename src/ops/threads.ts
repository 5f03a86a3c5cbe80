import { askToCollect, readThreadFigures, type ThreadFigures } from '../base/thread-stats.js';

/** A thread of the process; `figures` is null where it publishes none. */
export type ThreadReport = { readonly name: string; readonly figures: ThreadFigures | null };

/** What all threads did since the start, the ended ones included, and hold now. */
export type ThreadTotals = {
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  readonly externalBytes: number;
  readonly allocatedBytes: number;
  readonly gcCount: number;
};

type Entry = { readonly name: string; readonly shared: SharedArrayBuffer | null };

/** The threads of the process: whoever starts one adds it, and removes it when it ends. */
export class Threads {
  readonly #entries = new Set<Entry>();
  #endedGcCount = 0;
  #endedAllocatedBytes = 0;

  get count(): number {
    return this.#entries.size;
  }

  /** `shared` is the thread's `ThreadStats.shared`. Returns what to call when the thread has ended. */
  add(name: string, shared: SharedArrayBuffer | null): () => void {
    const entry: Entry = { name, shared };
    this.#entries.add(entry);
    return () => this.#remove(entry);
  }

  reports(): ThreadReport[] {
    return [...this.#entries].map(({ name, shared }) => ({
      name,
      figures: shared === null ? null : readThreadFigures(shared),
    }));
  }

  /** How late a thread's timer came since its start, all together; NaN where it publishes nothing. */
  lagSeconds(name: string): number {
    for (const entry of this.#entries)
      if (entry.name === name && entry.shared !== null) return readThreadFigures(entry.shared).lagSumSeconds;
    return Number.NaN;
  }

  /** Asks all of them to collect their garbage. */
  collectGarbage(): void {
    for (const { shared } of this.#entries) if (shared !== null) askToCollect(shared);
  }

  totals(): ThreadTotals {
    let [heapUsedBytes, heapTotalBytes, externalBytes] = [0, 0, 0];
    let [allocatedBytes, gcCount] = [this.#endedAllocatedBytes, this.#endedGcCount];
    for (const { figures } of this.reports()) {
      if (figures === null) continue;
      heapUsedBytes += figures.heapUsedBytes;
      heapTotalBytes += figures.heapTotalBytes;
      externalBytes += figures.externalBytes;
      allocatedBytes += figures.allocatedBytes;
      gcCount += figures.gcCount;
    }
    return { heapUsedBytes, heapTotalBytes, externalBytes, allocatedBytes, gcCount };
  }

  /** What a thread counted outlives it, so that the totals never go back. */
  #remove(entry: Entry): void {
    if (!this.#entries.delete(entry) || entry.shared === null) return;
    const figures = readThreadFigures(entry.shared);
    this.#endedGcCount += figures.gcCount;
    this.#endedAllocatedBytes += figures.allocatedBytes;
  }
}
