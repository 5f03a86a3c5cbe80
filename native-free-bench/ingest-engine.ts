import { statSync } from 'node:fs';
/** The engine under measurement, in a process of its own: forked by ingest.ts, so that its CPU is its alone. */
import { availableParallelism } from 'node:os';
import { RootState } from '../src/archive/root-state.js';
import { RecordingDesk } from '../src/archive/write/recording-desk.js';
import { systemClock } from '../src/base/clock.js';
import { createLogger } from '../src/base/log.js';
import type { CameraSettings } from '../src/camera/fleet/camera.js';
import { Cameras } from '../src/camera/fleet/cameras.js';
import type { CamerasPerWorker } from '../src/camera/fleet/packing.js';
import { spawnCameraWorker } from '../src/camera/fleet/worker-thread.js';
import { readCounters } from '../src/ring/counters.js';
import { BellListener } from '../src/ring/doorbell.js';
import { RingReader } from '../src/ring/reader.js';
import { sendTimeMs } from '../test/support/frame-generator.js';
import { bareWrites } from './bare-writes.js';

export type EngineJob = {
  readonly urls: readonly string[];
  readonly transport: 'tcp' | 'udp';
  readonly camerasPerWorker: CamerasPerWorker;
  readonly watched: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Where recordings go. */
  readonly archiveDir: string;
  /** So many windows of `seconds` with all cameras recorded, each after one without; 0: nothing is recorded. */
  readonly recordedWindows: number;
  /** Of one camera. */
  readonly bytesASecond: number;
};

/** What it took while all cameras were recorded, beside the windows in which none was. */
export type RecordedReport = {
  readonly cpuMs: number;
  readonly wallMs: number;
  /** CPU of each window beside the mean of those before and after it: how many cores it takes more. */
  readonly addedCores: readonly number[];
  readonly lostFrames: number;
  /** What the writing alone takes: the same bytes, to the same disk. */
  readonly bare: Window;
};

export type EngineReport = {
  readonly workers: number;
  /** From the first connection to the last camera's first frame. */
  readonly allStreamingMs: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly frames: number;
  readonly packetsLost: number;
  readonly damagedFrames: number;
  readonly rssMb: number;
  readonly ringMb: number;
  /** Of the whole process, while it had the first `baseCameras` alone. */
  readonly baseRssMb: number;
  readonly baseCameras: number;
  readonly latenciesMs: readonly number[];
  readonly recorded: RecordedReport;
};

const START_TIMEOUT_MS = 60_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const until = async (isDone: () => boolean, what: string): Promise<void> => {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  while (!isDone()) {
    if (Date.now() > deadlineMs) throw new Error(`${what} took over ${START_TIMEOUT_MS / 1000} s`);
    await sleep(2);
  }
};

const rssMb = (): number => process.memoryUsage.rss() / 1e6;

/** Reads every frame of some cameras as soon as their bells ring, and notes how long each was on its way. */
class Watcher {
  readonly latenciesMs: number[] = [];
  isMeasuring = false;
  readonly #readers: RingReader[] = [];
  readonly #frame = Buffer.allocUnsafe(5 << 20);
  readonly #listeners = new Map<SharedArrayBuffer, BellListener>();

