import type { Table } from './table.js';

/** What a benchmark may be told: `--name value` on the command line; each has a default. */
export type BenchOptions = Readonly<Record<string, string | number>>;

export type BenchResult = Table & {
  /** What the reader of the table should know. */
  readonly notes?: readonly string[];
};

/** One benchmark: CPU time is its figure, wall time only where latency is asked for. */
export type Bench<Options extends BenchOptions = BenchOptions> = {
  readonly name: string;
  readonly describe: string;
  /** The options with their defaults; a given one has the default's type. */
  readonly options: Options;
  run(options: Options): Promise<BenchResult> | BenchResult;
};
