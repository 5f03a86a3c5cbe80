/** Times of a histogram: their mean, and the least of its bounds that 99 of 100 kept; null: none of them. */
export type Spread = { readonly meanMs: number; readonly p99Ms: number | null };

const LAG = 'svc_thread_loop_lag_seconds';

type Series = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** The service's metrics as of one moment. */
export class MetricsText {
  readonly #byName = new Map<string, Series[]>();

  constructor(text: string) {
    for (const line of text.split('\n')) {
      const [, name = '', labelText = '', value] = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (value === undefined) continue;
      const labels = Object.fromEntries(
        [...labelText.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [
          label,
          text,
        ]),
      );
      const series = this.#byName.get(name) ?? [];
      series.push({ labels, value: Number(value) });
      this.#byName.set(name, series);
    }
  }

  /** Over all series of that name that have these labels. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.#of(name, labels).reduce((total, { value }) => total + value, 0);
  }

  /** By the values of one label. */
  by(name: string, label: string): ReadonlyMap<string, number> {
    return new Map(this.#of(name, {}).map(({ labels, value }) => [labels[label] ?? '', value]));
  }

  get threads(): readonly string[] {
    return [...this.by(`${LAG}_count`, 'thread').keys()];
  }

  /** What came since `before`, of threads that have one of these names; null: they say nothing. */
  loopLagSince(before: MetricsText, threads: readonly string[]): Spread | null {
    return this.#spreadSince(
      before,
      LAG,
      threads.map((thread) => ({ thread })),
    );
  }

  /** The same of a histogram without labels. */
  spreadSince(before: MetricsText, name: string): Spread | null {
    return this.#spreadSince(before, name, [{}]);
  }

  #spreadSince(
    before: MetricsText,
    histogram: string,
    among: readonly Readonly<Record<string, string>>[],
  ): Spread | null {
    const since = (name: string, labels: Readonly<Record<string, string>>): number =>
      among.reduce((total, one) => {
        const series = { ...labels, ...one };
        return total + this.sum(name, series) - before.sum(name, series);
      }, 0);
    const count = since(`${histogram}_count`, {});
    if (count <= 0) return null;
    const bounds = [...this.by(`${histogram}_bucket`, 'le').keys()];
    const bound = bounds.find((le) => since(`${histogram}_bucket`, { le }) >= count * 0.99) ?? '+Inf';
    return {
      meanMs: (since(`${histogram}_sum`, {}) * 1_000) / count,
      p99Ms: bound === '+Inf' ? null : Number(bound) * 1_000,
    };
  }

  #of(name: string, wanted: Readonly<Record<string, string>>): readonly Series[] {
    const entries = Object.entries(wanted);
    return (this.#byName.get(name) ?? []).filter(({ labels }) =>
      entries.every(([label, value]) => labels[label] === value),
    );
  }
}
