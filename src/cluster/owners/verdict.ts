/** The camera as this box has it. */
export type Mine = {
  readonly box: string;
  readonly epoch: number;
  readonly isClaimed: boolean;
  readonly isReady: boolean;
  readonly heldMs: number;
};

/** The camera as another box that lives has it. */
export type Theirs = {
  readonly box: string;
  readonly epoch: number;
  readonly isClaimed: boolean;
  readonly isReady: boolean;
  /** That box hands its cameras over. */
  readonly isLeaving: boolean;
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
 * `give_up`: this box can't get it to work, and the other one does.
 */
export type Verdict = 'stay' | 'take' | 'turn' | 'drop' | 'give_up';

/** A camera that another one shows is left alone after so long. */
export const GIVE_UP_MS = 30_000;

/** Servers that lost what they had may have given an epoch twice. */
const isAbove = (a: Theirs, b: Mine): boolean => a.epoch > b.epoch || (a.epoch === b.epoch && a.box < b.box);

/**
 * What this box is to do about a camera. Nothing that is recorded ends for it before another box records it: to be recorded
 * twice is allowed, not to be is not. Of two that have it the later claim wins, of two alike the lesser name, and one that
 * hands over loses to any.
 */
export const verdictOf = ({ isWinner, isLeaving, mine, theirs }: Situation): Verdict => {
  if (mine === null) {
    if (isLeaving || !isWinner) return 'stay';
    return theirs.some((other) => !other.isLeaving) ? 'turn' : 'take';
  }
  for (const other of theirs) {
    if (other.isLeaving) continue;
    const isLater = mine.isClaimed && other.isClaimed && isAbove(other, mine);
    if ((isLeaving || isLater) && (other.isReady || !mine.isReady)) return 'drop';
    if (!mine.isReady && other.isReady && mine.heldMs >= GIVE_UP_MS) return 'give_up';
  }
  return 'stay';
};
