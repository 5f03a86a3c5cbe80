import { BeatWatch } from '../../base/beat-watch.js';
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { readThreadFigures } from '../../base/thread-stats.js';
import type { FromCameraWorker } from '../messages.js';
import { LoadMeter } from './load-meter.js';
import type { Cell } from './suspects.js';
import type { CameraWorker, SpawnCameraWorker } from './worker-thread.js';

/** A worker thread and the cameras that live in it. */
export type Host = {
  readonly name: string;
  readonly cameraIds: Set<string>;
  /** The suspects that it is for; null: any camera may live in it. */
  cell: Cell | null;
  worker: CameraWorker | null;
  bell: SharedArrayBuffer | null;
  /** Where the thread publishes its figures. */
  stats: SharedArrayBuffer | null;
  readonly watch: BeatWatch;
  readonly load: LoadMeter;
  isHung: boolean;
};

/** What the fleet leaves to others: `thread` and `ready` are its own. */
export type HostMessage = Exclude<FromCameraWorker, { type: 'thread' | 'ready' }>;

/** How many threads were lost, by the reason. */
export type ThreadLosses = { readonly died: number; readonly hung: number };

type FleetDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly spawn: SpawnCameraWorker;
  /** For the recorders of a new thread. */
  readonly setupFor: (workerName: string) => Readonly<Record<string, unknown>>;
  readonly onMessage: (host: Host, message: HostMessage) => void;
  /** The thread died or hung; it is no longer part of the fleet. `wasReady`: it ran, so a camera may have ended it. */
  readonly onLost: (host: Host, wasReady: boolean) => void;
  /** The thread is gone, in whatever way. */
  readonly onClosed: (workerName: string) => void;
  /** Once a second, while there are threads. */
  readonly onRound: () => void;
};

const WATCH_PERIOD_MS = 1_000;

/** The worker threads of the cameras: starts and ends them, and ends those that hang. */
export class Fleet {
  readonly #deps: FleetDeps;
  readonly #hosts: Host[] = [];
  readonly #ending = new Set<Promise<void>>();
  readonly #losses = { died: 0, hung: 0 };
  #started = 0;
  #watching: Timer | null = null;

  constructor(deps: FleetDeps) {
    this.#deps = deps;
  }

  /** Those that any camera may live in, the oldest first. */
  get open(): Host[] {
    return this.#hosts.filter(({ cell }) => cell === null);
  }

  /** All of them. */
  get hosts(): readonly Host[] {
    return this.#hosts;
  }

  get losses(): ThreadLosses {
    return { ...this.#losses };
  }

  hostOf(cell: Cell): Host | undefined {
    return this.#hosts.find((host) => host.cell === cell);
  }

  add(cell: Cell | null): Host {
    const host: Host = {
      name: `camera-worker-${++this.#started}`,
      cameraIds: new Set(),
      cell,
      worker: null,
      bell: null,
      stats: null,
      watch: new BeatWatch(),
      load: new LoadMeter(),
      isHung: false,
    };
    this.#hosts.push(host);
    const events = {
      onMessage: (message: FromCameraWorker) => this.#onMessage(host, message),
      onLost: (reason: string) => this.#onLost(host, reason),
    };
    host.worker = this.#deps.spawn(host.name, events, this.#deps.setupFor(host.name));
    this.#watching ??= this.#deps.clock.every(WATCH_PERIOD_MS, () => this.#watch());
    return host;
  }

  /** Ends a thread that no camera lives in any more. */
  drop(host: Host): void {
    const index = this.#hosts.indexOf(host);
    if (index === -1) return;
    this.#hosts.splice(index, 1);
    if (host.worker === null) return;
    const ending = host.worker.stop().finally(() => {
      this.#deps.onClosed(host.name);
      this.#ending.delete(ending);
    });
    this.#ending.add(ending);
  }

  /** Resolves when the threads that were dropped are gone. */
  async ended(): Promise<void> {
    this.#watching?.cancel();
    this.#watching = null;
    await Promise.all(this.#ending);
  }

  #watch(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const host of [...this.#hosts]) {
      if (host.stats !== null)
        host.load.round(readThreadFigures(host.stats).cpuSeconds, host.cameraIds.size, nowMs);
      if (host.isHung || !host.watch.round()) continue;
      host.isHung = true;
      this.#deps.log.error('camera worker hangs', { worker: host.name, cameras: host.cameraIds.size });
      host.worker?.kill('it hung');
    }
    this.#deps.onRound();
  }

  #onMessage(host: Host, message: FromCameraWorker): void {
    if (message.type === 'thread') {
      host.stats = message.stats;
      host.watch.begin(message.stats);
    } else if (message.type === 'ready') host.bell = message.bell;
    else this.#deps.onMessage(host, message);
  }

  #onLost(host: Host, reason: string): void {
    const wasReady = host.bell !== null;
    host.worker = null;
    host.bell = null;
    this.#deps.onClosed(host.name);
    const index = this.#hosts.indexOf(host);
    if (index === -1) return;
    this.#hosts.splice(index, 1);
    this.#losses[host.isHung ? 'hung' : 'died'] += 1;
    this.#deps.log.error('camera worker died', { worker: host.name, cameras: host.cameraIds.size, reason });
    this.#deps.onLost(host, wasReady);
  }
}
