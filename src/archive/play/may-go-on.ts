import type { LocatedRange } from './locator.js';

/** A recorder that closes a file begins the next one within this; so an end this new may not be one. */
const LIKELY_TO_GO_ON_MS = 15_000;

/** The clock of a box that wrote it may be ahead by this; what lies further ahead was written before the clock was set back. */
const MAX_AHEAD_MS = 60_000;

/** A disk takes nothing for so long, and the file that was begun goes on; longer, and its writer may have died. */
const MAX_STALL_MS = 60_000;

/** Whether a later answer to the same range could have more at its end. */
export const mayGoOn = (last: LocatedRange | undefined, toMs: number, nowMs: number): boolean => {
  if (last === undefined || last.end < last.parts.count) return false;
  const coveredMs = last.parts.wallEndMs(last.end - 1);
  if (coveredMs >= toMs) return false;
  if (last.followedMs !== null && Math.abs(nowMs - last.followedMs) < MAX_STALL_MS) return true;
  if (last.recording.isOpen) return true;
  return coveredMs - nowMs < MAX_AHEAD_MS && nowMs - coveredMs < LIKELY_TO_GO_ON_MS;
};
