import type { LocatedRange } from './locator.js';

/** A recorder that closes a file begins the next one within this; so an end this new may not be one. */
const LIKELY_TO_GO_ON_MS = 15_000;

/** Whether a later answer to the same range could have more at its end. */
export const mayGoOn = (last: LocatedRange | undefined, toMs: number, nowMs: number): boolean => {
  if (last === undefined || last.end < last.parts.count) return false;
  const coveredMs = last.parts.wallEndMs(last.end - 1);
  if (coveredMs >= toMs) return false;
  return last.recording.isOpen || last.isFollowed || nowMs - coveredMs < LIKELY_TO_GO_ON_MS;
};
