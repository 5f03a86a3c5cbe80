import type { HeldRow } from './report.js';

/** The camera as this box has it. */
export type Mine = {
  readonly box: string;
  readonly epoch: number;
  readonly isClaimed: boolean;
  readonly isReady: boolean;
  /** Another one has it, and it doesn't work there. */
  readonly isTrial: boolean;
  readonly heldMs: number;
};

/** The camera as another box that lives has it. */
export type Theirs = {
  /** `isLeaving`: that box hands its cameras over. */
  readonly by: { readonly box: string; readonly isLeaving: boolean };
  readonly row: Pick<HeldRow, 'epoch' | 'isClaimed' | 'isReady' | 'isFailing' | 'isTrial'>;
};

export type Situation = {
  /** Whether it is this box's by the hash, or by its pin. */
  readonly isWinner: boolean;
  /** This box hands its cameras over. */
  readonly isLeaving: boolean;
  /** Null: it doesn't have it. */
  readonly mine: Mine | null;
  readonly theirs: readonly Theirs[];
};

/**
 * `take`: nobody has it who stays; `turn`: it is another's, and comes over when it is its turn; `drop`: another one has it now;
 * `give_up`: this box can't get it to work, and the other one does, or had it before.
 *
 * What is recorded by nobody, though it is the business of another box: `wait`: that doesn't have it, and may never; `try`: it doesn't
 * work where it is; `keep`: it was tried here, and does.
 */
export type Verdict = 'stay' | 'take' | 'turn' | 'drop' | 'give_up' | 'wait' | 'try' | 'keep';

/** A camera that doesn't work here, and may elsewhere, is left alone after so long. */
export const GIVE_UP_MS = 30_000;

/** Servers that lost what they had may have given an epoch twice. */
const isAbove = ({ by, row }: Theirs, mine: Mine): boolean =>
  row.epoch > mine.epoch || (row.epoch === mine.epoch && by.box < mine.box);

/** A box that only tries whether it works there is none that has it, until it does. */
export const isTrying = ({ row }: Theirs): boolean => row.isTrial && !row.isReady;

const whereNotMine = (isWinner: boolean, theirs: readonly Theirs[]): Verdict => {
  let isHeld = false;
  let isFailing = true;
  let isTried = false;
  for (const other of theirs) {
    if (other.by.isLeaving) continue;
    if (isTrying(other)) isTried = true;
    else {
      isHeld = true;
      isFailing &&= other.row.isFailing;
    }
  }
  if (isHeld && isFailing && !isTried) return 'try';
  if (isWinner) return isHeld ? 'turn' : 'take';
  return isHeld || isTried ? 'stay' : 'wait';
};

const whereTried = (isWinner: boolean, mine: Mine, theirs: readonly Theirs[]): Verdict => {
  const others = theirs.filter((other) => !other.by.isLeaving && !isTrying(other));
  if (others.some(({ row }) => row.isReady)) return 'drop';
  if (mine.isReady || (isWinner && others.length === 0)) return 'keep';
  return mine.heldMs >= GIVE_UP_MS ? 'give_up' : 'stay';
};

/**
 * What this box is to do about a camera. Nothing that is recorded ends for it before another box records it: to be recorded
 * twice is allowed, not to be is not. Of two that have it the later claim wins, of two alike the lesser name, and one that
 * hands over loses to any.
 */
export const verdictOf = ({ isWinner, isLeaving, mine, theirs }: Situation): Verdict => {
  if (mine === null) return isLeaving ? 'stay' : whereNotMine(isWinner, theirs);
  if (mine.isTrial) return isLeaving && !mine.isReady ? 'drop' : whereTried(isWinner, mine, theirs);
  for (const other of theirs) {
    if (other.by.isLeaving || isTrying(other)) continue;
    const { row } = other;
    const isLater = mine.isClaimed && row.isClaimed && isAbove(other, mine);
    if ((isLeaving || isLater) && (row.isReady || !mine.isReady)) return 'drop';
    if (!mine.isReady && row.isReady && mine.heldMs >= GIVE_UP_MS) return 'give_up';
  }
  return 'stay';
};
