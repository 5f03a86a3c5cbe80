import type { BoxResult, KindFigures } from '../box/result.js';
import type { Panel, Point, Series } from './svg-chart.js';

/** A run under the name of what was measured. */
export type NamedResult = { readonly name: string; readonly result: BoxResult };

type Placed = { readonly series: string; readonly point: Point };

/** A core is busy for a thousand ms of a second. */
const CORE_PERCENT_PER_MS = 0.1;

const loadOf = ({ name, result: { options } }: NamedResult): string =>
  [name, options['record'] === true ? 'recorded' : '', String(options['pattern'])]
    .filter((part) => part !== '')
    .join(', ');

const gather = (placed: readonly Placed[]): Series[] => {
  const points = new Map<string, Point[]>();
  for (const { series, point } of placed) points.set(series, [...(points.get(series) ?? []), point]);
  return [...points].map(([name, all]) => ({ name, points: all }));
};

const cameraCpu = (run: NamedResult): Placed[] => {
  const [window] = run.result.windows;
  if (window === undefined || window.cpuMsPerSec === null) return [];
  const point = { x: Number(run.result.options['cameras']), y: window.cpuMsPerSec * CORE_PERCENT_PER_MS };
  return [{ series: loadOf(run), point }];
};

const viewerCpu = (run: NamedResult): Placed[] =>
  run.result.windows.flatMap(({ added }) => {
    const each = added === null ? undefined : run.result.viewerCpuMsPerSec[added.kind];
    if (added === null || each === undefined) return [];
    const point = { x: added.viewers, y: Math.max(0, each * added.viewers * CORE_PERCENT_PER_MS) };
    return [{ series: `${run.name}, ${added.kind}`, point }];
  });

type XOf = (run: NamedResult, figures: KindFigures) => number;

/** As a logarithm has it: nothing is below a hundredth of a ms. */
const LEAST_MS = 0.01;

/** p50, and dashed p99, of each kind of viewers in the window in which all of them are there. */
const latencies = (runs: readonly NamedResult[], xOf: XOf): Series[] => {
  const placed = (of: (figures: KindFigures) => number): Series[] =>
    gather(
      runs.flatMap((run) =>
        (run.result.windows.at(-1)?.viewers ?? []).map((figures) => ({
          series: `${run.name}, ${figures.kind}`,
          point: { x: xOf(run, figures), y: Math.max(LEAST_MS, of(figures)) },
        })),
      ),
    );
  const p99 = new Map(placed(({ latency }) => latency.p99Ms).map((series) => [series.name, series]));
  return placed(({ latency }) => latency.p50Ms).flatMap(({ name, points }) => [
    { name: `${name}, p50`, points },
    { name: `${name}, p99`, points: p99.get(name)?.points ?? [], isDashed: true },
  ]);
};

/** CPU and latency against cameras and viewers; without what no run has figures of. */
export const panelsOf = (runs: readonly NamedResult[]): Panel[] => {
  const cpu = { yTitle: '% of a core', isLog: false };
  const latency = { yTitle: 'ms', isLog: true };
  const ofCameras = { xTitle: 'cameras' };
  const ofViewers = { xTitle: 'viewers' };
  const panels: Panel[] = [
    { title: 'CPU without viewers', ...ofCameras, ...cpu, series: gather(runs.flatMap(cameraCpu)) },
    { title: 'CPU that viewers add', ...ofViewers, ...cpu, series: gather(runs.flatMap(viewerCpu)) },
    {
      title: 'Latency: last packet sent → frame at a viewer',
      ...{ ...ofCameras, ...latency },
      series: latencies(runs, ({ result }) => Number(result.options['cameras'])),
    },
    {
      title: 'Latency by the number of viewers',
      ...{ ...ofViewers, ...latency },
      series: latencies(runs, (_run, { viewers }) => viewers),
    },
  ];
  return panels.filter(({ series }) => series.length > 0);
};
