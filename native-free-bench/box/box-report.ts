import { readFileSync } from 'node:fs';
import { UsageError } from '../options.js';
import { type Cell, formatTable } from '../table.js';
import type { BoxResult, KindFigures, Window } from './result.js';

const orDash = (value: number | null | undefined): Cell => value ?? '-';

/** How far the cameras themselves kept up; what was left out for a slow service is no fault of theirs. */
export const keptUpPercent = ({ cameras }: Window): number =>
  Math.min(100, (cameras.frames / Math.max(1, cameras.framesDue)) * 100);
/** How many of their frames the cameras could send. */
export const sentPercent = ({ cameras }: Window): number =>
  Math.min(100, ((cameras.frames - cameras.skippedFrames) / Math.max(1, cameras.framesDue)) * 100);
/** Frames that were under way at either end make up for less. */
export const FULL_PERCENT = 98;

const windowRow = (window: Window, allCameras: number): Cell[] => [
  window.name,
  orDash(window.cpuMsPerSec),
  window.added === null ? orDash(window.cpuMsPerSec === null ? null : window.cpuMsPerSec / allCameras) : '',
  orDash(window.rssMb),
  orDash(window.pssMb),
  orDash(window.mainLag?.meanMs),
  orDash(window.workerLag?.meanMs),
  orDash(window.api?.p50Ms),
  orDash(window.api?.p99Ms),
  orDash(window.losses?.packetsLost),
  orDash(window.losses?.unrecordedFrames),
  orDash(window.losses?.drops),
  window.cameras.skippedFrames,
  window.cameras.lateFrames,
  sentPercent(window),
  window.cameras.cpuMsPerSec,
  orDash(window.machine?.busyPercent),
];

const windowColumns = [
  'window',
  'CPU ms/s',
  'a camera',
  'RSS MB',
  'PSS MB',
  'main lag',
  'workers',
  'API p50',
  'API p99',
  'lost',
  'unrecorded',
  'dropped',
  'not taken',
  'cameras late',
  '% sent',
  'cameras ms/s',
  '% busy',
];

const viewerRow = (
  { kind, viewers, latency, reload, firstPicture, ...figures }: KindFigures,
  costMs: number | undefined,
): Cell[] => [
  `${viewers} ${kind}`,
  orDash(costMs),
  latency.p50Ms,
  latency.p99Ms,
  latency.maxMs,
  reload === null ? '' : reload.p50Ms,
  reload === null ? '' : reload.p99Ms,
  firstPicture.p50Ms,
  firstPicture.maxMs,
  figures.frames,
  figures.lostFrames,
  figures.lostPackets,
  figures.cpuMsPerSec / viewers,
];

const viewerColumns = [
  'viewers',
  'CPU ms/s each',
  'p50 ms',
  'p99 ms',
  'max ms',
  'reload p50',
  'reload p99',
  'first p50',
  'first max',
  'frames',
  'lost',
  'packets lost',
  'own ms/s each',
];

const describe = ({ machine, options, allStreamingMs }: BoxResult): string =>
  `${machine.cores} x ${machine.cpu}, Node ${machine.node}; ${options['cameras']} cameras of ` +
  `${options['mbit']} Mbit/s, ${options['fps']} fps, ${options['gop']} s, ${options['codec']}, ` +
  `${options['pattern']}${options['record'] === true ? ', recorded' : ''}` +
  (allStreamingMs === null ? '' : `; all stream after ${(allStreamingMs / 1_000).toFixed(1)} s`);

/** The one figure of each row by its name; what is compared of two runs. */
const comparedFigures = (result: BoxResult): ReadonlyMap<string, number> => {
  const figures = new Map<string, number>();
  const note = (name: string, value: number | null | undefined): void => {
    if (value !== null && value !== undefined) figures.set(name, value);
  };
  note('CPU ms/s a camera', result.cpuMsPerSecPerCamera);
  note('all streaming ms', result.allStreamingMs);
  for (const [kind, cpuMs] of Object.entries(result.viewerCpuMsPerSec))
    note(`CPU ms/s a viewer, ${kind}`, cpuMs);
  for (const window of result.windows) {
    note(`CPU ms/s, ${window.name}`, window.cpuMsPerSec);
    note(`PSS MB, ${window.name}`, window.pssMb ?? window.rssMb);
    note(`API p99 ms, ${window.name}`, window.api?.p99Ms);
  }
  for (const { kind, latency } of result.windows.at(-1)?.viewers ?? []) {
    note(`p50 ms, ${kind}`, latency.p50Ms);
    note(`p99 ms, ${kind}`, latency.p99Ms);
  }
  return figures;
};

export const readResult = (path: string): BoxResult => {
  try {
    const result = JSON.parse(readFileSync(path, 'utf8')) as BoxResult;
    if (result.bench === 'box') return result;
  } catch {
    // Said below.
  }
  throw new UsageError(`${path} is no JSON of this bench`);
};

/** Two runs side by side. */
export const ratiosText = (result: BoxResult, before: BoxResult): string => {
  const earlier = comparedFigures(before);
  const rows = [...comparedFigures(result)].flatMap(([name, value]): Cell[][] => {
    const other = earlier.get(name);
    return other === undefined ? [] : [[name, other, value, other === 0 ? '-' : value / other]];
  });
  return formatTable({ columns: ['figure', 'before', 'now', 'ratio'], rows });
};

/** All that a person wants to see of a run; `against`: a file of an earlier one. */
export const printResult = (result: BoxResult, against: string): void => {
  console.log(`${describe(result)}\n`);
  const cameras = Number(result.options['cameras']);
  console.log(
    formatTable({
      columns: windowColumns,
      rows: result.windows.map((window) => windowRow(window, cameras)),
    }),
  );
  const last = result.windows.at(-1)?.viewers ?? [];
  if (last.length > 0) {
    const rows = last.map((figures) => viewerRow(figures, result.viewerCpuMsPerSec[figures.kind]));
    console.log(`\n${formatTable({ columns: viewerColumns, rows })}`);
  }
  if (result.windows.some((window) => keptUpPercent(window) < FULL_PERCENT))
    console.log(
      '\nThe cameras themselves fell behind: this machine has no time for them. What is above is of less load.',
    );
  for (const fault of result.faults) console.log(`  fault: ${fault}`);
  const lost = Object.entries(result.lost).filter(([, count]) => count > 0);
  console.log(
    lost.length === 0
      ? '\nNo frame was lost.'
      : `\nLost: ${lost.map(([who, count]) => `${who.replaceAll('_', ' ')} ${count}`).join(', ')}.`,
  );
  if (against !== '') console.log(`\nAgainst ${against}:\n${ratiosText(result, readResult(against))}`);
};
