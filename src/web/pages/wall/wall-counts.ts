import { computed, signal } from '@preact/signals';

export type TileState = 'live' | 'away' | 'waiting';

const states = signal<ReadonlyMap<object, TileState>>(new Map());

/** How many tiles of the wall are live, and how many are away. */
export const wallCounts = computed(() => {
  const all = [...states.value.values()];
  const count = (state: TileState): number => all.filter((each) => each === state).length;
  return { live: count('live'), away: count('away') };
});

/** How a tile is now; null: it is gone. */
export const countTile = (tile: object, state: TileState | null): void => {
  if (states.peek().get(tile) === (state ?? undefined)) return;
  const next = new Map(states.peek());
  if (state === null) next.delete(tile);
  else next.set(tile, state);
  states.value = next;
};

export const clearCounts = (): void => {
  states.value = new Map();
};
