/** How a wall is divided: rows and columns, or a large tile and small ones around it. */
export const grids = ['1x1', '2x2', '3x3', '4x4', '5x5', '6x6', '1+5', '1+7'] as const;
export type Grid = (typeof grids)[number];

export type GridForm = {
  readonly columns: number;
  /** Rows and columns that the first tile takes. */
  readonly large: number;
  readonly tiles: number;
};

const forms: Readonly<Record<Grid, GridForm>> = {
  '1x1': { columns: 1, large: 1, tiles: 1 },
  '2x2': { columns: 2, large: 1, tiles: 4 },
  '3x3': { columns: 3, large: 1, tiles: 9 },
  '4x4': { columns: 4, large: 1, tiles: 16 },
  '5x5': { columns: 5, large: 1, tiles: 25 },
  '6x6': { columns: 6, large: 1, tiles: 36 },
  '1+5': { columns: 3, large: 2, tiles: 6 },
  '1+7': { columns: 4, large: 3, tiles: 8 },
};

export const formOf = (grid: Grid): GridForm => forms[grid];

export const isGrid = (text: string | null): text is Grid => grids.includes(text as Grid);

/** The smallest square that shows all of them, up to 16 at a time. */
export const suggestedGrid = (cameras: number): Grid =>
  (['1x1', '2x2', '3x3'] as const).find((grid) => forms[grid].tiles >= cameras) ?? '4x4';

export const pagesOf = (cameras: number, grid: Grid): number =>
  Math.max(1, Math.ceil(cameras / forms[grid].tiles));

/** The cameras of one page; null where a tile stays empty. A page that isn't there is the last one. */
export const slotsOf = (
  cameraIds: readonly (string | null)[],
  grid: Grid,
  page: number,
): readonly (string | null)[] => {
  const { tiles } = forms[grid];
  const at = Math.min(Math.max(1, page), pagesOf(cameraIds.length, grid)) - 1;
  return Array.from({ length: tiles }, (_, index) => cameraIds[at * tiles + index] ?? null);
};

/** Nobody arranged these tiles: rows below the last camera are left out. */
export const withoutEmptyRows = (
  slots: readonly (string | null)[],
  grid: Grid,
): readonly (string | null)[] => {
  const { columns, large } = forms[grid];
  const used = slots.findLastIndex((slot) => slot !== null) + 1;
  return large > 1 || used === 0 ? slots : slots.slice(0, Math.ceil(used / columns) * columns);
};

/** Where an arrow leads from a tile; a large one is left in one step. */
export const neighbourOf = (at: number, key: string, grid: Grid): number => {
  const { columns, tiles, large } = forms[grid];
  const place = (index: number): { row: number; column: number } => {
    let seen = -1;
    for (let cell = 0; ; cell++) {
      const [row, column] = [Math.floor(cell / columns), cell % columns];
      const isInLarge = row < large && column < large;
      if (!isInLarge || cell === 0) seen += 1;
      if (seen === index) return { row, column };
    }
  };
  const indexAt = (row: number, column: number): number => {
    if (row < large && column < large) return 0;
    for (let index = 1; index < tiles; index++) {
      const found = place(index);
      if (found.row === row && found.column === column) return index;
    }
    return at;
  };
  const { row, column } = place(at);
  const size = at === 0 ? large : 1;
  if (key === 'ArrowLeft') return column === 0 ? at : indexAt(row, column - 1);
  if (key === 'ArrowRight') return column + size >= columns ? at : indexAt(row, column + size);
  if (key === 'ArrowUp') return row === 0 ? at : indexAt(row - 1, column);
  if (key === 'ArrowDown') return indexAt(row + size, column);
  if (key === 'Home') return 0;
  return key === 'End' ? tiles - 1 : at;
};

/** The same tiles with two of them changed for each other. */
export const swapped = <Value>(tiles: readonly Value[], a: number, b: number): readonly Value[] => {
  const next = [...tiles];
  // An empty tile is null, and changes places as any other.
  if (a in tiles && b in tiles) [next[a], next[b]] = [tiles[b] as Value, tiles[a] as Value];
  return next;
};
