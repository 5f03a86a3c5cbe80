/** One figure of a table; numbers are aligned right and rounded to what they are worth. */
export type Cell = string | number;

export type Table = { readonly columns: readonly string[]; readonly rows: readonly (readonly Cell[])[] };

const textOf = (cell: Cell): string => {
  if (typeof cell === 'string') return cell;
  const magnitude = Math.abs(cell);
  if (magnitude >= 100 || Number.isInteger(cell)) return cell.toFixed(0);
  return magnitude >= 10 ? cell.toFixed(1) : cell.toFixed(magnitude >= 0.1 ? 2 : 3);
};

/** Plain text, columns aligned. */
export const formatTable = ({ columns, rows }: Table): string => {
  const texts = rows.map((row) => row.map(textOf));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...texts.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[], row: readonly Cell[] | null): string =>
    cells
      .map((cell, index) =>
        typeof row?.[index] === 'number' ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!),
      )
      .join('  ')
      .trimEnd();
  return [
    line(columns, null),
    widths.map((width) => '-'.repeat(width)).join('  '),
    ...texts.map((row, index) => line(row, rows[index]!)),
  ].join('\n');
};

/** The value below which `share` of the sorted values lie; 0 if there are none. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** The middle value. */
export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
