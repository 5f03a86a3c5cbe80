import type { HeldRow } from './report.js';

/** The camera as this box has it. */
export type Mine = {
  readonly epoch: number;
  readonly isClaimed: boolean;
  readonly isReady: boolean;
  /** Another one has it, and it doesn't work there. */
  readonly isTrial: boolean;
  /** The box that gets nothing of it just now; null: it is tried for no such reason. */
  readonly standsInFor: string | null;
  /** Of one that is tried: when the camera had last said that it sends; null: it never did. */
  readonly answeredMs: number | null;
  readonly sinceMs: number;
  /** When it was last seen working; null: never. */
  readonly workedMs: number | null;
};

/** The camera as another box that lives has it. */
export type Theirs = {
  /** `isLeaving`: that box hands its cameras over. */
  readonly by: { readonly box: string; readonly isLeaving: boolean };
  readonly row: Pick<HeldRow, 'epoch' | 'isClaimed' | 'isReady' | 'isFailing' | 'isTrial' | 'isSilent'>;
};

/** This box, whatever camera it is about. */
export type Own = {
  readonly box: string;
  /** It hands its cameras over. */
  readonly isLeaving: boolean;
  readonly nowMs: number;
};

/**
 * `take`: nobody has it who stays; `turn`: it is another's, and comes over when it is its turn; `drop`: another one has it now;
 * `give_up`: this box can't get it to work, and the other one does, or had it before.
 *
 * What is recorded by nobody, though it is the business of another box: `wait`: that doesn't have it, and may never; `stand_in`: nothing
 * comes of it there just now; `try`: it doesn't work where it is; `keep`: it was tried here, and does.
 */
export type Verdict = 'stay' | 'take' | 'turn' | 'drop' | 'give_up' | 'wait' | 'stand_in' | 'try' | 'keep';

/** A camera that doesn't work here, and may elsewhere, is left alone after so long. */
export const GIVE_UP_MS = 30_000;
/** One that was silent elsewhere only: there it may send again. Where it has answered, a keyframe may come yet. */
export const STAND_IN_MS = 8_000;
const KEYFRAME_MS = 8_000;
/** Where it was lost since, it may be back so soon. */
const BACK_MS = 2_000;
/** Where it was silent for less than that it stays. */
const SETTLE_MS = 12_000;

/** Servers that lost what they had may have given an epoch twice. */
const isAbove = ({ by, row }: Theirs, mine: Mine, own: Own): boolean =>
  row.epoch > mine.epoch || (row.epoch === mine.epoch && by.box < own.box);

/** A box that only tries whether it works there is none that has it, until it does. */
export const isTrying = ({ row }: Theirs): boolean => row.isTrial && !row.isReady;

const whereNotMine = (isWinner: boolean, theirs: readonly Theirs[]): Verdict => {
  let isHeld = false;
  let isFailing = true;
  let isSilent = true;
  let isTried = false;
  for (const other of theirs) {
    const { row } = other;
    if (other.by.isLeaving) continue;
    if (isTrying(other)) isTried = true;
    else {
      isHeld = true;
      isFailing &&= row.isFailing;
      isSilent &&= row.isSilent;
    }
  }
  if (isHeld && !isTried && isFailing) return 'try';
  if (isHeld && !isTried && isSilent) return 'stand_in';
  if (isWinner) return isHeld ? 'turn' : 'take';
  return isHeld || isTried ? 'stay' : 'wait';
};

/** Of two that try it at the same time, and get it to work, the one with the lesser name goes on. */
const isRecording = ({ by, row }: Theirs, own: Own): boolean =>
  row.isReady && (!row.isTrial || by.box < own.box);

const whereTried = (isWinner: boolean, mine: Mine, theirs: readonly Theirs[], own: Own): Verdict => {
  const others = theirs.filter((other) => !other.by.isLeaving && !isTrying(other));
  if (others.some((other) => isRecording(other, own))) return 'drop';
  const heldMs = own.nowMs - mine.sinceMs;
  if (mine.isReady) {
    const isSilence = mine.standsInFor !== null && heldMs < SETTLE_MS;
    return isSilence && others.some(({ row }) => !row.isReady && !row.isFailing) ? 'stay' : 'keep';
  }
  if (isWinner && others.length === 0) return 'keep';
  if (mine.standsInFor === null) return heldMs >= GIVE_UP_MS ? 'give_up' : 'stay';
  const isAnswering = mine.answeredMs !== null && own.nowMs - mine.answeredMs < BACK_MS;
  const mostMs = STAND_IN_MS + (isAnswering ? KEYFRAME_MS : 0);
  return heldMs >= mostMs || mine.workedMs !== null ? 'give_up' : 'stay';
};

/**
 * What this box is to do about a camera; `mine` is null where it doesn't have it, `isWinner` whether it is this box's by the hash, or by
 * its pin. Nothing that is recorded ends for it before another box records it: to be recorded
 * twice is allowed, not to be is not. Of two that have it the later claim wins, of two alike the lesser name, and one that
 * hands over loses to any.
 */
export const verdictOf = (
  own: Own,
  isWinner: boolean,
  mine: Mine | null,
  theirs: readonly Theirs[],
): Verdict => {
  if (mine === null) return own.isLeaving ? 'stay' : whereNotMine(isWinner, theirs);
  if (mine.isTrial) return own.isLeaving && !mine.isReady ? 'drop' : whereTried(isWinner, mine, theirs, own);
  for (const other of theirs) {
    if (other.by.isLeaving || isTrying(other)) continue;
    const { row } = other;
    const isLater = mine.isClaimed && row.isClaimed && isAbove(other, mine, own);
    if ((own.isLeaving || isLater) && (row.isReady || !mine.isReady)) return 'drop';
    // One that is tried there may come back here yet.
    if (!mine.isReady && row.isReady && !row.isTrial && own.nowMs - mine.sinceMs >= GIVE_UP_MS)
      return 'give_up';
  }
  return 'stay';
};
