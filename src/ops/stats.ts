import type { Clock, MonotonicMs } from '../base/clock.js';
import type { Threads } from './threads.js';

/** What the statistics need of the rest of the service, as of now. */
export interface StatsSource {
  /** All threads of the process, the main one included. */
  readonly threads: Threads;
  /** All cameras that are configured, whatever their state. */
  cameras(): Iterable<{
    readonly cameraId: string;
    readonly isStreaming: boolean;
    readonly isRecording: boolean;
    readonly fps: number;
    readonly bitrateKbps: number;
  }>;
  /** Shared memory of the rings: no thread's own heap counts it. */
  ringBytes(): number;
  /** Why nothing can be recorded, or soon can't; "" where all is well. */
  storageFault(): string;
}

/** The statistics record of the interface, section 2.6. */
export type StatsRecord = {
  readonly version: string;
  readonly uptime_sec: number;
  readonly uptime: string;
  readonly memory_alloc_mb: number;
  readonly total_alloc_mb: number;
  readonly sys_memory_mb: number;
  readonly num_gc: number;
  readonly goroutines: number;
  readonly active_streams: number;
  readonly total_cameras: number;
  readonly total_fps: number;
  readonly total_bitrate_kbps: number;
  readonly active_recordings: number;
  readonly storage_fault: string;
};

/** A duration in whole seconds, in the one form `48h0m0s`, however short: a reader needs no second case. */
export const durationText = (durationSeconds: number): string => {
  const seconds = Math.max(0, Math.floor(durationSeconds));
  return `${Math.floor(seconds / 3_600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`;
};

/** Megabytes of 10^6 bytes with two decimals. */
const megabytes = (lengthBytes: number): number => Math.round(lengthBytes / 1e4) / 100;

/**
 * The statistics of the whole process. `memory_alloc_mb` is what is in use: heaps and buffers of all threads, and
 * the rings. `total_alloc_mb` is what was ever allocated, as far as it was seen (once a second, at collections
 * and at each record), so it never falls. `sys_memory_mb` is the resident memory of the process.
 */
export class Stats {
  readonly #version: string;
  readonly #clock: Clock;
  readonly #source: StatsSource;
  readonly #startedAtMs: MonotonicMs;
  #lastRingBytes = 0;
  #ringBytesEver = 0;

  constructor(version: string, deps: { clock: Clock; source: StatsSource }) {
    this.#version = version;
    this.#clock = deps.clock;
    this.#source = deps.source;
    this.#startedAtMs = deps.clock.monotonicMs();
  }

  /** The record as of now, with the cameras that somebody sees. */
  record(seesCamera: (cameraId: string) => boolean = () => true): StatsRecord {
    const uptimeSeconds = Math.floor((this.#clock.monotonicMs() - this.#startedAtMs) / 1000);
    const memory = this.#source.threads.totals();
    const ringBytes = this.#source.ringBytes();
    this.#ringBytesEver += Math.max(0, ringBytes - this.#lastRingBytes);
    this.#lastRingBytes = ringBytes;
    let [cameras, streaming, recording, fps, bitrateKbps] = [0, 0, 0, 0, 0];
    for (const camera of this.#source.cameras()) {
      if (!seesCamera(camera.cameraId)) continue;
      cameras++;
      if (camera.isStreaming) streaming++;
      if (camera.isRecording) recording++;
      fps += camera.fps;
      bitrateKbps += camera.bitrateKbps;
    }
    return {
      version: this.#version,
      uptime_sec: uptimeSeconds,
      uptime: durationText(uptimeSeconds),
      memory_alloc_mb: megabytes(memory.heapUsedBytes + memory.externalBytes + ringBytes),
      total_alloc_mb: megabytes(memory.allocatedBytes + this.#ringBytesEver),
      sys_memory_mb: megabytes(process.memoryUsage.rss()),
      num_gc: memory.gcCount,
      goroutines: this.#source.threads.count,
      active_streams: streaming,
      total_cameras: cameras,
      total_fps: Math.round(fps * 100) / 100,
      total_bitrate_kbps: Math.round(bitrateKbps),
      active_recordings: recording,
      storage_fault: this.#source.storageFault(),
    };
  }
}
