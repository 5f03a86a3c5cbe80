/** `CAMERAS_PER_WORKER`: how many cameras share a worker thread. */
export type CamerasPerWorker = number | 'auto';

/** Up to here `auto` gives each camera a thread of its own: best isolation, lowest latency, still cheap. */
const MAX_SOLO_CAMERAS = 8;

/**
 * How many worker threads a number of cameras should have. A thread of its own costs a camera 2 to 6 times the
 * CPU of a shared one, so beyond a handful `auto` packs them into as many threads as there are cores.
 */
export const workersWanted = (
  cameraCount: number,
  camerasPerWorker: CamerasPerWorker,
  coreCount: number,
): number => {
  if (camerasPerWorker !== 'auto') return Math.ceil(cameraCount / camerasPerWorker);
  return cameraCount <= MAX_SOLO_CAMERAS ? cameraCount : Math.max(1, coreCount);
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
