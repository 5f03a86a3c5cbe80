import { availableParallelism, cpus, totalmem } from 'node:os';

/** What a result says of the machine and of what was asked for. */
export type RunFacts = {
  readonly at: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryMb: number;
    readonly platform: string;
    readonly node: string;
  };
  readonly options: Readonly<Record<string, string | number | boolean>>;
};

export const runFacts = (options: RunFacts['options']): RunFacts => ({
  at: new Date().toISOString(),
  machine: {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryMb: Math.round(totalmem() / 1e6),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  },
  options: { ...options },
});
