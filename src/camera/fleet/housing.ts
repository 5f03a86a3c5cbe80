import type { Clock, MonotonicMs } from '../../base/clock.js';
import { subscribersOf } from '../../ring/glance.js';
import type { Camera } from './camera.js';
import type { Fleet, Host } from './fleet.js';
import {
  type CamerasPerWorker,
  chooseWorker,
  isWorthMoving,
  type ThreadLoad,
  type Wish,
  workersWanted,
} from './packing.js';
import type { Suspects } from './suspects.js';

/** A camera as far as its thread is concerned. */
export type Lodger = {
  readonly camera: Camera;
  host: Host | null;
  ring: SharedArrayBuffer | null;
  /** When somebody in another thread last waited for its frames; null: never. */
  watchedMs: MonotonicMs | null;
};

/** Who was watched will be again: for this long a camera counts as watched. */
const WATCHED_FOR_MS = 10 * 60_000;

/** Sources of other boxes count together as one camera. */
const PULLED_PER_THREAD = 128;

type HousingDeps = {
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly suspects: Suspects;
  readonly lodgers: ReadonlyMap<string, Lodger>;
};

/** Decides which thread a camera lives in: asked while it is away, since it can't move otherwise. */
export class Housing {
  readonly #options: { readonly camerasPerWorker: CamerasPerWorker; readonly coreCount: number };
  readonly #deps: HousingDeps;

  constructor(options: { camerasPerWorker: CamerasPerWorker; coreCount: number }, deps: HousingDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** Threads that there should be, besides those for suspects. */
  get wanted(): number {
    const { fleet, lodgers } = this.#deps;
    const enabled = [...lodgers.values()].filter(({ camera }) => camera.restState === null);
    const cpuShare = fleet.open.reduce((sum, { load }) => sum + (load.measured?.cpuShare ?? 0), 0);
    const { camerasPerWorker, coreCount } = this.#options;
    const pulled = enabled.filter(({ camera }) => camera.settings.source.from !== undefined).length;
    // What other boxes send has been read by them: it needs no thread to itself.
    const count =
      camerasPerWorker === 'auto'
        ? enabled.length - pulled + Math.ceil(pulled / PULLED_PER_THREAD)
        : enabled.length;
    return workersWanted(count, camerasPerWorker, coreCount, cpuShare);
  }

  /** Whether the camera may stay where it is. */
  isWellPlaced(lodger: Lodger): boolean {
    const { host, camera } = lodger;
    if (host === null) return false;
    const cell = this.#deps.suspects.cellOf(camera.id);
    if (cell !== null || host.cell !== null) return host.cell === cell;
    const { open } = this.#deps.fleet;
    const loads = open.map((other) => this.#loadOf(other, camera.id));
    return !isWorthMoving(loads, open.indexOf(host), this.#wishOf(lodger));
  }

  /** The thread for a camera that has none: one that runs, or a new one. */
  hostFor(lodger: Lodger): Host {
    const { fleet, suspects } = this.#deps;
    const cell = suspects.enter(lodger.camera.id);
    if (cell !== null) return fleet.hostOf(cell) ?? fleet.add(cell);
    const { open } = fleet;
    const loads = open.map((host) => this.#loadOf(host, null));
    return open[chooseWorker(loads, this.#wishOf(lodger))] ?? fleet.add(null);
  }

  /** Once a second: notes who is watched. */
  round(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const lodger of this.#deps.lodgers.values()) {
      if (lodger.ring !== null && subscribersOf(lodger.ring) > 0) lodger.watchedMs = nowMs;
    }
  }

  #wishOf(lodger: Lodger): Wish {
    const { camerasPerWorker } = this.#options;
    const mostCameras = camerasPerWorker === 'auto' ? Number.POSITIVE_INFINITY : camerasPerWorker;
    return { wanted: this.wanted, isWatched: this.#isWatched(lodger), mostCameras };
  }

  #loadOf(host: Host, exceptId: string | null): ThreadLoad {
    let [cameras, watched] = [0, 0];
    for (const id of host.cameraIds) {
      const lodger = this.#deps.lodgers.get(id);
      if (lodger === undefined || id === exceptId) continue;
      cameras += 1;
      if (this.#isWatched(lodger)) watched += 1;
    }
    return { cameras, watched, measured: host.load.measured };
  }

  #isWatched({ watchedMs }: Lodger): boolean {
    return watchedMs !== null && this.#deps.clock.monotonicMs() - watchedMs < WATCHED_FOR_MS;
  }
}
