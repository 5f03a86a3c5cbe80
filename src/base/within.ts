import type { Clock } from './clock.js';

/** Whether work is done within so long; no timer is left behind where it is. Rejects as the work does, if that is in time. */
export const within = (
  clock: Pick<Clock, 'after'>,
  limitMs: number,
  work: Promise<unknown>,
): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const late = clock.after(limitMs, () => resolve(false));
    work.finally(() => late.cancel()).then(() => resolve(true), reject);
  });
