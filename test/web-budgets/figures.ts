/** The value below which the share of the values lies; NaN where there are none. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export const largest = (values: Iterable<number>): number => {
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) most = Math.max(most, value);
  return most;
};

export type Point = readonly [x: number, y: number];

/** By how much y grows for each x, by least squares. */
export const slopeOf = (points: readonly Point[]): number => {
  const count = points.length;
  if (count < 2) return Number.NaN;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const variance = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return variance === 0 ? Number.NaN : covariance / variance;
};

/** One line of what was measured. */
export type Row = {
  readonly what: string;
  readonly budget: string;
  readonly figure: string;
  readonly isHeld: boolean;
};

const shown = (value: number): string =>
  Number.isFinite(value)
    ? String(Math.abs(value) < 10 ? Math.round(value * 100) / 100 : Math.round(value))
    : 'never';

type Limits = { readonly p50?: number; readonly p95?: number; readonly max?: number };

/** What was taken several times, beside the most that its median, all but a twentieth, or any of it may be. */
export const spread = (what: string, unit: string, values: readonly number[], limits: Limits): Row => {
  const seen = { p50: quantile(values, 0.5), p95: quantile(values, 0.95), max: largest(values) };
  const given = Object.entries(limits) as [keyof Limits, number][];
  return {
    what,
    budget: `${given.map(([name, limit]) => `${name} ${limit}`).join(', ')} ${unit}`,
    figure:
      values.length === 0
        ? 'nothing was seen'
        : `p50 ${shown(seen.p50)}, p95 ${shown(seen.p95)}, max ${shown(seen.max)} ${unit} (${values.length})`,
    isHeld: values.length > 0 && given.every(([name, limit]) => seen[name] <= limit),
  };
};

/** A single figure that may not be over a limit. */
export const atMost = (what: string, unit: string, value: number, limit: number): Row => ({
  what,
  budget: `${limit} ${unit}`,
  figure: `${shown(value)} ${unit}`,
  isHeld: value <= limit,
});

/** What is told beside the budgets, and breaks none. */
export const noted = (what: string, figure: string): Row => ({ what, budget: '', figure, isHeld: true });

export const failed = (what: string, why: string): Row => ({ what, budget: '', figure: why, isHeld: false });

const padded = (cells: readonly string[], widths: readonly number[]): string =>
  `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;

/** As Markdown. */
export const tableOf = (rows: readonly Row[]): string => {
  const lines = rows.map(({ what, budget, figure, isHeld }) => {
    const verdict = budget === '' && isHeld ? '' : isHeld ? 'held' : 'NOT HELD';
    return [what, budget, figure, verdict];
  });
  const head = ['What', 'Budget', 'Figure', ''];
  const widths = head.map((cell, at) =>
    largest([cell, ...lines.map((line) => line[at] ?? '')].map(({ length }) => length)),
  );
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...lines].map((cells) => padded(cells, widths)).join('\n');
};
