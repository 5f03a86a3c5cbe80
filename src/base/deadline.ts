import type { Clock } from './clock.js';

export type Deadline = {
  /** Aborts when the time is over, or when the asker's signal does. */
  readonly signal: AbortSignal;
  /** The work is done: no time runs any more. */
  end(): void;
};

/**
 * So long may a piece of work take. Not `AbortSignal.any`: what it is made of is garbage to Node while somebody waits
 * for it, and the time is never over (https://github.com/nodejs/node/issues/57736, 65995).
 */
export const startDeadline = (
  clock: Pick<Clock, 'after'>,
  limit: { readonly afterMs: number; readonly reason: () => Error },
  asker?: AbortSignal,
): Deadline => {
  const ending = new AbortController();
  const onAsker = (): void => ending.abort(asker?.reason);
  if (asker?.aborted === true) onAsker();
  else asker?.addEventListener('abort', onAsker);
  const timer = clock.after(limit.afterMs, () => ending.abort(limit.reason()));
  return {
    signal: ending.signal,
    end: () => {
      timer.cancel();
      asker?.removeEventListener('abort', onAsker);
    },
  };
};
