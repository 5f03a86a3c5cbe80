/** `CAMERAS_PER_WORKER`: how many cameras share a worker thread. */
export type CamerasPerWorker = number | 'auto';

/** A worker thread as packing sees it. */
export type ThreadLoad = {
  readonly cameras: number;
  /** Those of them that somebody watches, or did a while ago. */
  readonly watched: number;
  /** The share of a core that it took lately, and the cameras that it had then; null: not known yet. */
  readonly measured: { readonly cpuShare: number; readonly cameras: number } | null;
};

/** What a camera asks for. */
export type Wish = {
  /** Only the first so many workers take cameras. */
  readonly wanted: number;
  readonly isWatched: boolean;
  /** None gets more cameras than this. */
  readonly mostCameras: number;
};

/** Up to here `auto` gives each camera a thread of its own: best isolation, lowest latency, still cheap. */
const MAX_SOLO_CAMERAS = 8;

/** Beyond that a thread gets so many before there is a second one: two half-full ones cost a fifth more CPU. */
const PACKED_CAMERAS = 128;

/** Or fewer, if they are as much as this share of a core. */
const FULL_CPU_SHARE = 0.7;

/** How much more load a thread may have, as a share of the mean, so that watched cameras are together. */
const KIND_WEIGHT = 0.25;

/** A camera that is away changes its thread for this much of the mean load: a move ends its recording's file. */
const WORTH_MOVING = 0.2;

/**
 * How many worker threads a number of cameras should have. A thread of its own costs a camera 2 to 6 times the
 * CPU of a shared one, so beyond a handful `auto` packs them, into as many threads as there are cores at most.
 */
export const workersWanted = (
  cameraCount: number,
  camerasPerWorker: CamerasPerWorker,
  coreCount: number,
  /** Measured, of all of them. */
  cpuShare = 0,
): number => {
  if (camerasPerWorker !== 'auto') return Math.ceil(cameraCount / camerasPerWorker);
  if (cameraCount <= MAX_SOLO_CAMERAS) return cameraCount;
  const packed = Math.max(Math.ceil(cameraCount / PACKED_CAMERAS), Math.ceil(cpuShare / FULL_CPU_SHARE));
  return Math.min(Math.max(1, coreCount), packed);
};

/**
 * The worker that a camera belongs to, as an index into `loads` (of the running workers), or `loads.length` for a
 * worker yet to be started: the least loaded one, and of those that are about as loaded the one with cameras of its
 * kind. An unwatched camera can wait for its packets, in a thread where no other is watched.
 */
export const chooseWorker = (loads: readonly ThreadLoad[], wish: Wish): number => {
  if (loads.length < wish.wanted) {
    const empty = loads.findIndex(({ cameras }) => cameras === 0);
    return empty === -1 ? loads.length : empty;
  }
  const costs = costsOf(loads, wish);
  return costs.indexOf(Math.min(...costs));
};

/** Whether a camera that is away is better off in another worker; `loads` are without it. */
export const isWorthMoving = (loads: readonly ThreadLoad[], current: number, wish: Wish): boolean => {
  const costs = costsOf(loads, wish);
  const cost = costs[current];
  return cost === undefined || cost - Math.min(...costs) > WORTH_MOVING;
};

/** By load, as shares of the mean, and by how many cameras of the other kind are there. */
const costsOf = (all: readonly ThreadLoad[], { wanted, isWatched, mostCameras }: Wish): number[] => {
  const loads = all.slice(0, Math.max(1, wanted));
  const expected = expectedLoads(loads);
  const mean = expected.reduce((sum, load) => sum + load, 0) / loads.length;
  const mostWatched = Math.max(1, ...loads.map(({ watched }) => watched));
  return loads.map(({ cameras, watched }, index) => {
    if (cameras >= mostCameras) return Number.POSITIVE_INFINITY;
    const watchedShare = watched / mostWatched;
    const load = mean === 0 ? 0 : expected[index]! / mean;
    return load + KIND_WEIGHT * (isWatched ? 1 - watchedShare : watchedShare);
  });
};

/** Half by what was measured, half by number: a camera that is dead now may come back. */
const expectedLoads = (loads: readonly ThreadLoad[]): number[] => {
  let [cpuShare, measuredCameras] = [0, 0];
  for (const { measured } of loads) {
    cpuShare += measured?.cpuShare ?? 0;
    measuredCameras += measured?.cameras ?? 0;
  }
  const perCamera = cpuShare > 0 && measuredCameras > 0 ? cpuShare / measuredCameras : 1;
  return loads.map(({ cameras, measured }) => {
    const byNumber = cameras * perCamera;
    if (measured === null || cpuShare === 0) return byNumber;
    // Those that came since are expected to cost what all cost on average.
    const byMeasure = Math.max(0, measured.cpuShare + (cameras - measured.cameras) * perCamera);
    return (byNumber + byMeasure) / 2;
  });
};
