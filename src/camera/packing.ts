/** `CAMERAS_PER_WORKER`: how many cameras share a worker thread. */
export type CamerasPerWorker = number | 'auto';

/** Up to here `auto` gives each camera a thread of its own: best isolation, lowest latency, still cheap. */
const MAX_SOLO_CAMERAS = 8;

/** Beyond that a thread gets so many before there is a second one: two half-full ones cost a fifth more CPU. */
const PACKED_CAMERAS = 128;

/**
 * How many worker threads a number of cameras should have. A thread of its own costs a camera 2 to 6 times the
 * CPU of a shared one, so beyond a handful `auto` packs them, into as many threads as there are cores at most.
 */
export const workersWanted = (
  cameraCount: number,
  camerasPerWorker: CamerasPerWorker,
  coreCount: number,
): number => {
  if (camerasPerWorker !== 'auto') return Math.ceil(cameraCount / camerasPerWorker);
  if (cameraCount <= MAX_SOLO_CAMERAS) return cameraCount;
  return Math.min(Math.max(1, coreCount), Math.ceil(cameraCount / PACKED_CAMERAS));
};

/**
 * The worker that a camera belongs to, as an index into `loads` (cameras per running worker), or `loads.length`
 * for a worker yet to be started. Only the first `wanted` workers take cameras, the least loaded first.
 */
export const chooseWorker = (loads: readonly number[], wanted: number): number => {
  if (loads.length < wanted) {
    const empty = loads.indexOf(0);
    return empty === -1 ? loads.length : empty;
  }
  let best = 0;
  for (let index = 1; index < Math.max(1, wanted); index++) {
    if (loads[index]! < loads[best]!) best = index;
  }
  return best;
};
