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

type Entry = {
  readonly name: string;
  readonly shared: SharedArrayBuffer | null;
  /** What it is, and which of those: the lowest number that was free when it began. */
  readonly role: string;
  readonly place: number;
};

/** Workers are numbered in the order in which they were started. */
const roleOf = (name: string): string => name.replace(/-\d+$/, '');

/** The threads of the process: whoever starts one adds it, and removes it when it ends. */
export class Threads {
  readonly #entries = new Set<Entry>();
  #endedGcCount = 0;
  #endedAllocatedBytes = 0;
  #endedCpuSeconds = 0;

  get count(): number {
    return this.#entries.size;
  }

  /** `shared` is the thread's `ThreadStats.shared`. Returns what to call when the thread has ended. */
  add(name: string, shared: SharedArrayBuffer | null): () => void {
    const role = roleOf(name);
    const taken = new Set([...this.#entries].filter((each) => each.role === role).map(({ place }) => place));
    let place = 1;
    while (taken.has(place)) place += 1;
    const entry: Entry = { name, shared, role, place };
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

  /** CPU time of the thread in that place among those of its role; NaN where there is none, or nobody tells. */
  cpuSeconds(role: string, place: number): number {
    for (const entry of this.#entries)
      if (entry.role === role && entry.place === place && entry.shared !== null)
        return readThreadFigures(entry.shared).cpuSeconds;
    return Number.NaN;
  }

  /** CPU time of all of them since the start, the ended ones included. */
  get totalCpuSeconds(): number {
    let total = this.#endedCpuSeconds;
    for (const { shared } of this.#entries)
      if (shared !== null) total += readThreadFigures(shared).cpuSeconds;
    return total;
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
    this.#endedCpuSeconds += figures.cpuSeconds;
    this.#endedAllocatedBytes += figures.allocatedBytes;
  }
}
