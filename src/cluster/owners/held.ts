import type { MonotonicMs, WallMs } from '../../base/clock.js';
import type { HeldRow } from './report.js';
import { GIVE_UP_MS } from './verdict.js';

/** A camera that this box has. */
export type Held = {
  epoch: number;
  isClaimed: boolean;
  isTrial: boolean;
  /** The box that gets nothing of it just now; null: it is this one's, or is tried for another reason. */
  standsInFor: string | null;
  /** Of one that is tried: the camera has said that it sends. */
  hasAnswered: boolean;
  /** Of trials that never work nothing is recorded: written down, they would take the place of what was. */
  isWrittenDown: boolean;
  readonly sinceMs: MonotonicMs;
  readonly sinceWallMs: WallMs;
  /** When it was last seen working here; and until when it counts as that, whatever comes. */
  workedMs: MonotonicMs | null;
  worksUntilMs: number;
  isReady: boolean;
  isFailing: boolean;
  isSilent: boolean;
};

export const heldSince = (
  [sinceMs, sinceWallMs]: readonly [MonotonicMs, WallMs],
  { epoch, isTrial, standsInFor }: Pick<Held, 'epoch' | 'isTrial' | 'standsInFor'>,
): Held => ({
  epoch,
  isClaimed: false,
  isTrial,
  standsInFor,
  hasAnswered: false,
  isWrittenDown: false,
  sinceMs,
  sinceWallMs,
  workedMs: null,
  worksUntilMs: Number.NEGATIVE_INFINITY,
  isReady: false,
  isFailing: false,
  isSilent: false,
});

/** `worksUntilMs`: as it says itself; null: not now. True: it is otherwise than before, which others are to hear. */
export const noteWork = (
  held: Held,
  worksUntilMs: number | null,
  isToBlame: boolean,
  nowMs: MonotonicMs,
): boolean => {
  const { isReady, isFailing, isSilent } = held;
  // A file ends, and the first of the next one is not on the disk yet: that is no end of it.
  held.worksUntilMs = worksUntilMs ?? held.worksUntilMs;
  held.isReady = nowMs < held.worksUntilMs;
  if (held.isReady) held.workedMs = nowMs;
  held.isFailing = !isToBlame && nowMs - (held.workedMs ?? held.sinceMs) >= GIVE_UP_MS;
  held.isSilent = !isToBlame && !held.isReady && !held.isTrial && held.workedMs !== null;
  return isReady !== held.isReady || isFailing !== held.isFailing || isSilent !== held.isSilent;
};

export const rowOf = (cameraId: string, held: Held, figures: unknown): HeldRow => {
  const { epoch, isClaimed, isReady, isFailing, isTrial, isSilent } = held;
  return { cameraId, epoch, isClaimed, isReady, isFailing, isTrial, isSilent, figures };
};
