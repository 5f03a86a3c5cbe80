import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Bench } from './bench.js';
import { forkPart } from './child.js';
import { startCameras } from './ingest-cameras.js';
import type { EngineJob, EngineReport } from './ingest-engine.js';
import { quantile } from './table.js';

const defaults = {
  cameras: 100,
  seconds: 15,
  /** Every thread compiles the hot path for itself: before this it is half interpreted. */
  'warm-up': 25,
  /** Cameras that a reader on the main thread follows. */
  watched: 0,
  /** paced: each RTP packet is a send of its own, 0.2 ms apart, as real cameras do; burst: one send a frame. */
  pattern: 'paced',
  transport: 'tcp',
  'per-worker': 'auto',
  kbps: 4_000,
  fps: 25,
  gop: 50,
};

/** N cameras in a process of their own, the engine in another: what ingest alone costs, and how late frames are. */
export const ingest: Bench<typeof defaults> = {
  name: 'ingest',
  describe:
    'N cameras into their rings: CPU and memory a camera, latency last packet sent → frame in a reader',
  options: defaults,
  run: async (options) => {
    const cameras = await startCameras({
      count: options.cameras,
      isPaced: options.pattern === 'paced',
      kbps: options.kbps,
      framesPerSecond: options.fps,
      framesPerGop: options.gop,
    });
    try {
      const report = await measure({
        urls: cameras.urls,
        transport: options.transport === 'udp' ? 'udp' : 'tcp',
        camerasPerWorker: options['per-worker'] === 'auto' ? 'auto' : Number(options['per-worker']),
        watched: Math.min(options.watched, options.cameras),
        warmUpSeconds: options['warm-up'],
        seconds: options.seconds,
        archiveDir: '/',
        recordedWindows: 0,
        bytesASecond: options.kbps * 125,
      });
      return tabulate(options, report, await cameras.stop());
    } finally {
      await cameras.stop();
    }
  },
};

/** Runs the engine in a process of its own. */
export const measure = async (job: EngineJob): Promise<EngineReport> => {
  const engine: ChildProcess = forkPart(new URL('./ingest-engine.js', import.meta.url));
  try {
    engine.send(job);
    const outcome = await Promise.race([once(engine, 'message'), once(engine, 'exit')]);
    const [report] = outcome as [EngineReport | number];
    if (typeof report !== 'object') throw new Error(`the engine ended early (${String(report)})`);
    return report;
  } finally {
    engine.kill('SIGKILL');
  }
};

const tabulate = (options: typeof defaults, report: EngineReport, lateSends: string) => {
  const count = options.cameras;
  const latencies = report.latenciesMs.toSorted((a, b) => a - b);
  const memoryMb =
    (report.rssMb - report.ringMb - report.baseRssMb) / Math.max(1, count - report.baseCameras);
  return {
    columns: [
      'cameras',
      'pattern',
      'watched',
      'workers',
      '% core/camera',
      'MB/camera',
      'ring MB/camera',
      'start ms',
      'p50 ms',
      'p99 ms',
      'max ms',
      'frames',
      'lost',
    ],
    rows: [
      [
        count,
        options.pattern,
        options.watched,
        report.workers,
        (report.cpuMs / report.wallMs / count) * 100,
        memoryMb,
        report.ringMb / count,
        Math.round(report.allStreamingMs),
        quantile(latencies, 0.5),
        quantile(latencies, 0.99),
        latencies.at(-1) ?? 0,
        report.frames,
        report.packetsLost + report.damagedFrames,
      ],
    ],
    notes: [
      'CPU of the engine process (all threads, kernel time included), memory without the rings',
      `expected ${Math.round((count * options.fps * report.wallMs) / 1000)} frames; ${lateSends}`,
    ],
  };
};
