import type { Logger } from '../base/log.js';

/** As `npm start` has it: half of them for the recordings' disk, which leaves one to a sync and the others to writes. */
const ENOUGH_THREADS = 16;

/** Tells at the start if a slow disk will cost frames. libuv reads its size before any line of ours runs. */
export const warnOfFewThreads = (log: Logger, threads: number): void => {
  if (threads >= ENOUGH_THREADS) return;
  log.warn(
    'few threads for the disk: where it is slow, frames are lost; set UV_THREADPOOL_SIZE, as npm start does',
    {
      threads,
      wanted: ENOUGH_THREADS,
    },
  );
};
