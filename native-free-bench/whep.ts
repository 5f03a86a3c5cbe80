import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Bench } from './bench.js';
import { forkPart } from './child.js';
import { startCameras } from './ingest-cameras.js';
import { quantile } from './table.js';
import type { FromWhepEngine, ToWhepEngine } from './whep-engine.js';
import type { FromViewers, ToViewers } from './whep-viewers.js';

const defaults = {
  /** Measured one after the other. */
  viewers: '10,30,60',
  /**
   * So many of them, spread evenly, read what they are sent, and are measured. Reading takes Node as long as sending:
   * if all do it on the service's own cores, the latency is half theirs.
   */
  readers: 6,
  cameras: 1,
  seconds: 10,
  /** The hot path has to be compiled first. */
  'warm-up': 8,
  pattern: 'burst',
  kbps: 4_000,
  fps: 25,
  gop: 50,
};
type Options = typeof defaults;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A forked process that is told things and answers by type. */
class Part<To, From extends { readonly type: string }> {
  readonly #child: ChildProcess;

  constructor(entry: string) {
    this.#child = forkPart(new URL(entry, import.meta.url));
  }

  tell(message: To): void {
    this.#child.send(message as object);
  }

  /** The next message of a type. */
  async next<Type extends From['type']>(type: Type): Promise<Extract<From, { type: Type }>> {
    for (;;) {
      const [message] = (await once(this.#child, 'message')) as [From];
      if (message.type === type) return message as Extract<From, { type: Type }>;
    }
  }

  async ask<Type extends From['type']>(message: To, type: Type): Promise<Extract<From, { type: Type }>> {
    const answer = this.next(type);
    this.tell(message);
    return answer;
  }

  async stop(message: To): Promise<void> {
    const ended = once(this.#child, 'exit');
    const deadline = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
    this.tell(message);
    await ended;
    clearTimeout(deadline);
  }
}

type Engine = Part<ToWhepEngine, FromWhepEngine>;
type Viewers = Part<ToViewers, FromViewers>;

type Places = { readonly cameras: number; readonly viewers: number; readonly readers: number };

/** Of each so many viewers the one in the middle reads. */
const isReader = (viewer: number, { viewers, readers }: Places): boolean => {
  const share = Math.min(1, readers / viewers);
  return Math.round((viewer + 1) * share) > Math.round(viewer * share);
};

const join = async (engine: Engine, viewers: Viewers, viewer: number, places: Places): Promise<void> => {
  const { sdp } = await viewers.ask({ type: 'join', reads: isReader(viewer, places) }, 'offer');
  const offer = { type: 'offer' as const, viewer, cameraId: `camera-${viewer % places.cameras}`, sdp };
  const answer = await engine.ask(offer, 'answer');
  await viewers.ask({ type: 'answer', viewer, sdp: answer.sdp }, 'connected');
};

const measure = async (
  options: Options,
  urls: readonly string[],
  count: number,
): Promise<(string | number)[]> => {
  const engine: Engine = new Part('./whep-engine.js');
  const viewers: Viewers = new Part('./whep-viewers.js');
  const places = { cameras: urls.length, viewers: count, readers: options.readers };
  try {
    await engine.ask({ type: 'cameras', urls }, 'streaming');
    // Rings take their size from the first whole group of pictures.
    await sleep(5_000);
    await join(engine, viewers, 0, places);
    await sleep(2_000);
    const alone = await engine.ask({ type: 'usage' }, 'usage');
    for (let viewer = 1; viewer < count; viewer += 1) await join(engine, viewers, viewer, places);
    await sleep(options['warm-up'] * 1_000);
    viewers.tell({ type: 'measure' });
    const before = await engine.ask({ type: 'usage' }, 'usage');
    const startMs = performance.now();
    await sleep(options.seconds * 1_000);
    const after = await engine.ask({ type: 'usage' }, 'usage');
    const seconds = (performance.now() - startMs) / 1_000;
    const { report } = await viewers.ask({ type: 'report' }, 'report');
    const latencies = [...report.latenciesMs].sort((a, b) => a - b);
    return [
      count,
      (after.cpuMs - before.cpuMs) / seconds / count,
      quantile(latencies, 0.5),
      quantile(latencies, 0.99),
      (after.rssMb - alone.rssMb) / Math.max(1, count - 1),
      report.readers,
      report.packets / seconds / report.readers,
      (report.bytes * 8) / seconds / report.readers / 1e6,
      report.missingPackets,
      after.droppedFrames,
      (report.cpuMs / seconds / 10).toFixed(0),
    ];
  } finally {
    await viewers.stop({ type: 'stop' });
    await engine.stop({ type: 'stop' });
  }
};

/** One camera (or some), N viewers by WebRTC: cameras, service and viewers in a process each. */
export const whep: Bench<Options> = {
  name: 'whep',
  describe: 'N WebRTC viewers: CPU and memory a viewer, latency camera sent → whole frame at a viewer',
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
      const rows: (string | number)[][] = [];
      for (const count of options.viewers.split(',').map(Number))
        rows.push(await measure(options, cameras.urls, count));
      return {
        columns: [
          'viewers',
          'CPU ms/s a viewer',
          'p50 ms',
          'p99 ms',
          'MB a viewer',
          'readers',
          'packets/s',
          'Mbit/s',
          'packets missing',
          'frames dropped',
          '% of a core for viewers',
        ],
        rows,
        notes: ['CPU of the service with its ingest, and with the kernel work of sending to loopback'],
      };
    } finally {
      await cameras.stop();
    }
  },
};
