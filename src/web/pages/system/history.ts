import { api } from '../../data/session.js';
import type { StatsHistory } from '../../data/types.js';

export type Span = 'hour' | 'day';

/** Figures at regular distances, as they were read so far. */
export type Figures = {
  readonly span: Span;
  readonly fromMs: number;
  readonly stepMs: number;
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
};

const MAX_SAMPLES = { hour: 3_600, day: 1_440 } as const;
const EVERY_MS = { hour: 5_000, day: 60_000 } as const;

const lengthOf = ({ columns }: Figures): number => Object.values(columns)[0]?.length ?? 0;

export const figuresOf = (answer: StatsHistory): Figures => ({
  span: answer.span,
  fromMs: Date.parse(answer.from),
  stepMs: answer.step_sec * 1_000,
  columns: answer.series,
});

/** What was known, followed by what came later; of samples that are in both the later answer counts. */
export const withLater = (known: Figures, later: Figures): Figures => {
  const at = Math.round((later.fromMs - known.fromMs) / known.stepMs);
  // The clock was set, or nobody asked for so long that something is missing in between.
  if (known.span !== later.span || at < 0 || at > lengthOf(known)) return later;
  const drop = Math.max(0, at + lengthOf(later) - MAX_SAMPLES[known.span]);
  const columns = Object.entries(later.columns).map(([name, values]) => [
    name,
    [...(known.columns[name] ?? []).slice(0, at), ...values].slice(drop),
  ]);
  return { ...known, fromMs: known.fromMs + drop * known.stepMs, columns: Object.fromEntries(columns) };
};

/** Reads all once, then what is new, until aborted; fails only at the first time. */
export const followHistory = async (
  span: Span,
  series: readonly string[],
  onFigures: (figures: Figures) => void,
  signal: AbortSignal,
): Promise<void> => {
  const read = async (fromMs: number | null): Promise<Figures> => {
    const wanted = new URLSearchParams({ span, series: series.join(',') });
    if (fromMs !== null) wanted.set('from', new Date(fromMs).toISOString());
    return figuresOf(await api<StatsHistory>('GET', `/api/stats/history?${wanted}`, { signal }));
  };
  let figures = await read(null);
  onFigures(figures);
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS[span]));
    if (signal.aborted || document.hidden) continue;
    const endMs = figures.fromMs + lengthOf(figures) * figures.stepMs;
    const later = await read(endMs).catch(() => null);
    if (later === null || signal.aborted) continue;
    figures = lengthOf(later) === 0 ? figures : withLater(figures, later);
    onFigures(figures);
  }
};

/** Of the samples that are known. */
export const meanOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
};

export const lastOf = (values: readonly (number | null)[]): number | null => values.at(-1) ?? null;
