import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from './clock.js';
import { collectGarbage } from './collect-garbage.js';

/** Upper bounds of the buckets in which event-loop lag is counted; one more bucket takes the rest. */
export const lagBucketsSeconds = [0.005, 0.02, 0.1, 0.5, 2] as const;

/** Where each figure lies in the shared Float64Array; the counts per lag bucket follow them. */
const field = {
  cpuSeconds: 0,
  heapUsedBytes: 1,
  heapTotalBytes: 2,
  externalBytes: 3,
  allocatedBytes: 4,
  gcCount: 5,
  gcSeconds: 6,
  lagSumSeconds: 7,
} as const;
const FIRST_LAG_BUCKET = 8;
const LAG_COUNTS = lagBucketsSeconds.length + 1;
const FIELDS = FIRST_LAG_BUCKET + LAG_COUNTS;
/** Int32 words behind the figures: beats, for whoever watches whether the thread hangs, and what it is asked for. */
const WORDS_START = FIELDS * 8;
const word = { beats: 0, isAskedToCollect: 1 } as const;
const SHARED_BYTES = WORDS_START + 8;

/** What one thread of the process reports of itself. Counts and sums grow from the thread's start. */
export type ThreadFigures = { readonly [name in keyof typeof field]: number } & {
  /** Samples per lag bucket, not cumulated; the last one is beyond all bounds. */
  readonly lagCounts: readonly number[];
};

/** The figures that a thread's ThreadStats last published, from any thread, without a message. */
export const readThreadFigures = (shared: SharedArrayBuffer): ThreadFigures => {
  // Plain 8-byte loads: each figure is whole, and figures of two moments side by side do no harm.
  const figures = new Float64Array(shared, 0, FIELDS);
  const named = Object.fromEntries(Object.entries(field).map(([name, index]) => [name, figures[index]!]));
  return {
    ...(named as Record<keyof typeof field, number>),
    lagCounts: Array.from(figures.subarray(FIRST_LAG_BUCKET)),
  };
};

/** How often the thread's event loop came round to its timer; wraps at 2^32. */
export const readBeats = (shared: SharedArrayBuffer): number =>
  Atomics.load(new Int32Array(shared, WORDS_START), word.beats);

/** Asks a thread to collect its garbage, with its next beat. */
export const askToCollect = (shared: SharedArrayBuffer): void => {
  Atomics.store(new Int32Array(shared, WORDS_START), word.isAskedToCollect, 1);
};

/** Each beat wakes the thread up, which costs an idle one more than the beat itself. */
const SAMPLE_PERIOD_MS = 200;
const SAMPLES_PER_PUBLISH = 5;

type ThreadCpuUsage = () => { user: number; system: number };

/** CPU seconds of the calling thread, NaN where the system doesn't tell. */
export const threadCpuSeconds = (): number => {
  const usage = (process as { threadCpuUsage?: ThreadCpuUsage }).threadCpuUsage?.();
  if (usage !== undefined) return (usage.user + usage.system) / 1e6;
  try {
    // Before Node 23.9; Linux only. A synchronous read runs in the calling thread, so "self" is this one.
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e9;
  } catch {
    return Number.NaN;
  }
};

/**
 * Measures the thread it is made in and publishes the figures in shared memory, once a second: CPU time, heap,
 * garbage collections, and how late a 200 ms timer comes, which is how long the event loop was busy (or napping).
 */
export class ThreadStats {
  readonly shared = new SharedArrayBuffer(SHARED_BYTES);
  readonly #figures = new Float64Array(this.shared, 0, FIELDS);
  readonly #words = new Int32Array(this.shared, WORDS_START);
  readonly #clock: Clock;
  readonly #gcObserver: PerformanceObserver;
  #timer: NodeJS.Timeout | null = null;
  #lastSampleMs: number;
  #samples = 0;
  #lastInUseBytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastSampleMs = clock.monotonicMs();
    this.#gcObserver = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) this.#countCollection(entry.duration);
    });
  }

  start(): void {
    this.#gcObserver.observe({ entryTypes: ['gc'] });
    this.#lastSampleMs = this.#clock.monotonicMs();
    this.#publish();
    this.#timer = setInterval(() => this.sample(), SAMPLE_PERIOD_MS);
    // Measuring alone keeps no thread alive.
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#gcObserver.disconnect();
  }

  /** One beat of the timer. */
  sample(): void {
    Atomics.add(this.#words, word.beats, 1);
    const nowMs = this.#clock.monotonicMs();
    const lagSeconds = Math.max(0, nowMs - this.#lastSampleMs - SAMPLE_PERIOD_MS) / 1000;
    this.#lastSampleMs = nowMs;
    let bucket = 0;
    while (bucket < lagBucketsSeconds.length && lagSeconds > lagBucketsSeconds[bucket]!) bucket++;
    this.#figures[FIRST_LAG_BUCKET + bucket]! += 1;
    this.#figures[field.lagSumSeconds]! += lagSeconds;
    if (++this.#samples % SAMPLES_PER_PUBLISH === 0) this.#publish();
    if (Atomics.exchange(this.#words, word.isAskedToCollect, 0) === 1) collectGarbage();
  }

  #countCollection(durationMs: number): void {
    this.#figures[field.gcCount]! += 1;
    this.#figures[field.gcSeconds]! += durationMs / 1000;
    this.#countAllocated();
  }

  #publish(): void {
    this.#figures[field.cpuSeconds] = threadCpuSeconds();
    this.#countAllocated();
  }

  #countAllocated(): void {
    const heap = getHeapStatistics();
    const inUseBytes = heap.used_heap_size + heap.external_memory;
    this.#figures[field.heapUsedBytes] = heap.used_heap_size;
    this.#figures[field.heapTotalBytes] = heap.total_heap_size;
    this.#figures[field.externalBytes] = heap.external_memory;
    // V8 of Node 20 keeps no total of what was ever allocated: the growth that we see is its lower bound.
    this.#figures[field.allocatedBytes]! += Math.max(0, inUseBytes - this.#lastInUseBytes);
    this.#lastInUseBytes = inUseBytes;
  }
}
