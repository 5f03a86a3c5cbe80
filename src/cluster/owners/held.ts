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
  /** Of one that is tried: when the camera had last said that it sends; null: it never did. */
  answeredMs: MonotonicMs | null;
  /** Of trials that never work nothing is recorded: written down, they would take the place of what was. */
  isWrittenDown: boolean;
  readonly sinceMs: MonotonicMs;
  readonly sinceWallMs: WallMs;
  /** When it was last seen working here; and until when it counts as that, whatever comes. */
  workedMs: MonotonicMs | null;
  worksUntilMs: number;
  isReady: boolean;
  isFailing: boolean;
  worksNoMore: boolean;
  /** Others are to take care of that. */
  isSilent: boolean;
  endsThreads: boolean;
};

/** What ails it. */
export type Ailment = {
  /** It refuses the password: at any box, and many wrong ones lock an account. */
  readonly isUnauthorized: boolean;
  /** Which camera ends this box's threads is being found out, or it is this one. */
  readonly suspicion: 'none' | 'suspected' | 'found_out';
};

export const heldSince = (
  [sinceMs, sinceWallMs]: readonly [MonotonicMs, WallMs],
  { epoch, isTrial, standsInFor }: Pick<Held, 'epoch' | 'isTrial' | 'standsInFor'>,
): Held => ({
  epoch,
  isClaimed: false,
  isTrial,
  standsInFor,
  answeredMs: null,
  isWrittenDown: false,
  sinceMs,
  sinceWallMs,
  workedMs: null,
  worksUntilMs: Number.NEGATIVE_INFINITY,
  isReady: false,
  isFailing: false,
  worksNoMore: false,
  isSilent: false,
  endsThreads: false,
});

/** `worksUntilMs`: as it says itself; null: not now. True: it is otherwise than before, which others are to hear. */
export const noteWork = (
  held: Held,
  worksUntilMs: number | null,
  { isUnauthorized, suspicion }: Ailment,
  nowMs: MonotonicMs,
): boolean => {
  const { isReady, isFailing, isSilent, endsThreads } = held;
  // A file ends, and the first of the next one is not on the disk yet: that is no end of it.
  held.worksUntilMs = worksUntilMs ?? held.worksUntilMs;
  held.isReady = nowMs < held.worksUntilMs;
  if (held.isReady) held.workedMs = nowMs;
  held.isFailing = !isUnauthorized && nowMs - (held.workedMs ?? held.sinceMs) >= GIVE_UP_MS;
  held.worksNoMore = !isUnauthorized && !held.isReady && !held.isTrial && held.workedMs !== null;
  // The one that it is would end others' threads, too.
  held.isSilent = held.worksNoMore && suspicion !== 'suspected';
  held.endsThreads = suspicion === 'found_out';
  const isAlike = isReady === held.isReady && endsThreads === held.endsThreads;
  return !isAlike || isFailing !== held.isFailing || isSilent !== held.isSilent;
};

export const rowOf = (cameraId: string, held: Held, figures: unknown): HeldRow => {
  const { epoch, isClaimed, isReady, isFailing, isTrial, isSilent, endsThreads } = held;
  return { cameraId, epoch, isClaimed, isReady, isFailing, isTrial, isSilent, endsThreads, figures };
};
