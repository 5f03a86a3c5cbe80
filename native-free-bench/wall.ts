import type { Bench } from './bench.js';
import type { Cell } from './table.js';
import { type Rig, withRig } from './websocket-fanout.js';

const defaults = {
  seconds: 10,
  'warm-up': 5,
  cameras: 36,
  walls: 4,
  /** As real cameras send: each RTP packet is a send of its own, 0.2 ms apart. */
  pattern: 'paced',
  /** A stream of 640x360. */
  kbps: 700,
  fps: 15,
  gop: 30,
};
type Options = typeof defaults;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Measured = { readonly cells: readonly Cell[]; readonly tileMs: number };

/** Tiles besides one socket for each camera: what somebody's watching costs ingest is no tile's. */
const measure = async (
  options: Options,
  connect: (rig: Rig, cameraIds: readonly string[]) => Promise<void>,
): Promise<Measured> => {
  let tileMs = 0;
  const [cells = []] = await withRig(options, options.cameras, async (rig) => {
    const cameraIds = Array.from({ length: options.cameras }, (_, index) => `camera-${index}`);
    await rig.connect(cameraIds);
    await sleep(options['warm-up'] * 1000);
    const watchedMs = await rig.cpuMsPerSecond(options.seconds);
    await connect(rig, cameraIds);
    await sleep(options['warm-up'] * 1000);
    const [, viewers, cpuMs = 0, , p50Ms = 0, p99Ms = 0, maxMs = 0, , , , dropped = 0] = await rig.measure(
      '',
      options.seconds,
    );
    const tiles = Number(viewers) - options.cameras;
    tileMs = (Number(cpuMs) - watchedMs) / tiles;
    return [[tiles, watchedMs, cpuMs, tileMs, p50Ms, p99Ms, maxMs, dropped]];
  });
  return { cells, tileMs };
};

/** What the tiles of walls cost beside as many sockets of their own. */
export const wall: Bench<Options> = {
  name: 'wall',
  describe:
    'tiles of walls beside as many WebSockets: CPU a tile, latency last packet sent → whole frame there',
  options: defaults,
  run: async (options) => {
    const sockets = await measure(options, async (rig, cameraIds) => {
      await rig.connect(Array.from({ length: options.walls }, () => cameraIds).flat());
    });
    const walls = await measure(options, (rig, cameraIds) => rig.connectWalls(cameraIds, options.walls));
    return {
      columns: [
        'shown by',
        'tiles',
        'without ms/s',
        'CPU ms/s',
        'ms/s/tile',
        'p50 ms',
        'p99 ms',
        'max ms',
        'dropped',
        'ratio',
      ],
      rows: [
        [`${options.walls * options.cameras} sockets`, ...sockets.cells, 1],
        [`${options.walls} walls of ${options.cameras}`, ...walls.cells, walls.tileMs / sockets.tileMs],
      ],
      notes: ['CPU of the service side alone; without: the same cameras with one socket each'],
    };
  },
};
