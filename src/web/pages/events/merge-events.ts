import type { KeptEvent } from '../../data/kept-event.js';

export type Merged = {
  readonly events: readonly KeptEvent[];
  /** Whether older ones were let go: they are asked for anew by who scrolls there. */
  readonly isCut: boolean;
};

/**
 * The newest ones as they are told now, before those that were known; no more than `most` are kept, however long a page
 * is open. Null: nothing of what was known is among so many new ones, and what lies between isn't known.
 */
export const withNewest = (
  known: readonly KeptEvent[],
  newest: readonly KeptEvent[],
  isWholePage: boolean,
  most: number,
): Merged | null => {
  const fresh = new Set(newest.map(({ id }) => id));
  if (isWholePage && !known.some(({ id }) => fresh.has(id))) return null;
  const oldestMs = Date.parse(newest.at(-1)?.from ?? '') || 0;
  const rest = known.filter(({ id, from }) => !fresh.has(id) && Date.parse(from) <= oldestMs);
  const events = [...newest, ...rest];
  return { events: events.slice(0, most), isCut: events.length > most };
};
