import { writeFileSync } from 'node:fs';
import { readResult } from '../box/box-report.js';
import { readOptions, UsageError } from '../options.js';
import { type NamedResult, panelsOf } from './panels.js';
import { drawChart } from './svg-chart.js';

/** `NAME=FILE`, or a file alone, which is named for whether the service itself was measured. */
const readRun = (argument: string): NamedResult => {
  const [, given, path = ''] = /^(?:([^=/]+)=)?(.*)$/.exec(argument) ?? [];
  const result = readResult(path);
  return { name: given ?? (result.options['server'] === '' ? 'Framering' : 'another server'), result };
};

/** `npm run bench -- chart`. */
export const chart = async (args: readonly string[]): Promise<number> => {
  const { options, rest } = readOptions('chart', { out: '' }, args);
  if (rest.length === 0 || options.out === '')
    throw new UsageError('chart wants files of box --json, as FILE or NAME=FILE, and --out chart.svg');
  const panels = panelsOf(rest.map(readRun));
  if (panels.length === 0) throw new UsageError('these runs have nothing to draw');
  writeFileSync(options.out, drawChart(panels));
  return 0;
};
