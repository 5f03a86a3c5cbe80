import type { Bench } from './bench.js';
import { Child } from './child.js';
import { startCameras } from './ingest-cameras.js';
import { type Cell, quantile } from './table.js';
import type { ClientsAnswer, ClientsQuestion } from './websocket-clients.js';
import type { EngineFigures, EngineQuestion } from './websocket-engine.js';

const defaults = {
  seconds: 5,
  'warm-up': 5,
  /** Of the one camera in the first two rows. */
  viewers: 200,
  /** paced: each RTP packet is a send of its own, 0.2 ms apart, as real cameras do; burst: one send a frame. */
  pattern: 'paced',
  kbps: 4_000,
  fps: 25,
  gop: 50,
};
type Options = typeof defaults;

const START_TIMEOUT_MS = 60_000;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Cameras, the service and its viewers, each in a process of its own. */
export class Rig {
  readonly #engine = new Child<EngineQuestion, EngineFigures>(
    new URL('./websocket-engine.js', import.meta.url),
  );
  readonly #clients = new Child<ClientsQuestion, ClientsAnswer>(
    new URL('./websocket-clients.js', import.meta.url),
  );

  async start(urls: readonly string[]): Promise<EngineFigures> {
    await this.#engine.ask({ type: 'start', urls });
    const deadlineMs = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      const now = await this.figures();
      if (now.streaming === urls.length) return now;
      if (Date.now() > deadlineMs) throw new Error('starting all cameras took too long');
      await sleep(20);
    }
  }

  figures(): Promise<EngineFigures> {
    return this.#engine.ask({ type: 'figures' });
  }

  async rssMb(): Promise<number> {
    return (await this.#engine.ask({ type: 'collect' })).rssMb;
  }

  async connect(cameraIds: readonly string[], isStalled = false): Promise<readonly number[]> {
    const { port } = await this.figures();
    return (await this.#clients.ask({ type: 'connect', port, cameraIds, isStalled })).firstPictureMs;
  }

  async connectWalls(cameraIds: readonly string[], count: number): Promise<void> {
    const { port } = await this.figures();
    await this.#clients.ask({ type: 'connect-walls', port, cameraIds, count });
  }

  /** CPU a second, of all cameras and viewers. */
  async cpuMsPerSecond(seconds: number): Promise<number> {
    const [beforeMs, before] = [performance.now(), await this.figures()];
    await sleep(seconds * 1000);
    const after = await this.figures();
    return ((after.cpuMs - before.cpuMs) / (performance.now() - beforeMs)) * 1000;
  }

  /** A row of the table. */
  async measure(name: string, seconds: number, mbPerViewer: Cell = ''): Promise<Cell[]> {
    const before = await this.figures();
    const startMs = performance.now();
    const { latenciesMs, firstPictureMs } = await this.#clients.ask({ type: 'measure', seconds });
    const after = await this.figures();
    const wallSec = (performance.now() - startMs) / 1000;
    const sorted = latenciesMs.toSorted((a, b) => a - b);
    const firsts = firstPictureMs.toSorted((a, b) => a - b);
    return [
      name,
      after.viewers,
      (after.cpuMs - before.cpuMs) / wallSec,
      (after.cpuMs - before.cpuMs) / wallSec / after.viewers,
      quantile(sorted, 0.5),
      quantile(sorted, 0.99),
      sorted.at(-1) ?? 0,
      quantile(firsts, 0.5),
      firsts.at(-1) ?? 0,
      mbPerViewer,
      after.droppedFrames,
    ];
  }

  end(): void {
    this.#engine.end();
    this.#clients.end();
  }
}

export const withRig = async (
  options: Omit<Options, 'viewers'>,
  cameraCount: number,
  run: (rig: Rig) => Promise<Cell[][]>,
): Promise<Cell[][]> => {
  const cameras = await startCameras({
    count: cameraCount,
    isPaced: options.pattern === 'paced',
    kbps: options.kbps,
    framesPerSecond: options.fps,
    framesPerGop: options.gop,
  });
  const rig = new Rig();
  try {
    await rig.start(cameras.urls);
    return await run(rig);
  } finally {
    rig.end();
    await cameras.stop();
  }
};

/** Many viewers of one camera, then one more that reads nothing. */
const oneCamera = (options: Options): Promise<Cell[][]> =>
  withRig(options, 1, async (rig) => {
    const warmUp = (): Promise<void> => sleep(options['warm-up'] * 1000);
    await rig.connect(['camera-0']);
    await warmUp();
    const baseRssMb = await rig.rssMb();
    await rig.connect(Array.from({ length: options.viewers - 1 }, () => 'camera-0'));
    await warmUp();
    const mbPerViewer = ((await rig.rssMb()) - baseRssMb) / Math.max(1, options.viewers - 1);
    const healthy = await rig.measure('1 camera', options.seconds, mbPerViewer);
    await rig.connect(['camera-0'], true);
    return [healthy, await rig.measure('the same, and one that reads nothing', options.seconds)];
  });

/** A viewer of each of some cameras. */
const manyCameras = (options: Options, count: number, watched: number): Promise<Cell[][]> =>
  withRig(options, count, async (rig) => {
    await rig.connect(Array.from({ length: watched }, (_, index) => `camera-${index}`));
    await sleep(options['warm-up'] * 1000);
    return [await rig.measure(`${count} cameras, ${watched} of them watched`, options.seconds)];
  });

/** What WebSocket viewers cost, and how late their frames are. */
export const websocketFanout: Bench<Options> = {
  name: 'websocket-fanout',
  describe:
    'live video to WebSocket viewers: CPU and memory a viewer, latency last packet sent → whole frame there',
  options: defaults,
  run: async (options) => {
    const rows = [
      ...(await oneCamera(options)),
      ...(await manyCameras(options, 10, 10)),
      ...(await manyCameras(options, 100, 10)),
      ...(await manyCameras(options, 100, 100)),
    ];
    return {
      columns: [
        'viewers of',
        'viewers',
        'CPU ms/s',
        'ms/s/viewer',
        'p50 ms',
        'p99 ms',
        'max ms',
        'first p50',
        'first max',
        'MB/viewer',
        'dropped',
      ],
      rows,
      notes: [
        'CPU of the service side alone, ingest of all cameras included; memory of all viewers but the first',
        'first: from a viewer’s connection to its first whole picture, all connecting at once',
      ],
    };
  },
};
