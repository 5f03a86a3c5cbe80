import { computed, signal } from '@preact/signals';

export type TileState = 'live' | 'away' | 'waiting';

const states = signal<ReadonlyMap<number, TileState>>(new Map());

/** How many tiles of the wall are live, and how many are away. */
export const wallCounts = computed(() => {
  const all = [...states.value.values()];
  const count = (state: TileState): number => all.filter((each) => each === state).length;
  return { live: count('live'), away: count('away') };
});

/** How a tile is now; null: it is gone. */
export const countTile = (slot: number, state: TileState | null): void => {
  if (states.peek().get(slot) === (state ?? undefined)) return;
  const next = new Map(states.peek());
  if (state === null) next.delete(slot);
  else next.set(slot, state);
  states.value = next;
};

export const clearCounts = (): void => {
  states.value = new Map();
};