  follow(cameras: Cameras, cameraId: string): void {
    let reader: RingReader | null = null;
    cameras.follow(cameraId, (feed) => {
      if (feed === null) return;
      if (reader === null) {
        reader = new RingReader(feed.ring, { start: 'latest-key' });
        reader.subscribe();
        this.#readers.push(reader);
      } else {
        reader.moveTo(feed.ring);
      }
      if (this.#listeners.has(feed.bell)) return;
      const listener = new BellListener(feed.bell, () => this.#readAll());
      this.#listeners.set(feed.bell, listener);
      listener.start();
    });
  }

  stop(): void {
    for (const listener of this.#listeners.values()) listener.stop();
  }

  #readAll(): void {
    for (const reader of this.#readers) {
      while (reader.next()) {
        if (!reader.copyTo(this.#frame, 0) || !this.isMeasuring) continue;
        const sentMs = sendTimeMs(this.#frame, reader.lengthBytes);
        this.latenciesMs.push(systemClock.monotonicMs() - sentMs);
      }
    }
  }
}

const totals = (
  cameras: Cameras,
): { frames: number; packetsLost: number; damagedFrames: number; ringMb: number } => {
  const sum = { frames: 0, packetsLost: 0, damagedFrames: 0, ringMb: 0 };
  for (const id of cameras.ids) {
    const ring = cameras.ring(id);
    if (ring === null) continue;
    const counters = readCounters(ring);
    sum.frames += counters.videoFrames;
    sum.packetsLost += counters.packetsLost;
    sum.damagedFrames += counters.damagedFrames;
    sum.ringMb += ring.byteLength / 1e6;
  }
  return sum;
};

type Window = { readonly cpuMs: number; readonly wallMs: number };

const measureFor = async (seconds: number): Promise<Window> => {
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  await sleep(seconds * 1000);
  const cpu = process.cpuUsage(cpuBefore);
  return { cpuMs: (cpu.user + cpu.system) / 1000, wallMs: performance.now() - startMs };
};

const coresOf = ({ cpuMs, wallMs }: Window): number => cpuMs / wallMs;

const sumOf = (windows: readonly Window[]): Window => ({
  cpuMs: windows.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
  wallMs: windows.reduce((sum, { wallMs }) => sum + wallMs, 0),
});

/** Files have been opened, or closed, when this has passed since recording was switched. */
const SWITCH_MS = 3_000;

const run = async (job: EngineJob): Promise<EngineReport> => {
  const log = createLogger((level, message, fields) => {
    if (level !== 'info') process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`);
  });
  const root = new RootState();
  root.set(statSync(job.archiveDir, { bigint: true }));
  const recordings = new RecordingDesk(
    { archiveDir: job.archiveDir, fileSeconds: 3600, root: root.memory },
    { clock: systemClock, log, recover: () => {}, onRefused: () => {} },
  );
  const cameras = new Cameras(
    { camerasPerWorker: job.camerasPerWorker, coreCount: availableParallelism() },
    { clock: systemClock, log, spawn: spawnCameraWorker, recordings },
  );
  const settings = job.urls.map((url, index): CameraSettings => {
    const id = `camera-${index}`;
    return {
      id,
      source: { url, transport: job.transport },
      host: new URL(url).hostname,
      disabled: false,
      isRecorded: false,
    };
  });
  const allStream = (): boolean => cameras.ids.every((id) => cameras.get(id)?.status().state === 'streaming');
  const baseCameras = 1;
  cameras.replaceAll(settings.slice(0, baseCameras));
  await until(allStream, 'starting the first cameras');
  await sleep(2_000);
  const baseRssMb = rssMb() - totals(cameras).ringMb;
  const startMs = performance.now();
  cameras.replaceAll(settings);
  await until(allStream, 'starting all cameras');
  const allStreamingMs = performance.now() - startMs;
  const watcher = new Watcher();
  for (const { id } of settings.slice(0, job.watched)) watcher.follow(cameras, id);
  await sleep(job.warmUpSeconds * 1000);
  const record = async (isRecorded: boolean): Promise<void> => {
    cameras.replaceAll(settings.map((camera) => ({ ...camera, isRecorded })));
    await sleep(SWITCH_MS);
  };
  if (job.recordedWindows > 0) {
    await record(true);
    await sleep(job.warmUpSeconds * 1000);
    await record(false);
  }
  const before = totals(cameras);
  watcher.isMeasuring = true;
  const plain = [await measureFor(job.seconds)];
  watcher.isMeasuring = false;
  const after = totals(cameras);
  const recorded: Window[] = [];
  while (recorded.length < job.recordedWindows) {
    await record(true);
    recorded.push(await measureFor(job.seconds));
    await record(false);
    plain.push(await measureFor(job.seconds));
  }
  const { archiveDir: folder, seconds, bytesASecond } = job;
  // Last, since the system goes on with what it took into its cache for longer than a window.
  const bare =
    recorded.length === 0
      ? { cpuMs: 0, wallMs: 0 }
      : await bareWrites({ folder, files: job.urls.length, bytesASecond, seconds });
  const report: EngineReport = {
    workers: cameras.workerCount,
    allStreamingMs,
    ...sumOf(plain),
    frames: after.frames - before.frames,
    packetsLost: after.packetsLost - before.packetsLost,
    damagedFrames: after.damagedFrames - before.damagedFrames,
    rssMb: rssMb(),
    ringMb: after.ringMb,
    baseRssMb,
    baseCameras,
    latenciesMs: watcher.latenciesMs,
    recorded: {
      ...sumOf(recorded),
      addedCores: recorded.map(
        (window, at) => coresOf(window) - (coresOf(plain[at]!) + coresOf(plain[at + 1]!)) / 2,
      ),
      bare,
      lostFrames: cameras.ids.reduce((sum, id) => sum + recordings.lostFrames(id), 0),
    },
  };
  watcher.stop();
  await cameras.stop();
  return report;
};

process.on('message', (job: EngineJob) => {
  run(job).then(
    (report) => process.send?.(report, () => process.disconnect()),
    (fault: unknown) => {
      process.stderr.write(`${String(fault)}\n`);
      process.exit(1);
    },
  );
});
// A parent that goes away takes the measurement with it.
process.on('disconnect', () => process.exit(0));
