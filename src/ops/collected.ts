import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/**
 * A line of the exposition. `sharedLabels` are written once and remembered by prom-client for as long as the
 * object lives, which is what makes thousands of lines cheap.
 */
export type Line = {
  value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly metricName?: string;
};

/** What declares a metric. */
export type Declaration = {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
};

/** Whose lines are replaced as a whole at each scrape: what isn't put there again is gone. */
export interface Collected {
  lines: Line[];
}

const configOf = (register: Registry, declaration: Declaration) => ({
  name: declaration.name,
  help: declaration.help,
  labelNames: [...(declaration.labelNames ?? [])],
  registers: [register],
});

/** A gauge that shows figures kept elsewhere. */
export class CollectedGauge extends Gauge implements Collected {
  lines: Line[] = [];

  constructor(register: Registry, declaration: Declaration) {
    super(configOf(register, declaration));
  }

  override async get(): ReturnType<Gauge['get']> {
    const { lines } = this;
    return { ...(await super.get()), values: lines };
  }
}

/** A counter that shows counts kept elsewhere. */
export class CollectedCounter extends Counter implements Collected {
  lines: Line[] = [];

  constructor(register: Registry, declaration: Declaration) {
    super(configOf(register, declaration));
  }

  override async get(): ReturnType<Counter['get']> {
    const { lines } = this;
    return { ...(await super.get()), values: lines };
  }
}

/** A histogram whose buckets are counted elsewhere. */
export class CollectedHistogram extends Histogram implements Collected {
  lines: Line[] = [];
  readonly #declaration: Declaration;

  constructor(register: Registry, declaration: Declaration) {
    super(configOf(register, declaration));
    this.#declaration = declaration;
  }

  /** The registry asks a histogram by this name, which prom-client's types leave out. */
  async getForPromString() {
    const { name, help } = this.#declaration;
    return { name, help, type: 'histogram', values: this.lines, aggregator: 'sum' };
  }
}

const noLabels: Line['labels'] = {};

/** The labels of a histogram's buckets, made once. */
export const bucketLabelsOf = (bounds: readonly number[]): readonly Line['labels'][] =>
  [...bounds.map(String), '+Inf'].map((le) => ({ le }));

/** The lines of one histogram: its buckets, of which each counts those before it, too, sum and count. */
export const histogramLines = (
  metricName: string,
  bucketLabels: readonly Line['labels'][],
  { counts, sum }: { readonly counts: readonly number[]; readonly sum: number },
  sharedLabels: Line['sharedLabels'],
): Line[] => {
  let count = 0;
  const buckets = bucketLabels.map((labels, index): Line => {
    count += counts[index] ?? 0;
    return { value: count, labels, sharedLabels, metricName: `${metricName}_bucket` };
  });
  return [
    ...buckets,
    { value: sum, labels: noLabels, sharedLabels, metricName: `${metricName}_sum` },
    { value: count, labels: noLabels, sharedLabels, metricName: `${metricName}_count` },
  ];
};

/** One line with labels of its own. */
export const line = (value: number, labels: Readonly<Record<string, string>> = {}): Line => ({
  value,
  labels: noLabels,
  sharedLabels: labels,
});
