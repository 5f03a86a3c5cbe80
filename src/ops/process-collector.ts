import { readdirSync } from 'node:fs';
import type { Registry } from 'prom-client';
import { openFileLimit } from '../base/open-file-limit.js';
import { lagBucketsSeconds } from '../base/thread-stats.js';
import {
  bucketLabelsOf,
  CollectedCounter,
  CollectedGauge,
  CollectedHistogram,
  histogramLines,
  line,
} from './collected.js';
import type { ThreadReport, Threads } from './threads.js';

/** The open files that the kernel lists for this process, or null where it doesn't. */
const openFiles = (): number | null => {
  try {
    // One of them is the listing itself.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return null;
  }
};

const LAG = 'svc_thread_loop_lag_seconds';
const lagBucketLabels = bucketLabelsOf(lagBucketsSeconds);

/**
 * Declares and fills what is measured of the process and its threads. The process figures have the names that
 * every Prometheus client gives them, so that ready-made dashboards find them.
 */
export class ProcessCollector {
  readonly #cpu;
  readonly #memory;
  readonly #files;
  readonly #maxFiles;
  readonly #threads;
  readonly #threadCpu;
  readonly #threadLag;
  readonly #threadHeap;
  readonly #collections;
  readonly #collectionSeconds;

  constructor(register: Registry, build: { version: string; startedAtMs: number }) {
    const gauge = (name: string, help: string, ...labelNames: string[]) =>
      new CollectedGauge(register, { name, help, labelNames });
    const counter = (name: string, help: string, ...labelNames: string[]) =>
      new CollectedCounter(register, { name, help, labelNames });

    gauge('svc_build_info', 'Always 1: the version is in the labels.', 'version', 'node').lines = [
      line(1, { version: build.version, node: process.versions.node }),
    ];
    gauge('process_start_time_seconds', 'Start of the process, seconds since 1970.').lines = [
      line(build.startedAtMs / 1000),
    ];
    this.#cpu = counter('process_cpu_seconds_total', 'CPU time of the whole process, user and system.');
    this.#memory = gauge('process_resident_memory_bytes', 'Resident memory of the whole process.');
    this.#files = gauge('process_open_fds', 'Open file descriptors.');
    this.#maxFiles = gauge('process_max_fds', 'Limit of open file descriptors.');
    this.#threads = gauge('svc_threads', 'Threads that run JavaScript, the main one included.');
    this.#threadCpu = counter('svc_thread_cpu_seconds_total', 'CPU time of the thread.', 'thread');
    this.#threadLag = new CollectedHistogram(register, {
      name: LAG,
      help: 'How late a timer of the thread came: its event loop was busy that long.',
      labelNames: ['thread'],
    });
    this.#threadHeap = gauge('svc_thread_heap_used_bytes', 'JavaScript heap in use.', 'thread');
    this.#collections = counter('svc_gc_collections_total', 'Garbage collections of the thread.', 'thread');
    this.#collectionSeconds = counter('svc_gc_seconds_total', 'Time in garbage collections.', 'thread');
  }

  /** Replaces all lines by figures as of now. */
  collect(threads: Threads): void {
    const { user, system } = process.cpuUsage();
    this.#cpu.lines = [line((user + system) / 1e6)];
    this.#memory.lines = [line(process.memoryUsage.rss())];
    const [files, limit] = [openFiles(), openFileLimit()];
    this.#files.lines = files === null ? [] : [line(files)];
    this.#maxFiles.lines = limit === null ? [] : [line(limit)];
    this.#threads.lines = [line(threads.count)];
    this.#collectThreads(threads.reports());
  }

  #collectThreads(reports: readonly ThreadReport[]): void {
    const known = reports.flatMap(({ name, figures }) => (figures === null ? [] : [{ name, ...figures }]));
    this.#threadCpu.lines = known
      .filter(({ cpuSeconds }) => Number.isFinite(cpuSeconds))
      .map(({ name, cpuSeconds }) => line(cpuSeconds, { thread: name }));
    this.#threadLag.lines = known.flatMap(({ name, lagCounts, lagSumSeconds }) =>
      histogramLines(LAG, lagBucketLabels, { counts: lagCounts, sum: lagSumSeconds }, { thread: name }),
    );
    this.#threadHeap.lines = known.map(({ name, heapUsedBytes }) => line(heapUsedBytes, { thread: name }));
    this.#collections.lines = known.map(({ name, gcCount }) => line(gcCount, { thread: name }));
    this.#collectionSeconds.lines = known.map(({ name, gcSeconds }) => line(gcSeconds, { thread: name }));
  }
}
